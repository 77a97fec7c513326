import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { localHours } from '../../src/report/local-hour.ts';
import { Tally } from '../../src/report/ranking.ts';
import { Totals } from '../../src/report/totals.ts';
import { BUN, DENO, isPresent, NODE } from '../support/runtimes.ts';
import { storedLines } from '../support/stored-lines.ts';
import { ACCEPTED, FULL_VIEW, MINIMAL_VIEW } from '../support/views.ts';
import { dataDirectory, run, startViewlog, type RunOptions } from '../support/viewlog.ts';

const DAY = '2026-03-01';
const text = (lines: readonly string[]): string => lines.map((line) => `${line}\n`).join('');

/** A line of the hour `HH` of `DAY`, or of another day. */
const at = (time: string, change: object = {}): string =>
  storedLines(DAY, 1, change)[0]!.replace(`${DAY}T00:00:00.000Z`, time);

interface Json {
  timeZone: string;
  views: number;
  invalidLines: number;
  days: { day: string; views: number; hours: number[] }[];
  [list: string]: unknown;
}

async function json(files: Record<string, string | Buffer>, args: string[] = [], options = {}) {
  const data = dataDirectory();
  for (const [name, content] of Object.entries(files)) writeFileSync(join(data, name), content);
  const all: RunOptions = { data, ...options };
  const { code, stdout, stderr } = await run(['report', '--json', ...args], all);
  expect([code, stderr]).toStrictEqual([0, '']);
  return JSON.parse(stdout) as Json;
}

const NAME = `views-${DAY}.ndjson`;
const topOf = (report: Json, list: string): unknown =>
  (report[list] as { top: { key: unknown; count: number }[] }).top.map(({ key, count }) => [
    key,
    count,
  ]);

