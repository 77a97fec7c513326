import { toJsonSchema } from '@valibot/to-json-schema';
import * as v from 'valibot';
import { expect, it } from 'vitest';
import { readable } from '../../src/report/page-url.ts';
import { ReportSchema } from '../../src/report/schema.ts';
import { TEXTS_MAX } from '../../src/report/tally.ts';
import { daily, reportOn, rowsOf, viewAt } from './report-on.ts';

const DAY = '2026-03-10';
type ListName = 'languages' | 'pages';
const viewsOf = (...changes: object[]): string[] => changes.map((change) => viewAt(DAY, change));

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
    'languages in any letter case',
    'languages',
    [...['en', 'EN', 'zh-hant-tw'].map((ubl) => ({ ubl })), { ubl: 'x y' }, NONE],
    ['en 2', 'zh-Hant-TW 1', 'x y 1', '(none) 1'],
  ],
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

it('paths are never decoded into a delimiter, a control or a mark that reorders text', () => {
  expect(readable('/%C3%A6/%e5%ae%b6')).toBe('/æ/家');
  for (const text of ['/a%2Fb%3F', '/%1B[2J', '/%E2%80%AEtxt', '/%00', '/%C2%85', '/%FF', '/%']) {
    expect(readable(text)).toBe(text);
  }
});

it('a page has a title even if there are too many titles to count', () => {
  const line = viewAt(DAY, { url: '/PAGE', pn: 'TITLE' });
  const lines = Array.from({ length: 1.8 * TEXTS_MAX }, (_, i) =>
    line.replace('PAGE', String(i % (0.9 * TEXTS_MAX))).replace('TITLE', `Title ${i}`),
  );
  const { pages } = reportOn(lines, { top: 100 });
  expect([pages.isExact, pages.top.filter(({ key }) => key.name === '')]).toStrictEqual([true, []]);
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

it('days are only days with views if a clock was years off', () => {
  const { days } = reportOn([viewAt('1999-03-14'), viewAt('2026-03-10')]);
  expect(days.map(({ day }) => day)).toStrictEqual(['1999-03-14', '2026-03-10']);
});

it("lines that aren't a view are counted as invalid", () => {
  const view = viewAt(DAY);
  const lines = ['', 'x', '[]', '{"ts":1}', view.slice(0, 90)];
  for (const ts of ['2026-03-01', '2026-13-01T00:00:00.000Z', '2026-03-01T00:00:00.000+'])
    lines.push(view.replace(/2026-03-10T[^"]*/, ts));
  const { views, invalidLines } = reportOn([...lines, view]);
  expect([views, invalidLines]).toStrictEqual([1, lines.length]);
});

it('the JSON is as its schema says', async () => {
  const counts = Array.from({ length: 14 }, () => 2);
  const views = daily('2026-03-01', counts, { url: '/?utm_source=a' });
  const json: unknown = JSON.parse(JSON.stringify(reportOn(views, { fromDay: '2026-02-28' })));
  expect(v.parse(v.strictObject(ReportSchema.entries), json)).toStrictEqual(json);
  const schema = toJsonSchema(ReportSchema, { errorMode: 'throw' });
  // If this fails, the schema was changed: "npx vitest -u" writes the file again.
  const text = `${JSON.stringify({ title: 'A report of viewlog', ...schema }, null, 2)}\n`;
  await expect(text).toMatchFileSnapshot('../../data/report.schema.json');
});
