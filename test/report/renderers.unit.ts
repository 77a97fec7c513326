import { describe, expect, it } from 'vitest';
import { htmlReport } from '../../src/report/html.tsx';
import { jsonReport } from '../../src/report/json.ts';
import { tablesOf } from '../../src/report/tables.ts';
import { textReport } from '../../src/report/text.ts';
import {
  changeInWords,
  changeOf,
  dayBars,
  daysInShort,
  figuresOf,
  headline,
  lastWeekInWords,
  share,
  siteOf,
} from '../../src/report/words.ts';
import { daily, reportOn, SITE, viewAt } from './report-on.ts';

const times = (length: number, count: number): number[] => Array.from({ length }, () => count);

describe('the headline', () => {
  it('compares views a day, and names the days without views', () => {
    const views = daily('2026-02-22', [...times(7, 100), ...times(2, 140), 0, ...times(4, 140)]);
    const report = reportOn(views, { fromDay: '2026-03-01', toDay: '2026-03-07' });
    expect(headline(report)).toBe(
      '120 views a day, up 20% from 100 in the previous 7 days. No views on Tue 3 Mar.',
    );
    const next = reportOn(daily('2026-03-01', [...times(2, 100), 0, ...times(4, 100)]), {
      fromDay: '2026-03-08',
      toDay: '2026-03-13',
    });
    expect(headline(next)).toBe('0 views a day, down 100% from 83 in the previous 6 days.');
  });

  it.each([
    [
      [2, 3],
      { fromDay: '2026-03-12', toDay: '2026-03-12' },
      '2 views, compared with none on the previous day.',
    ],
    [
      [2, 3],
      { fromDay: '2026-03-13', toDay: '2026-03-13' },
      '3 views, up 1 view from 2 on the previous day.',
    ],
    [
      [2, 3, 4],
      { fromDay: '2026-03-13' },
      '7 views, up 5 views from 2 in the previous 2 days by the same time. Before that, no views on Wed 11 Mar.',
    ],
    [
      [0, 3, 4],
      { fromDay: '2026-03-14' },
      '4 views, up 1 view from 3 on the previous day by the same time.',
    ],
    [[2, 4], {}, '6 views in 2 days.'],
    [[], {}, 'No views.'],
    [[], { fromDay: '2026-03-13' }, 'No views, and none in the previous 2 days.'],
  ])('of %j views from 12 March, asked for %j, is %j', (counts, asked, said) => {
    expect(headline(reportOn(daily('2026-03-12', counts), asked))).toBe(said);
  });

  it('counts the projects that missed other days', () => {
    const views = [
      ...daily('2026-03-08', times(6, 2)),
      ...daily('2026-03-08', [1, 0, 1], { p: '2' }),
    ];
    const listed = [SITE, { id: '2', name: 'Shop' }];
    const report = reportOn(views, { fromDay: '2026-03-08', toDay: '2026-03-13', listed });
    expect(headline(report)).toContain('1 project has more days without views.');
    expect(textReport(report, 80)).toMatch(
      /\nDays without views\n {2}Shop: 4 days, Mon 9 Mar and Wed 11 Mar to Fri 13 Mar$/,
    );
  });

  it('is followed by the last week', () => {
    const report = reportOn(daily('2026-02-28', [...times(7, 20), ...times(7, 30)]));
    expect(lastWeekInWords(report)).toBe(
      'Last 7 full days: 210 views, up 50% from 140 in the 7 days before.',
    );
  });
});

it('the figures are those that an owner asks for', () => {
  const views = [...daily('2026-03-11', [1, 3, 2, 4])];
  const said = (fromDay: string): string[] =>
    figuresOf(reportOn(views, { fromDay })).map(
      ([name, value, note]) => `${name}: ${value}, ${note}`,
    );
  expect(said('2026-03-12')).toStrictEqual([
    'Views: 9, in 3 days, 3 per full day',
    'Today so far: 4, up 2 views from 2 yesterday by 12:00',
    'Busiest day: Sat 14 Mar, 4 views',
    'Busiest hour: 10:00–11:00, 100% of all views',
  ]);
  expect(said('2026-03-14')).toStrictEqual([
    'Views: 4, in 1 day',
    'Busiest hour: 10:00–11:00, 100% of all views',
  ]);
});

it('shares and changes are whole percents, or views if there were fewer than 100', () => {
  const shares = [share(0, 0), share(0, 9), share(1, 1000), share(1, 100), share(2, 3)];
  expect(shares).toStrictEqual(['0%', '0%', '<1%', '1%', '67%']);
  const changes = [
    [112, 100],
    [1300, 100],
    [90, 100],
    [1001, 1000],
    [198, 99],
    [3, 5],
    [4, 4],
    [7, 0],
  ];
  expect(changes.map(([count, before]) => changeOf(count!, before!))).toStrictEqual([
    '+12%',
    '+1,200%',
    '−10%',
    'same',
    '+99 views',
    '−2 views',
    'same',
    'new',
  ]);
  expect(changeInWords(1001, 1000)).toBe('about the same as 1,000');
  expect(changeInWords(9, 10)).toBe('down 1 view from 10');
});

