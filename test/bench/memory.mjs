// What connections that do nothing cost, and whether memory stays flat.
import { once } from 'node:events';
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { load } from './load.mjs';
import { WARM_UP_SECONDS } from './rounds.mjs';
import { start } from './server.mjs';
import { SUBJECTS } from './subjects.mjs';
import { atMost } from './target.mjs';

export async function idleConnections() {
  const server = await start(SUBJECTS.nodeDisk);
  await load(server, WARM_UP_SECONDS);
  await sleep(1000);
  const before = server.rssMiB();
  const sockets = await Promise.all(
    Array.from({ length: 1000 }, async () => {
      const socket = connect({ port: server.port, host: '127.0.0.1' });
      socket.write('GET /view HTTP/1.1\r\nHost: x\r\n\r\n');
      await once(socket, 'data');
      return socket;
    }),
  );
  await sleep(1000);
  const MiB = server.rssMiB() - before;
  for (const socket of sockets) socket.destroy();
  await server.stop();
  return [atMost(20, '1,000 idle connections, MiB', [MiB])];
}

/** Full load for minutes: the most memory in the last one beside that in the second. */
export async function flatMemory(minutes) {
  const server = await start(SUBJECTS.nodeDisk);
  const peaksMiB = [];
  const sampling = setInterval(() => {
    const minute = Math.floor((performance.now() - begunMs) / 60_000);
    peaksMiB[minute] = Math.max(peaksMiB[minute] ?? 0, server.rssMiB());
  }, 500);
  const begunMs = performance.now();
  const { requests } = await load(server, minutes * 60);
  clearInterval(sampling);
  await server.stop();
  const [second, last] = [peaksMiB[1], peaksMiB[minutes - 1]];
  const row = {
    minutes,
    views: requests,
    'RSS MiB, 2nd minute': Math.round(second),
    'RSS MiB, last minute': Math.round(last),
  };
  console.table([row]);
  return [atMost(1.1, 'memory, last minute / 2nd', [last / second])];
}
