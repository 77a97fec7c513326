// Speed, measured side by side in one run: full load over keep-alive connections, in interleaved
// rounds.
//   BENCH_ROUNDS=5 BENCH_SECONDS=6 npm run bench
//   BENCH_ONLY=nodeDisk,nginx                measures only these subjects
//   BENCH_BASE=path/to/another/viewlog.mjs   compares that build with this one, in pairs
import { spawnSync } from 'node:child_process';
import { existsSync, statSync } from 'node:fs';
import { cpus } from 'node:os';
import { CONNECTIONS, load } from './load.mjs';
import { BODY_BYTES, REQUEST } from './request.mjs';
import { start } from './server.mjs';
import { BUNDLE, SUBJECTS } from './subjects.mjs';

const ROUNDS = Number(process.env.BENCH_ROUNDS ?? 5);
const SECONDS = Number(process.env.BENCH_SECONDS ?? 6);
const WARM_UP_SECONDS = Math.min(2, SECONDS);
const ONLY = process.env.BENCH_ONLY?.split(',') ?? Object.keys(SUBJECTS);

const median = (values) => values.toSorted((a, b) => a - b)[values.length >> 1];

/** Rounds a number for a table. */
const rounded = (value, digits = 0) => Number(value.toFixed(digits));

/**
 * Runs each subject once per round. Every two rounds, the order starts at the next subject; the
 * second of the two rounds reverses it. So no subject is always first, and any two neighbours
 * take turns at coming first.
 * @returns the results of all rounds, by the subject's key.
 */
async function inRounds(keys, run) {
  const results = new Map(keys.map((key) => [key, []]));
  for (let round = 0; round < ROUNDS; round++) {
    const from = (round >> 1) % keys.length;
    const order = [...keys.slice(from), ...keys.slice(0, from)];
    if (round % 2 === 1) order.reverse();
    for (const key of order) results.get(key).push(await run(key));
  }
  return results;
}

/** Returns the keys of the chosen subjects whose programs are on this machine. */
function wanted() {
  const unknown = ONLY.filter((key) => !(key in SUBJECTS));
  if (unknown.length > 0) {
    throw new Error(`BENCH_ONLY: ${unknown.join(', ')}; use ${Object.keys(SUBJECTS).join(', ')}`);
  }
  return Object.keys(SUBJECTS).filter((key) => {
    if (!ONLY.includes(key.replace(/Base$/, ''))) return false;
    const { name, program } = SUBJECTS[key];
    if (existsSync(program)) return true;
    console.log(`not measured: ${name}: there is no ${program}`);
    return false;
  });
}

/** Starts a subject, warms it up and loads it. */
async function measure(subject) {
  const server = await start(subject);
  await load(server, WARM_UP_SECONDS);
  const beforeUs = server.cpuUs();
  const result = await load(server, SECONDS);
  const cpuUs = (server.cpuUs() - beforeUs) / result.requests;
  const peakRssMiB = server.peakRssMiB();
  await server.stop();
  return { ...result, cpuUs, peakRssMiB, startMs: server.startMs };
}

function row(rounds) {
  const of = (field) => median(rounds.map((result) => result[field]));
  return {
    'views/s': rounded(of('perSecond')),
    'p50 µs': of('p50'),
    'p99 µs': of('p99'),
    'CPU µs/view': rounded(of('cpuUs'), 1),
    'peak RSS MiB': rounded(of('peakRssMiB')),
    'start ms': rounded(of('startMs')),
  };
}

/** Returns medians of this build's figures divided by the other build's, round by round. */
function pair(results, key) {
  const others = results.get(`${key}Base`);
  const by = (field) => results.get(key).map((result, i) => result[field] / others[i][field]);
  return {
    'views/s': rounded(median(by('perSecond')), 3),
    'its rounds': by('perSecond')
      .map((value) => value.toFixed(2))
      .join(' '),
    p99: rounded(median(by('p99')), 2),
    CPU: rounded(median(by('cpuUs')), 3),
    'peak RSS': rounded(median(by('peakRssMiB')), 2),
    start: rounded(median(by('startMs')), 2),
  };
}

const printTable = (keys, rowOf) =>
  console.table(Object.fromEntries(keys.map((key) => [SUBJECTS[key].name, rowOf(key)])));

if (spawnSync('wrk', ['-v']).error) throw new Error('wrk makes the load: apt-get install wrk');
const keys = wanted();
const results = await inRounds(keys, (key) => measure(SUBJECTS[key]));
printTable(keys, (key) => row(results.get(key)));
const paired = keys.filter((key) => results.has(`${key}Base`));
if (paired.length > 0) {
  console.log('This build / the other build');
  printTable(paired, (key) => pair(results, key));
}
console.log(
  `bundle ${(statSync(BUNDLE).size / 1024).toFixed(0)} KiB; ${ROUNDS} rounds of ${SECONDS} s, ` +
    `wrk -t1 -c${CONNECTIONS}, keep-alive, views of ${BODY_BYTES} bytes in requests of ` +
    `${REQUEST.length}; ${cpus().length} cores of ${cpus()[0].model}; Node ${process.version}`,
);
