import { createServer } from 'node:http';
import { fetchFailure } from '../../src/base/exit.ts';
import { formatCount, formatRoundedSize, formatSize, plural } from '../../src/base/format.ts';
import { describe, expect, it } from 'vitest';
import { listening } from '../support/listening.ts';
import { clip, echo, nearest, printable } from '../../src/base/text.ts';

describe('untrusted text', () => {
  it('is printed with escapes for characters that a terminal would obey or hide', () => {
    expect(printable('a\u0000\u001b[31m\r\n\u007f\u0085\u202e\u2066\u200b\ufeff\u2028z')).toBe(
      String.raw`a\u0000\u001b[31m\u000d\u000a\u007f\u0085\u202e\u2066\u200b\ufeff\u2028z`,
    );
    expect(printable('\ud800!')).toBe(String.raw`\ud800!`);
    expect(printable('Å ß 日本 🎈 «x»')).toBe('Å ß 日本 🎈 «x»');
  });

  it('is cut if it is too long, never within a character', () => {
    expect(clip('x'.repeat(64), 64)).toBe('x'.repeat(64));
    expect(clip('x'.repeat(65), 64)).toBe(`${'x'.repeat(63)}…`);
    expect(clip('ab🎈cd', 4)).toBe('ab…');
    expect(printable('y'.repeat(300))).toHaveLength(200);
  });
});

it.each([
  ['nats://user:secret@host:4222', 'nats://…@host:4222'],
  ['nats://user:se@cr/et@a,nats://user:secret@b', 'nats://…@b'],
  ['user:secret@host', '…@host'],
  ['--nats://user:secret@host', '…@host'],
  ['nats://host:4222', 'nats://host:4222'],
  ['serv\u0007', String.raw`serv\u0007`],
])('a message quotes %j as %j', (typed, quoted) => {
  expect(echo(typed)).toBe(quoted);
});

const NAMES = ['orgreferer', 'ref', 'url', 'p', 'pn', 'maxViewsPerMinute'];

it.each([
  ['orgReferer', 'orgreferer'],
  ['orgreferrer', 'orgreferer'],
  ['URL', 'url'],
  ['maxViewPerMinute', 'maxViewsPerMinute'],
])('the nearest name to %s is %s', (word, name) => {
  expect(nearest(word, NAMES)).toBe(name);
});

it.each([
  ['a single letter', 'x'],
  ['a hundred letters', 'z'.repeat(100)],
])('no name is near %s', (_, word) => {
  expect(nearest(word, NAMES)).toBeUndefined();
});

it('counts and sizes are written with their unit', () => {
  const counts = [0, 1, 2000].map((count) => plural(count, 'view'));
  expect(counts.join('; ')).toBe('0 views; 1 view; 2,000 views');
  const exact = [0, 1023, 1024, 1536, 1024 ** 2, 3 * 1024 ** 4].map(formatSize);
  expect(exact.join()).toBe('0 bytes,1023 bytes,1 KiB,1536 bytes,1 MiB,3 TiB');
  const rounded = [87, 1536, 12.4 * 1024 ** 2].map(formatRoundedSize);
  expect(rounded.join()).toBe('87 bytes,1.5 KiB,12 MiB');
});

it('the reason for a failed request says that the port speaks http, not https', async () => {
  const port = await listening(createServer());
  const error: unknown = await fetch(`https://127.0.0.1:${port}/`).catch((e: unknown) => e);
  expect(fetchFailure(error)).toBe('the server speaks http, not https');
});

it.each([0, 7, 999, 1_000, 12_345, 123_456, 1_234_567, -1_000, Number.MAX_SAFE_INTEGER])(
  'formatCount separates the thousands of %i',
  (count) => {
    expect(formatCount(count)).toBe(count.toLocaleString('en'));
  },
);
