// Full load over kept connections, every subject side by side.
import { load } from './load.mjs';
import { inRounds, median, ratios, rounded, SECONDS, WARM_UP_SECONDS } from './rounds.mjs';
import { start } from './server.mjs';
import { SUBJECTS } from './subjects.mjs';
import { atLeast, atMost, shown } from './target.mjs';

/** One subject, once: a moment to warm up, then the load. */
export async function measure(subject) {
  const server = await start(subject);
  await load(server, WARM_UP_SECONDS);
  const before = server.cpu();
  const writtenBefore = await subject.batches?.(server.port);
  const result = await load(server, SECONDS);
  const cpuUs = server.cpuUsSince(before) / result.requests;
  const written = await subject.batches?.(server.port);
  const batch =
    written && (written.lines - writtenBefore.lines) / (written.batches - writtenBefore.batches);
  const peakRssMiB = server.peakRssMiB();
  await server.stop();
  return { ...result, cpuUs, peakRssMiB, batch };
}

export async function throughput(keys) {
  const results = await inRounds(keys, (key) => measure(SUBJECTS[key]));
  console.log('Full load');
  console.table(Object.fromEntries(keys.map((key) => [SUBJECTS[key].name, row(results.get(key))])));
  pairs(results);
  return targets(results);
}

export function row(rounds) {
  const of = (field) => median(rounds.map((result) => result[field]));
  return {
    'views/s': rounded(of('perSecond')),
    'p50 µs': of('p50'),
    'p99 µs': of('p99'),
    'CPU µs/view': rounded(of('cpuUs'), 1),
    'views/batch': rounded(of('batch')),
    'peak RSS MiB': rounded(of('peakRssMiB')),
  };
}

/** This build by the other one, round by round. */
function pairs(results) {
  const keys = [...results.keys()].filter((key) => results.has(`${key}Base`));
  if (keys.length === 0) return;
  const each = (values) => values.map((value) => value.toFixed(2)).join(' ');
  const rows = keys.map((key) => {
    const speed = ratios(results, key, `${key}Base`, 'perSecond');
    const cpu = ratios(results, key, `${key}Base`, 'cpuUs');
    return {
      subject: SUBJECTS[key].name,
      'views/s': rounded(median(speed), 3),
      'its rounds': each(speed),
      'CPU µs/view': rounded(median(cpu), 3),
      'its rounds ': each(cpu),
    };
  });
  console.log('This build / the other build');
  console.table(rows);
}

function targets(results) {
  const speed = (a, b) => ratios(results, a, b, 'perSecond');
  const peak = (key) => (results.get(key) ?? []).map(({ peakRssMiB }) => peakRssMiB);
  return [
    atLeast(1, 'Node disk / nginx', speed('nodeDisk', 'nginx')),
    atLeast(1.2, 'Node os / nginx', speed('nodeOs', 'nginx')),
    atLeast(0.6, 'Node disk / bare node:http', speed('nodeDisk', 'nodeBare')),
    shown('Node os / bare node:http', speed('nodeOs', 'nodeBare')),
    atLeast(0.5, 'Deno disk / bare Deno.serve', speed('denoDisk', 'denoBare')),
    atLeast(1.05, 'Deno disk / nginx', speed('denoDisk', 'nginx')),
    atLeast(0.6, 'Bun disk / bare Bun.serve', speed('bunDisk', 'bunBare')),
    atLeast(1.25, 'Node disk / Fluent Bit', speed('nodeDisk', 'fluentBit')),
    shown('Node disk / Vector', speed('nodeDisk', 'vector')),
    shown('Node disk / GoatCounter', speed('nodeDisk', 'goatcounter')),
    atMost(1.5, 'Node disk / nginx: p99', ratios(results, 'nodeDisk', 'nginx', 'p99')),
    atMost(1.4, 'Node R3 stream / disk: CPU', ratios(results, 'nodeStream', 'nodeDisk', 'cpuUs')),
    atMost(100, 'Node disk: peak RSS, MiB', peak('nodeDisk')),
    atMost(130, 'Deno disk: peak RSS, MiB', peak('denoDisk')),
  ];
}