describe('report', () => {
  it('adds up every view that the collector took, whatever is in it', async () => {
    const viewlog = await startViewlog();
    for (const [, change] of ACCEPTED) await viewlog.post({ ...FULL_VIEW, ...change });
    await viewlog.post(MINIMAL_VIEW);
    await viewlog.post({ ...MINIMAL_VIEW, p: '9' });
    const taken = viewlog.lines().length;
    await viewlog.signal('SIGTERM');
    const { stdout } = await run(['report', '--json', '--query', '--top', '99'], {
      data: viewlog.data,
    });
    const report = JSON.parse(stdout) as Json;
    expect([report.views, report.invalidLines]).toStrictEqual([taken, 0]);
    expect(topOf(report, 'projects')).toStrictEqual([['1000001', taken]]);
    expect(topOf(report, 'languages')).toContainEqual(['ca-ES-valencia', 1]);
    expect(topOf(report, 'languages')).toContainEqual(['(none)', 1]);
    const page = { project: '1000001', url: '/å?ä=ö#\u0000 "quoted"', name: FULL_VIEW.pn };
    expect(topOf(report, 'pages')).toContainEqual([page, 1]);
    const refused = ACCEPTED.length + 2 - taken;
    expect(report['refused']).toMatchObject({ views: refused });
    expect(topOf(report, 'refused')).toContainEqual([
      { code: 'project-not-activated', project: '9' },
      1,
    ]);
  });

  it('counts days and hours of the time zone, through its changes', async () => {
    const views = [
      at('2026-03-28T22:59:59.999Z'), // 23:59 in Oslo
      at('2026-03-28T23:00:00.000Z'), // the next day
      at('2026-03-29T00:59:00.000Z'), // 01:59, the last minute of winter time
      at('2026-03-29T01:00:00.000Z'), // 03:00
      at('2026-03-31T21:59:00.000Z'),
    ];
    const report = await json({ [NAME]: text(views) }, ['--time-zone', 'europe/oslo']);
    expect(report.timeZone).toBe('Europe/Oslo');
    expect(report.days.map(({ day, views }) => [day, views])).toStrictEqual([
      ['2026-03-28', 1],
      ['2026-03-29', 3],
      ['2026-03-30', 0],
      ['2026-03-31', 1],
    ]);
    const { hours } = report.days[1]!;
    expect([hours[0], hours[1], hours[2], hours[3]]).toStrictEqual([1, 1, 0, 1]);
    expect(report.days[3]!.hours[23]).toBe(1);
  });

  it('takes the days and the project asked for, from the files that can hold them', async () => {
    const files = {
      'views-2026-02-27.ndjson': 'never read\n',
      'views-2026-02-28.ndjson': text([
        at('2026-02-28T22:00:00.000Z'),
        at('2026-02-28T23:00:00.000Z'), // 1 March in Oslo
      ]),
      [NAME]: text([
        at(`${DAY}T12:00:00.000Z`),
        at(`${DAY}T13:00:00.000Z`, { p: '2' }),
        at(`${DAY}T23:00:00.000Z`),
      ]),
      'views-2026-03-02.ndjson': text([at('2026-03-02T22:59:59.000Z')]),
      'views-2026-03-04.ndjson': 'never read\n',
    };
    const oslo = ['--time-zone', 'Europe/Oslo'];
    const one = await json(files, [...oslo, '--from', DAY, '--to', DAY, '--project', '1000001']);
    expect([one.views, one.invalidLines]).toStrictEqual([2, 0]);
    const two = await json(files, [...oslo, '--from', DAY, '--to', '2026-03-02']);
    expect([two.views, two.invalidLines]).toStrictEqual([5, 0]);
    expect((await json(files, oslo)).invalidLines).toBe(2);
  });

  it('ranks pages with their names, hosts of referrers, languages and templates', async () => {
    const views = [
      ...storedLines(DAY, 3, { url: '/b', pn: 'B', orgreferer: 'https://A.example:8443/x' }),
      ...storedLines(DAY, 2, { url: '/a', pn: 'Å', orgreferer: '', ref: 'http://u@b.example' }),
      ...storedLines(DAY, 1, { url: '/a', pn: 'Å', orgreferer: '', p: '2', ubl: 'en' }),
      ...storedLines(DAY, 1, { url: '/a', orgreferer: 'x', content: undefined, pn: undefined }),
    ];
    const report = await json({ [NAME]: text(views) }, ['--top', '2']);
    const [first, second] = topOf(report, 'pages') as [object, object];
    expect(first).toStrictEqual([{ project: '1000001', url: '/b', name: 'B' }, 3]);
    expect(second).toStrictEqual([{ project: '1000001', url: '/a', name: 'Å' }, 3]);
    expect(topOf(report, 'referrers')).toStrictEqual([
      ['a.example', 3],
      ['b.example', 2],
    ]);
    expect(report['referrers']).toMatchObject({ distinct: 4, isExact: true });
    expect(topOf(report, 'languages')).toStrictEqual([
      ['nb-NO', 6],
      ['en', 1],
    ]);
    expect(topOf(report, 'templates')).toStrictEqual([
      ['template-7', 6],
      ['(none)', 1],
    ]);
  });

  it('skips invalid lines and counts them, not the one being written', async () => {
    const whole = storedLines(DAY, 1)[0]!;
    const lines = ['', 'x', '[]', '{"ts":1}', whole.slice(0, 90), whole.replace(DAY, '2026-99-01')];
    const content = Buffer.from(`${text([...lines, whole, 'X'])}${whole}`);
    content[content.indexOf('X')] = 0xff;
    const report = await json({ [NAME]: content });
    expect([report.views, report.invalidLines]).toStrictEqual([1, 7]);
  });

  it('reads packed files, and one that is packed and not yet removed once', async () => {
    const lines = storedLines(DAY, 5);
    const packed = gzipSync(text(lines));
    const old = 'views-2026-02-28.ndjson.gz';
    const report = await json({ [NAME]: text(lines), [`${NAME}.gz`]: packed, [old]: packed });
    expect(report.views).toBe(10);
  });

  it.each([NODE, DENO, BUN].filter(isPresent))(
    'counts of a packed file that breaks off what it could read, and says so, on $name',
    async (runtime) => {
      const data = dataDirectory();
      const packed = gzipSync(text(storedLines(DAY, 2000)));
      writeFileSync(join(data, `${NAME}.gz`), packed.subarray(0, packed.length - 4000));
      writeFileSync(join(data, 'views-2026-03-02.ndjson.gz'), 'never packed');
      writeFileSync(join(data, 'views-2026-03-03.ndjson'), text(storedLines('2026-03-03', 5)));
      const { code, stdout, stderr } = await run(['report', '--json'], { data, runtime });
      const report = JSON.parse(stdout) as Json;
      expect([code, report['brokenFiles'], report.invalidLines]).toStrictEqual([0, 2, 0]);
      expect(report.days.at(-1)).toMatchObject({ day: '2026-03-03', views: 5 });
      expect(report.views).toBeLessThan(2000);
      expect(
        stderr.match(/^warning: Cannot unpack ".*\/views-2026-03-0[12]\.ndjson\.gz": /gm),
      ).toHaveLength(2);
      const said = (await run(['report'], { data, runtime })).stdout;
      expect(said).toContain('2 packed files broken off, so views are missing; viewlog verify');
    },
  );

  it.each([NODE, DENO, BUN].filter(isPresent))(
    'reads the files it is given on $name',
    async (runtime) => {
      const data = dataDirectory();
      writeFileSync(join(data, 'some.ndjson.gz'), gzipSync(text(storedLines(DAY, 3))));
      const options = { data, runtime, input: text(storedLines(DAY, 4)) };
      const said = await run(['report', 'some.ndjson.gz', '-', '--time-zone', 'UTC'], options);
      expect(said.stdout.split('\n')[0]).toBe(`7 views: all projects, ${DAY} to ${DAY} (UTC)`);
      const html = await run(['report', 'some.ndjson.gz', '--html', `${data}/a.html`], options);
      expect([html.code, html.stdout]).toStrictEqual([0, `Wrote ${data}/a.html\n`]);
      expect(readFileSync(`${data}/a.html`, 'utf8')).toContain('<b>3</b><span>views');
    },
  );

  it('prints a page where --html is -, and not JSON beside it', async () => {
    const data = dataDirectory();
    const { code, stdout } = await run(['report', '--html', '-'], { data });
    expect([code, stdout.slice(0, 15)]).toStrictEqual([0, '<!doctype html>']);
    const both = await run(['report', '--html', '-', '--json'], { data });
    expect([both.code, both.stdout, both.stderr]).toStrictEqual([
      64,
      '',
      'error: --html - and --json both go to stdout; give --html a FILE\n',
    ]);
    expect(readdirSync(data)).toStrictEqual(['projects.json']);
  });

  it('says what it cannot do', async () => {
    const backwards = await run(['report', '--from', '2026-03-02', '--to', '2026-03-01']);
    expect([backwards.code, backwards.stderr]).toStrictEqual([
      64,
      'error: --from 2026-03-02 is after --to 2026-03-01\n',
    ]);
    expect((await run(['report', '--from', '2026-02-30'])).stderr).toContain(
      '--from must be a day',
    );
    expect((await run(['report', '--time-zone', 'Mars'])).code).toBe(64);
    expect((await run(['report', '-'], { data: dataDirectory(), input: '' })).stdout).toBe(
      '0 views: all projects, no day (Etc/UTC)\n'.replace('Etc/UTC', zoneHere()),
    );
    const unwritable = await run(['report', '--html', '/not/there.html']);
    expect(unwritable.code).toBe(73);
  });
});

