// Speed, measured side by side: everything in one run, in interleaved rounds, as ratios.
// BENCH_ROUNDS=5 BENCH_SECONDS=6 npm run bench
// BENCH_MINUTES=10 npm run bench: whether memory stays flat under full load for so long, no more.
import { execFileSync, spawnSync } from 'node:child_process';
import { closeSync, fdatasyncSync, openSync, rmSync, statSync, writeSync } from 'node:fs';
import { cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import { load } from './load.mjs';
import { start } from './server.mjs';
import { SUBJECTS } from './subjects.mjs';

const ROUNDS = Number(process.env.BENCH_ROUNDS ?? 5);
const SECONDS = Number(process.env.BENCH_SECONDS ?? 6);
const ONLY = process.env.BENCH_ONLY?.split(',');
const MINUTES = Number(process.env.BENCH_MINUTES ?? 0);
const CONNECTIONS = 64;

const median = (values) => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)];

function needed() {
  if (spawnSync('wrk', ['-v']).error)
    throw new Error('The load is made by wrk: apt-get install wrk');
  return Object.entries(SUBJECTS).filter(([key, { missing, name }]) => {
    if (missing) console.log(`not measured: ${name}: there is no ${missing}`);
    return !missing && (!ONLY || ONLY.includes(key));
  });
}

/** One subject, once: a moment to warm up, then the load. */
async function measure(subject) {
  const server = await start(subject);
  const { spelling } = subject;
  await load(server.port, CONNECTIONS, 2, spelling);
  const before = server.cpuUs();
  const writtenBefore = await subject.batches?.(server.port);
  const result = await load(server.port, CONNECTIONS, SECONDS, spelling);
  const cpuUs = (server.cpuUs() - before) / result.requests;
  const written = await subject.batches?.(server.port);
  const batch =
    written && (written.lines - writtenBefore.lines) / (written.batches - writtenBefore.batches);
  const peakRssMiB = server.peakRssKiB() / 1024;
  await server.stop();
  if (result.failed > 0) throw new Error(`${subject.name}: ${result.failed} requests failed`);
  return { ...result, cpuUs, peakRssMiB, batch };
}

async function throughput(subjects) {
  const results = new Map(subjects.map(([key]) => [key, []]));
  for (let round = 0; round < ROUNDS; round++) {
    // Another order each round, so that none is always the first after the disk was idle.
    for (let i = 0; i < subjects.length; i++) {
      const [key, subject] = subjects[(i + round) % subjects.length];
      results.get(key).push(await measure(subject));
    }
  }
  const of = (key, field) => median(results.get(key).map((result) => result[field]));
  console.table(
    Object.fromEntries(
      subjects.map(([key, { name }]) => [
        name,
        {
          'views/s': Math.round(of(key, 'perSecond')),
          'p50 µs': of(key, 'p50'),
          'p99 µs': of(key, 'p99'),
          'CPU µs/view': Number(of(key, 'cpuUs').toFixed(1)),
          'views/batch': Math.round(of(key, 'batch')) || '',
          'peak RSS MiB': Math.round(of(key, 'peakRssMiB')),
        },
      ]),
    ),
  );
  return results;
}

function ratios(results) {
  const ratio = (a, b) => {
    if (!results.has(a) || !results.has(b)) return undefined;
    const rounds = results
      .get(a)
      .map(({ perSecond }, i) => perSecond / results.get(b)[i].perSecond);
    return Number(median(rounds).toFixed(2));
  };
  console.table([
    { ratio: 'Node disk / nginx', median: ratio('nodeDisk', 'nginx'), target: 1 },
    { ratio: 'Node os / nginx', median: ratio('nodeOs', 'nginx'), target: 1.1 },
    { ratio: 'Node disk / bare node:http', median: ratio('nodeDisk', 'floor'), target: 0.6 },
    { ratio: 'Deno disk / nginx', median: ratio('denoDisk', 'nginx'), target: 1.25 },
    { ratio: 'Node os, another spelling / Node os', median: ratio('nodeSpaced', 'nodeOs') },
    { ratio: 'Node R3 stream / Node disk', median: ratio('nodeStream', 'nodeDisk') },
  ]);
}

/** Microseconds, the median, of one line written and synced. */
function writeAndSyncUs(bytes) {
  const path = join(process.env.BENCH_DIR ?? tmpdir(), `viewlog-bench-sync-${process.pid}`);
  const fd = openSync(path, 'a');
  const line = Buffer.alloc(bytes, 'x');
  const times = Array.from({ length: 2000 }, () => {
    const before = performance.now();
    writeSync(fd, line);
    fdatasyncSync(fd);
    return (performance.now() - before) * 1000;
  });
  closeSync(fd);
  rmSync(path);
  return median(times);
}

