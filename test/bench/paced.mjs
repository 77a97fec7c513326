// A few views a second, as on the sites of most operators: what one costs, and how long it takes.
import { load } from './load.mjs';
import { pacedLoad } from './paced-load.mjs';
import { inRounds, median, quantile, rounded, SECONDS, WARM_UP_SECONDS } from './rounds.mjs';
import { start } from './server.mjs';
import { SUBJECTS } from './subjects.mjs';
import { atMost } from './target.mjs';
import { writeAndSync } from './write-and-sync.mjs';

const RATES = [10, 1_000, 10_000];
const SYNC = 'write and fdatasync';

/** One subject, once: warm, then at each rate in turn. */
async function atEachRate(subject) {
  const server = await start(subject);
  await load(server, WARM_UP_SECONDS);
  const rates = [];
  for (const rate of RATES) {
    const before = server.cpu();
    const result = await pacedLoad(server, rate, SECONDS);
    const cpuUs = server.cpuUsSince(before) / (result.latenciesUs.length - result.unanswered);
    rates.push({ ...result, cpuUs });
  }
  await server.stop();
  return rates;
}

export async function paced(keys) {
  const results = await inRounds([...keys, SYNC], (key) =>
    key === SYNC ? writeAndSync() : atEachRate(SUBJECTS[key]),
  );
  const disk = results.get(SYNC);
  const ofDisk = (field) => rounded(median(disk.map((round) => round[field])));
  console.log('Paced: an open loop, latency from when a view was due; quantiles of all rounds');
  console.table([
    ...RATES.flatMap((rate, i) =>
      keys.map((key) =>
        row(
          key,
          rate,
          results.get(key).map((rates) => rates[i]),
        ),
      ),
    ),
    { subject: SYNC, 'p50 µs': ofDisk('p50'), 'p99 µs': ofDisk('p99'), 'p99.9 µs': ofDisk('p999') },
  ]);
  return targets(results);
}

function row(key, rate, rounds) {
  const latencies = rounds.flatMap(({ latenciesUs }) => latenciesUs);
  const late = rounds.flatMap(({ lateUs }) => lateUs);
  return {
    subject: SUBJECTS[key].name,
    'views/s': rate,
    'CPU µs/view': rounded(median(rounds.map(({ cpuUs }) => cpuUs)), 1),
    'p50 µs': rounded(quantile(latencies, 0.5)),
    'p99 µs': rounded(quantile(latencies, 0.99)),
    'p99.9 µs': rounded(quantile(latencies, 0.999)),
    'sent late p99 µs': rounded(quantile(late, 0.99)),
    unanswered: rounds.reduce((total, { unanswered }) => total + unanswered, 0) || '',
  };
}

function targets(results) {
  const slow = (results.get('nodeDisk') ?? []).map((rates) =>
    quantile(rates[RATES.indexOf(1_000)].latenciesUs, 0.99),
  );
  const by = (field) => slow.map((p99, round) => p99 / results.get(SYNC)[round][field]);
  return [
    atMost(3, 'Node disk at 1,000/s: p99 / p50 of write and sync', by('p50')),
    atMost(3, 'Node disk at 1,000/s: p99 / p99 of write and sync', by('p99')),
  ];
}
