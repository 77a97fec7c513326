import { expect, it } from 'vitest';
import { readView } from '../../src/view/read-view.ts';
import { FULL_VIEW } from '../support/views.ts';

const many = (length: number, make: (i: number) => string): string => {
  const parts: string[] = [];
  for (let bytes = 0; bytes < length; bytes += parts.at(-1)!.length + 1) {
    parts.push(make(parts.length));
  }
  return parts.join();
};
const nested = (open: string, close: string, length: number): string => {
  const levels = Math.floor(length / (open.length + close.length));
  return open.repeat(levels) + close.repeat(levels);
};
const LAST = JSON.stringify(FULL_VIEW).slice(0, -1);
const cf = (json: string): string => `${LAST.replace('"cf":[]', `"cf":${json}`)}}`;
const pn = (text: string): string => `${LAST.replace('Home', text)}}`;
const inMp = (items: string): string => `${LAST.replace('"page-41"', items)}}`;

const BYTES = 16 * 1024;
const UNKNOWN = many(BYTES, (i) => `"k${i}":1`);
const ONE_FAULT = `${LAST},"zz":{${UNKNOWN}}}`;
const times = (text: string) => (): void => {
  for (let i = 0; i < 30; i++) readView(text);
};

it.each<[string, string]>([
  ['many unknown fields', `${LAST},${UNKNOWN}}`],
  ['many misspelt fields', `${LAST},${many(BYTES, (i) => `"hc${i.toString(36)}":1`)}}`],
  ['many wrong items', inMp(many(BYTES, String))],
  ['many duplicate keys', `${LAST},${many(BYTES, () => '"hc":1')}}`],
  ['deeply nested lists', cf(nested('[', ']', BYTES))],
  ['deeply nested objects', `${LAST},"zz":${nested('{"a":', '}', BYTES)}}`],
  ['many lists that are never closed', cf('['.repeat(BYTES))],
  ['many objects in a list', cf(`[${many(BYTES, () => '{}')}]`)],
  ['many escapes', pn('\\n'.repeat(BYTES / 2))],
  ['many lone surrogates', pn('\\ud800'.repeat(BYTES / 6))],
  ['many line separators', pn('\u2028'.repeat(BYTES))],
  ['a long unterminated string', LAST.replace('Home', 'x'.repeat(BYTES))],
  ['many syntax errors', `[${many(BYTES, () => '{"a":1,}')}]`],
  ['many newlines', `${'\n'.repeat(BYTES)},`],
])(
  'a body with %s takes at most ten times the CPU time of an equally long body with one error',
  (_, full) => {
    expect(cpuRatio(times(full), times(ONE_FAULT))).toBeLessThan(10);
  },
);

/**
 * Returns the CPU time of `work` divided by that of `other`: the lowest ratio of up to five tries,
 * because other programs can only increase the time.
 */
function cpuRatio(work: () => void, other: () => void): number {
  other();
  let least = Infinity;
  for (let tries = 0; tries < 5 && least >= 10; tries++) {
    const otherCpu = cpuOf(other);
    least = Math.min(least, cpuOf(work) / otherCpu);
  }
  return least;
}

function cpuOf(work: () => void): number {
  const before = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(before);
  return user + system;
}
