import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { toJsonSchema } from '@valibot/to-json-schema';
import * as v from 'valibot';
import { describe, expect, it } from 'vitest';
import { htmlReport } from '../../src/report/html.ts';
import { readable } from '../../src/report/page-url.ts';
import { ReportSchema } from '../../src/report/report-schema.ts';
import { Sources } from '../../src/report/sources.ts';
import { spanOf } from '../../src/report/span.ts';
import { byWeekday, summarize, type Summary } from '../../src/report/summary.ts';
import { terminalReport } from '../../src/report/terminal.ts';
import { type ListedEntry, Totals } from '../../src/report/totals.ts';
import { storedLines } from '../support/stored-lines.ts';
import { hasChromium, newPage } from '../support/chromium.ts';
import { tempDir } from '../support/temp-dir.ts';
import { dataDirectory, run } from '../support/viewlog.ts';

const NOW = new Date('2026-03-14T12:00:00Z');
const ALL = { timeZone: 'UTC', fromDay: undefined, toDay: undefined, project: undefined };
const SITE: ListedEntry = {
  id: '1000001',
  name: 'Example site',
  origins: ['https://www.example.com', 'https://*.example.org'],
};

/** A view of a time, with no referrer unless it is given one. */
const view = (time: string, change: object = {}): string =>
  storedLines('2026-03-01', 1, { orgreferer: '', ...change })[0]!.replace(
    '2026-03-01T00:00:00.000Z',
    time,
  );

interface Options {
  readonly selection?: Partial<typeof ALL> | { fromDay?: string; toDay?: string };
  readonly listed?: readonly ListedEntry[];
  readonly keepsQuery?: boolean;
}

function reportOn(lines: readonly string[], options: Options = {}): Summary {
  const { selection = {}, listed = [SITE], keepsQuery = false } = options;
  const all = { ...ALL, ...selection };
  const totals = new Totals(all, { now: NOW, listed, keepsQuery });
  for (const line of lines) totals.addView(Buffer.from(line).toString('latin1'));
  return summarize(totals, all, 10);
}

const at = (day: string, hour = '10'): string => `${day}T${hour}:00:00.000Z`;
const rows = (list: { top: { key: unknown; count: number }[] }): unknown[] =>
  list.top.map(({ key, count }) => [(key as { url?: string }).url ?? key, count]);

describe('pages', () => {
  const urls = ['/a?x=1', '/a?x=2#top', '/a#end', '/caf%C3%A9'];
  const views = urls.map((url) => view(at('2026-03-10'), { url }));

  it('are counted without query and fragment, and shown readable', () => {
    const { pages } = reportOn(views);
    expect(rows(pages)).toStrictEqual([
      ['/a', 3],
      ['/café', 1],
    ]);
    expect(pages.distinct).toBe(2);
  });

  it('keep their query where that is asked for', () => {
    expect(reportOn(views, { keepsQuery: true }).pages.distinct).toBe(4);
  });

  it('are never decoded into a delimiter, a control or a mark that reorders text', () => {
    expect(readable('/%C3%A6/%e5%ae%b6')).toBe('/æ/家');
    for (const text of ['/a%2Fb%3F', '/%1B[2J', '/%E2%80%AEtxt', '/%00', '/%C2%85', '/%FF', '/%']) {
      expect(readable(text)).toBe(text);
    }
  });

  it('are those where visits began, where the view before was not of the site itself', () => {
    const site = 'https://example.com/a';
    const { entryPages, entryViews } = reportOn([
      view(at('2026-03-10'), { url: '/in', ref: 'https://news.example/' }),
      view(at('2026-03-10'), { url: '/direct' }),
      view(at('2026-03-10'), { url: '/next', ref: site, orgreferer: 'https://news.example/' }),
      view(at('2026-03-10'), { url: '/next', ref: '/in' }),
    ]);
    expect(rows(entryPages)).toStrictEqual([
      ['/in', 1],
      ['/direct', 1],
    ]);
    expect([entryPages.distinct, entryViews]).toStrictEqual([2, 2]);
  });
});

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
    ['https://user@www.example.com:8443/x', '(internal)'],
    ['https://example.com/', '(internal)'],
    ['https://a.b.example.org/', '(internal)'],
    ['https://example.org/', 'example.org'],
    ['https://notexample.com/', 'notexample.com'],
    ['https://notexample.org/', 'notexample.org'],
    ['/page', '(internal)'],
    ['//elsewhere/page', '(not an address)'],
    ['', '(none)'],
  ])('of %j is %s', (referrer, source) => {
    const sources = new Sources(SITE.origins);
    expect([sources.of(referrer), sources.of(referrer)]).toStrictEqual([source, source]);
  });

  it("leave out a project's own pages, and count those", () => {
    const { referrers, internalViews } = reportOn([
      view(at('2026-03-10'), { ref: 'https://www.example.com/' }),
      view(at('2026-03-10'), { ref: 'https://www.bing.com/' }),
    ]);
    expect([rows(referrers), internalViews]).toStrictEqual([[['Bing', 1]], 1]);
  });

  it('are campaigns too, by the utm parameters of the page', () => {
    const { campaigns } = reportOn([
      view(at('2026-03-10'), { url: '/?utm_source=mail&a=1&utm_campaign=spring+sal%C3%A9#x' }),
      view(at('2026-03-10'), { url: '/b?utm_campaign=spring+sal%C3%A9&utm_source=mail' }),
      view(at('2026-03-10'), { url: '/?xutm_source=no&utm_medium=' }),
      view(at('2026-03-10'), { url: '/?a=1#utm_source=no' }),
    ]);
    const key = { campaign: 'spring salé', source: 'mail', medium: '' };
    expect(campaigns.top).toStrictEqual([{ key, count: 2 }]);
  });
});