const zoneHere = (): string => new Intl.DateTimeFormat().resolvedOptions().timeZone;

describe('strangers’ text', () => {
  const NASTY = `/<img src=x onerror=alert(1)>"'&\u001b[2J\u202e`;
  const views = storedLines(DAY, 2, {
    url: NASTY,
    pn: '</title><script>alert(2)</script>',
    orgreferer: 'https://<b>.example/',
    content: { templateId: '"><svg onload=alert(3)>' },
  });
  const refused = JSON.stringify({ ts: `${DAY}T00:00:00.000Z`, id: 'x', code: '<i>', view: {} });

  it('is shown on the terminal without being obeyed', async () => {
    const data = dataDirectory();
    writeFileSync(join(data, NAME), text(views));
    const { stdout } = await run(['report'], { data });
    // oxlint-disable-next-line no-control-regex
    expect(stdout).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u202e]/);
    expect(stdout).toContain(String.raw`"'&\u001b[2J`);
  });

  it('is escaped in JSON, and the same when it is read', async () => {
    const data = dataDirectory();
    writeFileSync(join(data, NAME), text(views));
    const { stdout } = await run(['report', '--json'], { data });
    expect(stdout).toContain(String.raw`\u202e`);
    expect(stdout).not.toContain('\u202e');
    expect(stdout).toContain(JSON.stringify(NASTY.slice(0, -1)).slice(1, -1));
    expect(topOf(JSON.parse(stdout) as Json, 'pages')).toMatchObject([[{ url: NASTY }, 2]]);
  });

  it('is text in a page, which asks for nothing', async () => {
    const data = dataDirectory();
    writeFileSync(join(data, NAME), text(views));
    writeFileSync(join(data, `refused-${DAY}.ndjson`), `${refused}\n`);
    await run(['report', '--html', join(data, 'page.html')], { data });
    const page = readFileSync(join(data, 'page.html'), 'utf8');
    const tags = new Set(Array.from(page.matchAll(/<([a-z0-9]+)/gi), ([, tag]) => tag));
    expect([...tags].filter((tag) => /^(script|img|b|i|link|iframe|a)$/i.test(tag!))).toStrictEqual(
      ['a', 'b'], // to the sections; the figures
    );
    expect(page.match(/<a .*?>/g)).toStrictEqual(page.match(/<a href="#[a-z-]+">/g));
    expect(page.match(/<b>/g)).toHaveLength(4);
    expect(page).not.toMatch(/ on[a-z]+=(?!alert)/);
    expect(page).not.toContain('<img');
    expect(page).toContain('/&lt;img src=x onerror=alert(1)&gt;&quot;&#39;&amp;\\u001b[2J\\u202e');
    expect(page).toContain('&lt;/title&gt;&lt;script&gt;');
    expect(page).not.toContain('&lt;i&gt;');
    expect(page).not.toMatch(/https?:\/\/|url\(|@import/);
    expect(page).toContain(`content="default-src 'none'; style-src 'unsafe-inline'"`);
  });
});

