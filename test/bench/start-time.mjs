// From the start to the first connection taken.
import { execFileSync } from 'node:child_process';
import { inRounds, median, rounded } from './rounds.mjs';
import { start } from './server.mjs';
import { SUBJECTS } from './subjects.mjs';
import { atMost } from './target.mjs';

function nothing() {
  const before = performance.now();
  execFileSync(process.execPath, ['-e', '0']);
  return performance.now() - before;
}

async function listening() {
  const server = await start(SUBJECTS.nodeDisk);
  await server.stop();
  return server.startMs;
}

export async function startTime() {
  const starts = { listening, nothing };
  const results = await inRounds(Object.keys(starts), (key) => starts[key](), 7);
  const [started, empty] = [...results.values()];
  console.log('A start');
  console.table([
    { 'listening ms': rounded(median(started), 1), 'node -e 0 ms': rounded(median(empty), 1) },
  ]);
  return [
    atMost(
      2,
      'start / node -e 0',
      started.map((ms, round) => ms / empty[round]),
    ),
  ];
}
