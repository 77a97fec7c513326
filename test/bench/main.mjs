// Speed, measured side by side: everything in one run, in interleaved rounds, as ratios.
// BENCH_ROUNDS=5 BENCH_SECONDS=6 npm run bench
// BENCH_ONLY=nodeDisk,nginx: of the subjects these, under full load. With names of tables, those
//   tables: BENCH_ONLY=nodeDisk,paced.
// BENCH_BASE=path/to/another/viewlog.mjs: that build too, in pairs.
// BENCH_MINUTES=10: whether memory stays flat under full load for so long, no more.
import { spawnSync } from 'node:child_process';
import { statSync } from 'node:fs';
import { cpus } from 'node:os';
import { CONNECTIONS } from './load.mjs';
import { loneClient } from './lone-client.mjs';
import { flatMemory, idleConnections } from './memory.mjs';
import { paced } from './paced.mjs';
import { requestTo } from './request.mjs';
import { ROUNDS, SECONDS } from './rounds.mjs';
import { spelling } from './spelling.mjs';
import { startTime } from './start-time.mjs';
import { PACED, SUBJECTS } from './subjects.mjs';
import { throughput } from './throughput.mjs';
import { BUNDLE } from './viewlog.mjs';

const MINUTES = Number(process.env.BENCH_MINUTES ?? 0);
const ONLY = process.env.BENCH_ONLY?.split(',') ?? [];

/** Each prints a table and gives the rows of what is asked. */
const TABLES = {
  full: throughput,
  spelling,
  paced: (keys) => paced(keys.filter((key) => PACED.test(key))),
  lone: loneClient,
  start: startTime,
  idle: idleConnections,
};

/** Keys of the subjects to measure: those that are here, and that were asked for. */
function subjects() {
  const only = ONLY.filter((name) => name in SUBJECTS);
  return Object.keys(SUBJECTS).filter((key) => {
    const { missing, name } = SUBJECTS[key];
    const isWanted =
      only.length === 0 || only.includes(key) || only.includes(key.replace(/Base$/, ''));
    if (missing && isWanted) console.log(`not measured: ${name}: there is no ${missing}`);
    return isWanted && !missing;
  });
}

function tables() {
  const only = ONLY.filter((name) => name in TABLES);
  if (only.length > 0) return only;
  return ONLY.length > 0 ? ['full'] : Object.keys(TABLES);
}

async function everything() {
  const keys = subjects();
  const figures = [];
  for (const table of tables()) figures.push(...(await TABLES[table](keys)));
  console.log('What is asked: medians of the rounds');
  console.table(figures.filter((row) => row.median !== ''));
  const KiB = (statSync(BUNDLE).size / 1024).toFixed(0);
  const { bytes, bodyBytes } = requestTo({});
  console.log(
    `bundle ${KiB} KiB; ${ROUNDS} rounds of ${SECONDS} s, wrk -t1 -c${CONNECTIONS}, keep-alive, ` +
      `views of ${bodyBytes} bytes in requests of ${bytes.length}; ${cpus().length} cores of ` +
      `${cpus()[0].model}; Node ${process.version}`,
  );
}

const unknown = ONLY.filter((name) => !(name in SUBJECTS) && !(name in TABLES));
if (unknown.length > 0) {
  const known = [...Object.keys(SUBJECTS), ...Object.keys(TABLES)].join(', ');
  throw new Error(`BENCH_ONLY: there is no ${unknown.join(', ')}; there are ${known}`);
}
if (spawnSync('wrk', ['-v']).error) throw new Error('The load is made by wrk: apt-get install wrk');
if (MINUTES > 1) console.table(await flatMemory(MINUTES));
else await everything();
