import { toJsonSchema } from '@valibot/to-json-schema';
import * as v from 'valibot';
import { describe, expect, it } from 'vitest';
import { readable } from '../../src/report/page-url.ts';
import { ReportSchema } from '../../src/report/schema.ts';
import { daily, reportOn, rowsOf, SITE, viewAt } from './report-on.ts';

const DAY = '2026-03-10';
type ListName = 'entryPages' | 'languages' | 'pages' | 'projects' | 'referrers' | 'templates';
const viewsOf = (...changes: object[]): string[] => changes.map((change) => viewAt(DAY, change));
const oneDay = (day: string) => ({ fromDay: day, toDay: day });

const ELSEWHERE = 'https://news.example/';
const OWN = 'https://example.com/a';
const NONE = { ubl: undefined, content: undefined };
const LONG = `/${'🎈'.repeat(4000)}`;

/** Views by the field in which they differ, and the rows of a list of the report. */
it.each<[what: string, list: ListName, changes: object[], rows: string[]]>([
  [
    'pages without query and fragment, decoded',
    'pages',
    ['/a?x=1', '/a?x=2#top', '/a#end', '/caf%C3%A9', '/caf%c3%a9', '/café', '/new\n?\n'].map(
      (url) => ({ url }),
    ),
    ['/a 3', '/café 3', '/new\n 1'],
  ],
  ['pages of one start', 'pages', [{ url: `${LONG}a` }, { url: LONG }], [`/${'🎈'.repeat(99)}… 2`]],
  [
    'entry pages, if the view before was not on the site itself',
    'entryPages',
    [
      { url: '/in', ref: ELSEWHERE },
      { url: '/direct' },
      { url: '/next', ref: OWN, orgreferer: ELSEWHERE },
      { url: '/next', ref: '/in' },
      { url: '/next', ref: '', orgreferer: OWN },
    ],
    ['/in 1', '/direct 1'],
  ],
  ['sources elsewhere', 'referrers', [{ ref: OWN }, { ref: 'https://www.bing.com/' }], ['Bing 1']],
  [
    'languages in any letter case',
    'languages',
    [...['en', 'EN', 'zh-hant-tw'].map((ubl) => ({ ubl })), { ubl: 'x y' }, NONE],
    ['en 2', 'zh-Hant-TW 1', 'x y 1', '(none) 1'],
  ],
  ['templates', 'templates', [{}, NONE, NONE], ['(none) 2', 'template-7 1']],
  ['projects', 'projects', [{}, { p: '2' }, {}], ['1000001 2', '2 1']],
])('the lists count %s', (_, name, changes, rows) => {
  const list = reportOn(viewsOf(...changes))[name];
  expect([rowsOf(list), list.distinct, list.isExact]).toStrictEqual([rows, rows.length, true]);
});

it('a report obeys --top, --query and --project', () => {
  const views = viewsOf({ url: '/?a' }, { url: '/?b', p: '2' }, { url: '/', p: '2' });
  const { pages, projectNames } = reportOn(views, { top: 1, keepsQuery: true });
  expect([pages.top.length, pages.distinct]).toStrictEqual([1, 3]);
  expect(projectNames).toStrictEqual({ '1000001': 'Example site' });
  expect(reportOn(views, { project: '2' }).views).toBe(2);
});

it('each project has its own pages, with the most frequent title of the period', () => {
  const names = ['Home', 'Å', 'Å', '', '', ''].map((pn) => ({ pn }));
  const changes = [...names, { p: '2', pn: undefined }].map((one) => ({ ...one, url: '/å' }));
  const before = ['Old', 'Old', 'Old'].map((pn) => viewAt('2026-03-09', { pn, url: '/å' }));
  const { pages, entryPages } = reportOn([...before, ...viewsOf(...changes)], oneDay(DAY));
  expect(pages.top).toStrictEqual([
    { key: { project: '1000001', url: '/å', name: 'Å' }, count: 6, before: 3 },
    { key: { project: '2', url: '/å', name: '' }, count: 1, before: 0 },
  ]);
  expect(entryPages.top).toStrictEqual(pages.top);
});

/** Returns the views that the printed script sends for a visit from `first` to these pages. */
const visit = (first: string, ...urls: string[]): object[] =>
  urls.map((url, i) => {
    const ref = i === 0 ? first : `https://www.example.com${urls[i - 1]!}`;
    return { url, ref, orgreferer: first };
  });

// A new tab that was opened from the site has no first referrer but the site's own.
it.each([[SITE], [{ id: '1000001' }]])('visits are counted as they were by %j', (site) => {
  const visits = [
    visit('https://www.google.com/', '/', '/a', '/b', '/c'),
    visit('', '/', '/a', '/b', '/c'),
    visit('https://www.example.com/', '/b'),
    visit('https://other.example/a', '/'),
  ];
  const report = reportOn(viewsOf(...visits.flat()), { listed: [site] });
  expect(rowsOf(report.referrers)).toStrictEqual(['Google 4', '(none) 4', 'other.example 1']);
  expect([report.entryViews, report.internalViews]).toStrictEqual([3, 1]);
  expect(rowsOf(report.entryPages)).toStrictEqual(['/ 3']);
});

it('paths are never decoded into a delimiter, a control or a mark that reorders text', () => {
  expect(readable('/%C3%A6/%e5%ae%b6')).toBe('/æ/家');
  for (const text of ['/a%2Fb%3F', '/%1B[2J', '/%E2%80%AEtxt', '/%00', '/%C2%85', '/%FF', '/%']) {
    expect(readable(text)).toBe(text);
  }
});