describe('a tally', () => {
  it('is exact up to its limit, and then keeps what is frequent', () => {
    const tally = new Tally<string>(100);
    const add = (id: string): void => tally.add(id, (id) => id);
    for (let i = 0; i < 100; i++) add(`key ${i}`);
    for (let i = 0; i < 50; i++) add('key 7');
    expect([tally.size, tally.isExact]).toStrictEqual([100, true]);
    for (let i = 0; i < 1000; i++) {
      add(`rare ${i}`);
      add('key 7');
    }
    expect(tally.isExact).toBe(false);
    expect(tally.size).toBeLessThanOrEqual(100);
    expect(tally.top(1)).toStrictEqual([{ key: 'key 7', count: 1051 }]);
  });
});

describe('totals', () => {
  const selection = { timeZone: 'UTC', fromDay: undefined, toDay: undefined, project: undefined };
  const asBytes = (line: string): string => Buffer.from(line).toString('latin1');

  it('are the same of a line with escapes and of one without', () => {
    const totals = new Totals(selection);
    const [line] = storedLines(DAY, 1, { url: '/å', pn: 'x' }) as [string];
    totals.addView(asBytes(line));
    totals.addView(asBytes(line.replace('/å', String.raw`/\u00e5`)));
    totals.addView(asBytes(line.replace('/å', String.raw`\/å`)));
    totals.addView(asBytes(line.replace('"cf":[]', '"cf":[{"p":"2","url":"/b"}]')));
    const [project] = [...totals.projects.values()];
    expect(project!.pages.top(9)).toStrictEqual([
      { key: { project: '1000001', url: '/å', name: 'x' }, count: 4 },
    ]);
  });

  it('hold long texts short, cut at a character', () => {
    const totals = new Totals(selection);
    for (const end of ['a', 'b']) {
      const [line] = storedLines(DAY, 1, { url: `/${'🎈'.repeat(4000)}${end}` });
      totals.addView(asBytes(line!));
    }
    const [project] = [...totals.projects.values()];
    const [page] = project!.pages.top(9);
    expect(page!.count).toBe(2);
    expect(page!.key.url).toBe(`/${'🎈'.repeat(99)}…`);
  });
});

it('the local hour is right in every zone and quarter', () => {
  for (const timeZone of ['Asia/Kathmandu', 'America/St_Johns', 'Australia/Lord_Howe', 'UTC']) {
    const hourOf = localHours(timeZone);
    const fresh = (ts: string) => localHours(timeZone)(ts);
    for (let i = 0; i < 300; i++) {
      const ts = new Date(Date.parse('2026-04-04T12:07:00Z') + i * 7 * 60_000).toISOString();
      expect([ts, hourOf(ts)]).toStrictEqual([ts, fresh(ts)]);
    }
  }
  expect(localHours('Asia/Kathmandu')('2026-03-01T18:14:59.999Z')).toStrictEqual({
    day: DAY,
    hour: 23,
  });
  expect(localHours('Asia/Kathmandu')('2026-03-01T18:15:00.000Z')).toStrictEqual({
    day: '2026-03-02',
    hour: 0,
  });
  for (const wrong of ['', '2026-03-01', '2026-13-01T00:00:00.000Z', '2026-03-01T00:00:00.000+']) {
    expect(localHours('UTC')(wrong)).toBeUndefined();
  }
});
