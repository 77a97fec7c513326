import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { Calendar } from '../../src/report/calendar.ts';
import { filesWith } from '../../src/report/read.ts';
import { Sources } from '../../src/report/sources.ts';
import { Tally, TEXTS_MAX } from '../../src/report/tally.ts';
import { tempDir } from '../support/temp-dir.ts';
import { SITE } from './report-on.ts';

describe('sources', () => {
  it.each([
    ['https://www.google.co.uk/search', 'Google'],
    ['https://news.google.com/', 'Google News'],
    ['android-app://com.google.android.gm/', 'Gmail'],
    ['https://l.facebook.com/l.php?u=x', 'Facebook'],
    ['https://T.CO/abc', 'X'],
    ['https://nott.co/', 'nott.co'],
    ['https://google.example.net/', 'google.example.net'],
    ['https://www.paper.example/a', 'paper.example'],
    ['https://www.paper.example./a', 'paper.example'],
    ['https://www.com/', 'www.com'],
    ['http://[2001:db8::1]:8080/x', '[2001:db8::1]'],
    ['http://[2001:DB8::2]', '[2001:db8::2]'],
    ['http://[fd00::1]/x', '(internal)'],
    ['https://user@www.example.com:8443/x', '(internal)'],
    ['https://example.com/', '(internal)'],
    ['https://bing.com?u=https://example.com/', 'Bing'],
    ['https://example.com@bing.com:8443#/x', 'Bing'],
    ['https://x/://example.com/', 'x'],
    ['/page?u=https://bing.com/', '(internal)'],
    ['page?u=https://bing.com/', '(not an address)'],
    ['https://a.b.example.org/', '(internal)'],
    ['https://example.org/', 'example.org'],
    ['https://notexample.com/', 'notexample.com'],
    ['https://notexample.org/', 'notexample.org'],
    ['/page', '(internal)'],
    ['//elsewhere/page', '(not an address)'],
    ['', '(none)'],
  ])('the source of the referrer %j is %s', (referrer, source) => {
    const sources = new Sources(SITE.origins);
    expect([sources.of(referrer), sources.of(referrer)]).toStrictEqual([source, source]);
  });
});

// Each local day reaches into the UTC days before and after it.
it.each([
  ['a single past day', '2026-03-05', '2026-03-05', '2026-03-09', '3456'],
  ['yesterday and today', '2026-03-05', undefined, '2026-03-06', '23456789'],
  ['all days up to a past day', undefined, '2026-03-03', '2026-03-09', '1234'],
  ['today and future days', '2026-03-04', '2026-03-07', '2026-03-04', '2345678'],
])(
  'for %s, report reads only the files that can contain the views',
  async (_, fromDay, toDay, today, read) => {
    const dir = tempDir();
    const names = Array.from({ length: 9 }, (_, i) => `views-2026-03-0${i + 1}.ndjson`);
    names[5] += '.gz';
    // A day that is being compressed is read once.
    const others = ['refused-2026-03-05.ndjson', 'views.ndjson', `${names[4]!}.gz`];
    for (const name of [...names, ...others]) {
      writeFileSync(join(dir, name), '');
    }
    const selection = { fromDay, toDay, timeZone: 'UTC', project: undefined };
    const { spans } = new Calendar(selection, new Date(`${today}T12:00:00Z`));
    const expected = names.filter((_, i) => read.includes(`${i + 1}`));
    expect((await filesWith(dir, spans, () => {})).files).toStrictEqual(
      expected.map((name) => `${dir}/${name}`),
    );
  },
);

it('a tally is exact up to its limit and keeps the frequent texts beyond it', () => {
  const tally = new Tally();
  for (let i = 0; i < TEXTS_MAX; i++) tally.add(`key ${i}`);
  for (let i = 0; i < 50; i++) tally.add('key 7');
  expect([tally.distinct, tally.isExact]).toStrictEqual([TEXTS_MAX, true]);
  for (let i = 0; i < TEXTS_MAX; i++) {
    tally.add(`rare ${i}`);
    tally.add('key 7');
  }
  expect([tally.isExact, tally.distinct <= TEXTS_MAX]).toStrictEqual([false, true]);
  const count = 1 + 50 + TEXTS_MAX;
  expect(tally.top(1)).toMatchObject([{ text: 'key 7', count, before: 0 }]);
});