it('campaigns are the utm parameters of the page, decoded', () => {
  const urls = [
    '/?utm_source=mail&a=1&utm_campaign=spring+sal%C3%A9#x',
    '/b?utm_campaign=spring+sal%C3%A9&utm_source=mail',
    '/?xutm_source=no&utm_medium=',
    '/?a=1#utm_source=no',
  ];
  const { campaigns, campaignViews } = reportOn(viewsOf(...urls.map((url) => ({ url }))));
  const key = { campaign: 'spring salé', source: 'mail', medium: '' };
  expect([campaigns.top, campaignViews]).toStrictEqual([[{ key, count: 2 }], 2]);
});

describe('days', () => {
  it('are every day asked for, up to today, which is partial', () => {
    const asked = { fromDay: '2026-03-11', toDay: '2026-03-20' };
    const { days } = reportOn(daily('2026-03-11', [0, 3, 2, 1]), asked);
    const rows = days.map(({ day, views, isPartial = false }) => `${day} ${views} ${isPartial}`);
    expect([rows.length, rows[0], rows.at(-1)]).toStrictEqual([
      4,
      '2026-03-11 0 false',
      '2026-03-14 1 true',
    ]);
  });

  it('are only days with views if a clock was years off', () => {
    const { days } = reportOn([viewAt('1999-03-14'), viewAt('2026-03-10')]);
    expect(days.map(({ day }) => day)).toStrictEqual(['1999-03-14', '2026-03-10']);
  });
});

describe('the comparison', () => {
  const views = [
    viewAt('2026-03-06T23:00:00.000Z'), // earlier than the previous period
    viewAt('2026-03-10', { url: '/old' }),
    viewAt('2026-03-12T11:00:00.000Z', { url: '/a', ref: 'https://t.co/' }),
    viewAt('2026-03-12T12:00:00.000Z', { url: '/a' }), // later than this time of day
    viewAt('2026-03-13', { url: '/a', ref: 'https://t.co/' }),
    viewAt('2026-03-13T13:00:00.000Z', { url: '/a' }),
    viewAt('2026-03-14', { url: '/new' }),
  ];

  it('is with as many days before, up to this time of day if today counts', () => {
    const { before, pages, referrers, ...report } = reportOn(views, { fromDay: '2026-03-13' });
    const cut = { fromDay: '2026-03-11', toDay: '2026-03-12', isCut: true };
    expect(report.views).toBe(3);
    expect(before).toStrictEqual({ ...cut, views: 1, silentSpans: [oneDay('2026-03-11')] });
    expect(pages.top.map(({ before }) => before)).toStrictEqual([1, 0]);
    expect(rowsOf(pages)).toStrictEqual(['/a 2', '/new 1']);
    expect(pages.distinct).toBe(2);
    expect(referrers.top).toContainEqual({ key: 'X', count: 1, before: 1 });
  });

  it('is with whole days if all days are over, and absent without a first day', () => {
    const report = reportOn(views, oneDay('2026-03-13'));
    expect(report.before).toMatchObject({ ...oneDay('2026-03-12'), isCut: false, views: 2 });
    expect(report).not.toHaveProperty('today');
    const all = reportOn(views);
    expect(all).not.toHaveProperty('before');
    expect(all.pages.top[0]).not.toHaveProperty('before');
  });

  it('of today is with yesterday up to this time', () => {
    const today = { day: '2026-03-14', views: 1, yesterday: 1 };
    expect(reportOn(views, { fromDay: '2026-03-14' }).today).toStrictEqual(today);
    expect(reportOn(views).today).toStrictEqual(today);
  });
});

describe('days without views', () => {
  const fromDay = '2026-03-08';

  it('are listed if nobody had any, today excepted', () => {
    const { silentSpans } = reportOn(daily(fromDay, [1, 0, 0, 1, 0, 1]), { fromDay });
    const first = { fromDay: '2026-03-09', toDay: '2026-03-10' };
    expect(silentSpans).toStrictEqual([first, oneDay('2026-03-12')]);
  });

  it('are listed for each project from its first view on, and for a project without any', () => {
    const listed = [SITE, { id: '2', name: 'New' }, { id: '3', active: false }];
    const views = ['2026-03-09', '2026-03-10', '2026-03-12'].map((day) => viewAt(day));
    const spans = [oneDay('2026-03-11'), oneDay('2026-03-13')];
    const silent = { project: '2', views: 0, days: 6, spans: [{ fromDay, toDay: '2026-03-13' }] };
    expect(reportOn(views, { fromDay, listed }).silentDays).toStrictEqual([
      { project: '1000001', views: 3, days: 2, spans },
      silent,
    ]);
    expect(reportOn(views, { fromDay, listed, project: '2' }).silentDays).toStrictEqual([silent]);
  });
});

it('lines that are not a view are counted as invalid', () => {
  const view = viewAt(DAY);
  const lines = ['', 'x', '[]', '{"ts":1}', view.slice(0, 90), view.replace('03-10', '99-01')];
  const { views, invalidLines } = reportOn([...lines, view]);
  expect([views, invalidLines]).toStrictEqual([1, lines.length]);
});

it('the JSON is as its schema says', async () => {
  const counts = Array.from({ length: 14 }, () => 2);
  const views = daily('2026-03-01', counts, { url: '/?utm_source=a' });
  const json: unknown = JSON.parse(JSON.stringify(reportOn(views, { fromDay: '2026-02-28' })));
  expect(v.parse(v.strictObject(ReportSchema.entries), json)).toStrictEqual(json);
  const schema = toJsonSchema(ReportSchema, { errorMode: 'throw' });
  // If this fails, the schema was changed: "npx vitest -u" writes the file anew.
  const text = `${JSON.stringify({ title: 'A report of viewlog', ...schema }, null, 2)}\n`;
  await expect(text).toMatchFileSnapshot('../../data/report.schema.json');
});
