// A lone client waits for its own sync, and for nothing else.
import { load } from './load.mjs';
import { inRounds, median, rounded, SECONDS } from './rounds.mjs';
import { start } from './server.mjs';
import { SUBJECTS } from './subjects.mjs';
import { atMost } from './target.mjs';
import { writeAndSync } from './write-and-sync.mjs';

const RUN_SECONDS = Math.min(3, SECONDS);

async function p50(subject) {
  const server = await start(subject);
  await load(server, 1, 1);
  const result = await load(server, RUN_SECONDS, 1);
  await server.stop();
  return result.p50;
}

export async function loneClient() {
  const results = await inRounds(['nodeDisk', 'sync', 'nodeBare'], (key) =>
    key === 'sync' ? writeAndSync() : p50(SUBJECTS[key]),
  );
  const [disk, sync, bare] = [...results.values()];
  const us = (values) => rounded(median(values));
  console.log('A lone client');
  console.table([
    {
      'lone client p50 µs': us(disk),
      'write + fdatasync p50 µs': us(sync.map((round) => round.p50)),
      'its p99 µs': us(sync.map((round) => round.p99)),
      'bare server p50 µs': us(bare),
    },
  ]);
  const values = disk.map((view, round) => view / (sync[round].p50 + bare[round]));
  return [atMost(1.4, 'lone client / (write and sync + bare server): p50', values)];
}