it('many days without views are named from the last', () => {
  const days = ['10-30', '11-01', '11-03', '11-05', '11-07'].map((day) => `2026-${day}`);
  const spans = days.map((day) => ({ fromDay: day, toDay: day }));
  expect(daysInShort(spans)).toBe('Sun 1 Nov, Tue 3 Nov, Thu 5 Nov, Sat 7 Nov and 1 day before');
});

it('the chart has a bar per day, or per month if there are too many', () => {
  const report = reportOn(daily('2026-02-28', [1, 2, ...times(13, 3)]));
  expect(dayBars(report, 15).at(-1)).toStrictEqual({
    label: 'Sat 14 Mar',
    count: 3,
    isPartial: true,
  });
  expect(dayBars(report, 14)).toStrictEqual([
    { label: 'Feb 2026', count: 1, isPartial: false },
    { label: 'Mar 2026', count: 41, isPartial: true },
  ]);
});

describe('the tables', () => {
  const views = [
    viewAt('2026-03-13', { url: '/?utm_campaign=sale&utm_source=mail', pn: 'Home' }),
    viewAt('2026-03-13', { ref: 'https://example.com/', pn: 'Home' }),
    viewAt('2026-03-13', { ref: 'https://t.co/', ubl: 'x', content: undefined, url: '/x', pn: '' }),
  ];

  it('say what their shares are of', () => {
    const tables = tablesOf(reportOn(views));
    expect(tables.map(({ title, remark }) => `${title}: ${remark}`)).toStrictEqual([
      'Pages: ',
      "Sources: share of 2 views from elsewhere, not counting 1 from the site's own pages",
      'Campaigns: share of 1 view with a campaign',
      'Entry pages: share of 2 views that began a visit',
      'Languages: ',
      'Templates: ',
    ]);
    const [pages, sources, campaigns, , languages] = tables;
    expect(pages!.rows[2]).toStrictEqual({
      texts: ['/x'],
      count: 1,
      share: '33%',
      change: undefined,
    });
    expect(sources!.rows.map(({ texts, share }) => [...texts, share])).toStrictEqual([
      ['Direct or unknown', '50%'],
      ['X', '50%'],
    ]);
    expect(campaigns!.rows[0]!.texts).toStrictEqual(['sale', 'mail']);
    expect(languages!.rows[0]!.texts).toStrictEqual(['Norwegian Bokmål (Norway)']);
  });

  it('say that there are no campaigns, and name projects if there are several', () => {
    const other = { p: '2', url: '/', pn: 'Home' };
    const report = reportOn([viewAt('2026-03-13', other), viewAt('2026-03-13', { pn: '' })]);
    const tables = tablesOf(report);
    expect(tables.map(({ title }) => title).slice(0, 2)).toStrictEqual(['Projects', 'Pages']);
    expect(tables[1]!.rows[0]!.texts).toStrictEqual(['Home', '/', 'Project 2']);
    expect(tables.find(({ title }) => title === 'Campaigns')!.remark).toContain('no views came');
    expect([siteOf(report), siteOf(reportOn(views))]).toStrictEqual([undefined, 'Example site']);
  });
});

describe('text that others wrote', () => {
  const NASTY = `/\u001b[2J\u202e<img src=x onerror=alert(1)>"'&`;
  const listed = [{ ...SITE, name: 'متجر <b>\u202e' }];
  const change = { url: NASTY, pn: '</title><script>alert(2)</script> می\u200cخ', ubl: '"><i>' };
  const report = reportOn([viewAt('2026-03-13', change)], { listed });

  it('is shown on a terminal without being obeyed', () => {
    const said = textReport(report, 80);
    // oxlint-disable-next-line no-control-regex
    expect(said).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u202e]/);
    expect(said).toContain(String.raw`\u001b[2J`);
  });

  it('is escaped in JSON, and reads the same', () => {
    const json = jsonReport(report);
    expect(json).not.toContain('\u202e');
    expect(JSON.parse(json)).toStrictEqual(JSON.parse(JSON.stringify(report)));
  });

  it('is text in the page, which asks for nothing', () => {
    const page = htmlReport(report);
    const tags = new Set(Array.from(page.matchAll(/<([a-z0-9]+)/gi), ([, tag]) => tag));
    expect(['script', 'img', 'i', 'link', 'iframe', 'a'].filter((tag) => tags.has(tag))).toEqual(
      [],
    );
    expect(page).not.toMatch(/https?:\/\/|url\(|@import|\u202e/);
    expect(page).toContain(
      `content="default-src &#39;none&#39;; style-src &#39;unsafe-inline&#39;"`,
    );
    expect(page).toContain(String.raw`/\u001b[2J\u202e&lt;img src=x`);
    expect(page).toContain('می\u200cخ');
  });
});