/** A lone client waits for its own sync, and for nothing else. */
async function loneClient() {
  const p50 = async (subject) => {
    const server = await start(subject);
    await load(server.port, 1, 1);
    const result = await load(server.port, 1, 3);
    await server.stop();
    return result.p50;
  };
  const rounds = [];
  for (let round = 0; round < 3; round++) {
    const disk = await p50(SUBJECTS.nodeDisk);
    const sync = writeAndSyncUs(560);
    const floor = await p50(SUBJECTS.floor);
    rounds.push({ disk, sync, floor, ratio: disk / (sync + floor) });
  }
  const of = (field) => Number(median(rounds.map((round) => round[field])).toFixed(2));
  console.table([
    {
      'lone client p50 µs': of('disk'),
      'write + fdatasync µs': of('sync'),
      'bare server p50 µs': of('floor'),
      ratio: of('ratio'),
      'at most': 1.5,
    },
  ]);
}

async function startTime() {
  const time = (run) => {
    const before = performance.now();
    run();
    return performance.now() - before;
  };
  const rounds = [];
  for (let round = 0; round < 7; round++) {
    const nothing = time(() => execFileSync(process.execPath, ['-e', '0']));
    const server = await start(SUBJECTS.nodeDisk);
    await server.stop();
    rounds.push({ nothing, listening: server.startMs, ratio: server.startMs / nothing });
  }
  const of = (field) => Number(median(rounds.map((round) => round[field])).toFixed(1));
  const row = {
    'listening ms': of('listening'),
    'node -e 0 ms': of('nothing'),
    ratio: of('ratio'),
  };
  console.table([{ ...row, 'at most': 2.5 }]);
}

async function idleConnections() {
  const { connect } = await import('node:net');
  const server = await start(SUBJECTS.nodeDisk);
  await load(server.port, CONNECTIONS, 2);
  await new Promise((resolve) => setTimeout(resolve, 1000));
  const before = server.rssKiB();
  const sockets = await Promise.all(
    Array.from(
      { length: 1000 },
      () =>
        new Promise((resolve) => {
          const socket = connect({ port: server.port, host: '127.0.0.1' }, () => {
            socket.write('GET /view HTTP/1.1\r\nHost: x\r\n\r\n');
          });
          socket.once('data', () => resolve(socket));
        }),
    ),
  );
  await new Promise((resolve) => setTimeout(resolve, 1000));
  const MiB = (server.rssKiB() - before) / 1024;
  for (const socket of sockets) socket.destroy();
  await server.stop();
  console.table([{ '1,000 idle connections MiB': Number(MiB.toFixed(1)), 'less than': 20 }]);
}

/** Full load for minutes: the most memory in the last one beside that in the second. */
async function flatMemory() {
  const server = await start(SUBJECTS.nodeDisk);
  const peaksMiB = [];
  const sampling = setInterval(() => {
    const minute = Math.floor((performance.now() - begunMs) / 60_000);
    peaksMiB[minute] = Math.max(peaksMiB[minute] ?? 0, server.rssKiB() / 1024);
  }, 500);
  const begunMs = performance.now();
  const { requests, failed } = await load(server.port, CONNECTIONS, MINUTES * 60);
  clearInterval(sampling);
  await server.stop();
  if (failed > 0) throw new Error(`${failed} requests failed`);
  const [second, last] = [peaksMiB[1], peaksMiB[MINUTES - 1]];
  const row = {
    minutes: MINUTES,
    views: requests,
    'RSS MiB, 2nd minute': Math.round(second),
    'RSS MiB, last minute': Math.round(last),
    ratio: Number((last / second).toFixed(2)),
  };
  console.table([{ ...row, 'at most': 1.1 }]);
}

async function everything() {
  const subjects = needed();
  const bundleKiB = statSync(join(import.meta.dirname, '../../dist/viewlog.mjs')).size / 1024;
  const results = await throughput(subjects);
  ratios(results);
  if (!ONLY) {
    await loneClient();
    await startTime();
    await idleConnections();
  }
  console.log(
    `bundle ${bundleKiB.toFixed(0)} KiB; ${ROUNDS} rounds of ${SECONDS} s, wrk -t1 -c${CONNECTIONS}, ` +
      `keep-alive, views of ${[...results.values()][0][0].viewBytes} bytes; ${cpus().length} cores of ` +
      `${cpus()[0].model}; Node ${process.version}`,
  );
}

await (MINUTES > 1 ? flatMemory() : everything());