describe('the days asked for', () => {
  const span = (from?: string, to?: string, last?: number) => {
    const { fromDay, toDay } = spanOf({ from, to, last }, '2026-03-14');
    return `${fromDay} ${toDay}`;
  };

  it('may be told as words, and as a number of days', () => {
    expect(span('yesterday', 'today')).toBe('2026-03-13 2026-03-14');
    expect(span(undefined, undefined, 7)).toBe('2026-03-08 2026-03-14');
    expect(span(undefined, 'yesterday', 1)).toBe('2026-03-13 2026-03-13');
  });

  it('are compared with as many before, the last of them up to this time of day', () => {
    const views = [
      view(at('2026-03-06', '23')), // earlier than the span before
      view(at('2026-03-10'), { url: '/old' }),
      view(at('2026-03-12', '11'), { url: '/a', ref: 'https://t.co/' }),
      view(at('2026-03-12', '12'), { url: '/a' }), // later than this time of day
      view(at('2026-03-13'), { url: '/a', ref: 'https://t.co/' }),
      view(at('2026-03-13', '13'), { url: '/a' }),
      view(at('2026-03-14'), { url: '/new' }),
    ];
    const report = reportOn(views, { selection: { fromDay: '2026-03-13' } });
    expect(report.views).toBe(3);
    const before = { fromDay: '2026-03-11', toDay: '2026-03-12', isCut: true, views: 1 };
    expect(report.before).toStrictEqual(before);
    expect(report.pages.top.map(({ key, count, before }) => [key.url, count, before])).toEqual([
      ['/a', 2, 1],
      ['/new', 1, 0],
    ]);
    expect(report.pages.distinct).toBe(2);
    expect(report.referrers.top).toContainEqual({ key: 'X', count: 1, before: 1 });
    expect(report.today).toStrictEqual({ day: '2026-03-14', views: 1, yesterday: 1 });
  });

  it('that are over are compared in full, and say nothing of today', () => {
    const views = [view(at('2026-03-08', '23')), view(at('2026-03-09')), view(at('2026-03-14'))];
    const report = reportOn(views, { selection: { fromDay: '2026-03-09', toDay: '2026-03-09' } });
    expect(report.before).toMatchObject({ fromDay: '2026-03-08', isCut: false, views: 1 });
    expect(report.today).toBeUndefined();
    expect(reportOn(views).before).toBeUndefined();
  });

  it('without views of a project are told, from its first view to yesterday', () => {
    const listed = [SITE, { id: '2', name: 'New' }, { id: '3', active: false }];
    const days = ['2026-03-09', '2026-03-10', '2026-03-12'];
    const selection = { fromDay: '2026-03-08', toDay: '2026-03-14' };
    const { silentDays } = reportOn(
      days.map((day) => view(at(day))),
      { selection, listed },
    );
    expect(silentDays).toStrictEqual([
      { project: '2', days: 6, spans: [{ fromDay: '2026-03-08', toDay: '2026-03-13' }] },
      {
        project: '1000001',
        days: 2,
        spans: [
          { fromDay: '2026-03-11', toDay: '2026-03-11' },
          { fromDay: '2026-03-13', toDay: '2026-03-13' },
        ],
      },
    ]);
  });

  it('are averaged by weekday over the weeks that have come', () => {
    const hours = (views: number) => Array.from({ length: 24 }, () => views);
    const days = [
      { day: '2026-03-07', views: 0, hours: hours(4) },
      { day: '2026-03-14', views: 0, hours: hours(1) },
    ];
    const week = byWeekday(days, { day: '2026-03-14', hour: 12 });
    expect([week[5]![12], week[5]![13], week[6]![0]]).toStrictEqual([2.5, 4, 0]);
  });
});

