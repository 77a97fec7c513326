import { toJsonSchema } from '@valibot/to-json-schema';
import * as v from 'valibot';
import { expect, it } from 'vitest';
import { parseViewLine } from '../../src/report/report-line.ts';
import { readable } from '../../src/report/page-url.ts';
import { ReportSchema } from '../../src/report/schema.ts';
import { TEXTS_MAX } from '../../src/report/tally.ts';
import { bytes, daily, reportOn, reportOnViews, rowsOf, viewAt } from './report-on.ts';

const DAY = '2026-03-10';
const viewsOf = (...changes: object[]): string[] => changes.map((change) => viewAt(DAY, change));

it('a report counts pages as one if their addresses begin with the same long text', () => {
  const start = `/${'🎈'.repeat(4000)}`;
  const { pages } = reportOn(viewsOf({ url: `${start}a` }, { url: start }));
  expect([rowsOf(pages), pages.distinct]).toStrictEqual([[`/${'🎈'.repeat(99)}… 2`], 1]);
});

it('a report never decodes a path into a delimiter, a control character or a mark that reorders text', () => {
  expect(readable('/%C3%A6/%e5%ae%b6')).toBe('/æ/家');
  for (const text of ['/a%2Fb%3F', '/%1B[2J', '/%E2%80%AEtxt', '/%00', '/%C2%85', '/%FF', '/%']) {
    expect(readable(text)).toBe(text);
  }
});

it('a report gives each page a title even if there are too many titles to count', () => {
  const view = parseViewLine(bytes(viewAt(DAY)))!;
  const pagesInAll = 0.9 * TEXTS_MAX;
  const views = Array.from({ length: 2 * pagesInAll }, (_, i) => {
    return { ...view, url: `/${i % pagesInAll}`, pn: `Title ${i}` };
  });
  const { pages } = reportOnViews(views, { top: 100 });
  expect([pages.isExact, pages.top.filter(({ key }) => key.name === '')]).toStrictEqual([true, []]);
});

it('a report decodes campaigns from the utm parameters of pages', () => {
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

it('a report lists only the days with views if these are years apart', () => {
  const { days } = reportOn([viewAt('1999-03-14'), viewAt('2026-03-10')]);
  expect(days.map(({ day }) => day)).toStrictEqual(['1999-03-14', '2026-03-10']);
});

it("a report counts lines that aren't views as invalid", () => {
  const view = viewAt(DAY);
  const lines = ['', 'x', '[]', '{"ts":1}', view.slice(0, 90)];
  for (const ts of ['2026-03-01', '2026-13-01T00:00:00.000Z', '2026-03-01T00:00:00.000+'])
    lines.push(view.replace(/2026-03-10T[^"]*/, ts));
  const { views, invalidLines } = reportOn([...lines, view]);
  expect([views, invalidLines]).toStrictEqual([1, lines.length]);
});

it('the JSON of a report matches its schema', async () => {
  const counts = Array.from({ length: 14 }, () => 2);
  const views = daily('2026-03-01', counts, { url: '/?utm_source=a' });
  const json: unknown = JSON.parse(JSON.stringify(reportOn(views, { fromDay: '2026-02-28' })));
  expect(v.parse(v.strictObject(ReportSchema.entries), json)).toStrictEqual(json);
  const schema = toJsonSchema(ReportSchema, { errorMode: 'throw' });
  // If this fails, the schema was changed: "npx vitest -u" writes the file again.
  const text = `${JSON.stringify({ title: 'A report of viewlog', ...schema }, null, 2)}\n`;
  await expect(text).toMatchFileSnapshot('../../data/report.schema.json');
});
