// Attackers in a separate process, so that they slow down only the server. Its arguments are PORT
// CLIENTS WAY…: it keeps CLIENTS connections busy in each way and replaces each connection that
// the server ends.
import { connect } from 'node:net';
import { sleep } from '../../src/base/time.ts';
import { type Way, WAYS } from './attacker.ts';

const [port, clients, ...ways] = process.argv.slice(2);

async function attack(way: Way): Promise<never> {
  for (;;) {
    const socket = connect({ port: Number(port), host: '127.0.0.1', allowHalfOpen: true });
    const closed = new Promise<void>((resolve) => void socket.on('close', () => resolve()));
    socket.on('error', () => {});
    socket.on('end', () => socket.destroy());
    await way({
      socket,
      isOver: () => socket.destroyed,
      rest: (ms) => Promise.race([closed, sleep(ms)]),
      write: (text) =>
        Promise.race([
          closed,
          new Promise<void>((resolve) => void socket.write(text, () => resolve())),
        ]),
    });
    socket.destroy();
    await closed;
    // Otherwise a client that is refused immediately would connect a thousand times per second.
    await sleep(5);
  }
}

for (const way of ways) {
  for (let i = 0; i < Number(clients); i++) void attack(WAYS[way]!);
}
console.log(`attacking: ${ways.join('; ')}`);