describe('the report for an owner', () => {
  const views = [
    view(at('2026-03-12'), { ubl: 'nb-NO' }),
    view(at('2026-03-13'), { p: '7', url: '/x?utm_source=mail' }),
    view(at('2026-03-14')),
  ];
  const summary = reportOn(views, { selection: { fromDay: '2026-03-08', toDay: '2026-03-14' } });

  it('names projects, languages, its making and its time zone', () => {
    const page = htmlReport(summary);
    expect(page).toContain('Example site');
    expect(page).toContain('Norwegian Bokmål (Norway)');
    expect(page).toContain('Direct or unknown');
    expect(page).toMatch(
      /Made 14 March 2026 at 12:00 by viewlog \d+\.\d+\.\d+\. Days and hours in UTC/,
    );
    expect(page).not.toContain('1000001');
    const said = terminalReport(summary, 80);
    expect(said).toContain('Example site');
    expect(said).not.toMatch(/1000001|\(none\)|refused/i);
  });

  it('is as its schema says', async () => {
    const json: unknown = JSON.parse(JSON.stringify(summary));
    expect(v.parse(ReportSchema, json)).toStrictEqual(json);
    const schema = toJsonSchema(ReportSchema, { errorMode: 'throw' });
    // If this fails, the schema was changed: "npx vitest -u" writes the file anew.
    const text = `${JSON.stringify({ title: 'A report of viewlog', ...schema }, null, 2)}\n`;
    await expect(text).toMatchFileSnapshot('../../data/report.schema.json');
  });

  it.skipIf(!hasChromium())('fits a phone, where nothing is hidden beside it', async () => {
    const path = join(tempDir(), 'page.html');
    writeFileSync(path, htmlReport(summary));
    const page = await newPage({ viewport: { width: 390, height: 844 } });
    await page.goto(`file://${path}`);
    const beyond = await page.evaluate(() =>
      Array.from(document.querySelectorAll('body *'))
        .filter((element) => element.getBoundingClientRect().right > innerWidth)
        .map((element) => element.outerHTML),
    );
    expect(beyond).toStrictEqual([]);
  });
});

describe('the command', () => {
  it('reads the span before, and names from the projects file', async () => {
    const data = dataDirectory({ projects: [SITE] });
    const day = (ago: number) => new Date(Date.now() - ago * 86_400_000).toISOString();
    for (const ago of [1, 2, 3]) {
      const ts = day(ago);
      writeFileSync(join(data, `views-${ts.slice(0, 10)}.ndjson`), `${view(ts)}\n`);
    }
    const args = ['report', '--last', '2', '--to', 'yesterday', '--time-zone', 'UTC', '--json'];
    const { code, stdout, stderr } = await run(args, { data });
    expect([code, stderr]).toStrictEqual([0, '']);
    expect(JSON.parse(stdout)).toMatchObject({
      fromDay: day(2).slice(0, 10),
      toDay: day(1).slice(0, 10),
      views: 2,
      before: { views: 1, isCut: false },
      projectNames: { '1000001': 'Example site' },
    });
  });

  it('does without a projects file, and warns of a faulty one', async () => {
    const data = tempDir();
    mkdirSync(data, { recursive: true });
    writeFileSync(join(data, 'views-2026-03-10.ndjson'), `${view(at('2026-03-10'))}\n`);
    const without = await run(['report', '--json'], { data });
    expect([without.code, without.stderr]).toStrictEqual([0, '']);
    writeFileSync(join(data, 'projects.json'), '{');
    const faulty = await run(['report', '--json'], { data });
    expect(faulty.code).toBe(0);
    expect(faulty.stderr).toContain('projects.json:1:2: expected');
    expect(faulty.stderr).toContain('names projects by their ids');
    const both = await run(['report', '--last', '7', '--from', 'today'], { data });
    expect([both.code, both.stderr]).toStrictEqual([
      64,
      'error: --last counts back from --to, or from today; leave out --from\n',
    ]);
  });
});
