import { describe, expect, it } from 'vitest';
import { htmlReport } from '../../src/report/html.tsx';
import { sectionsOf } from '../../src/report/sections.ts';
import { jsonReport, textReport } from '../../src/report/text.ts';
import {
  changeInWords,
  changeOf,
  daysInShort,
  figuresOf,
  headline,
  lastWeekInWords,
  share,
} from '../../src/report/words.ts';
import { daily, reportOn, SITE, viewAt } from './report-on.ts';

it.each([
  ['a report without views', '', '', [], 'No views.'],
  ['a report of all days', '', '', [0, 2, 4], '6 views.'],
  [
    'two days without views, and none before',
    '12',
    '13',
    [],
    'No views, as in the previous 2 days.',
  ],
  [
    'a day without views after a day with many',
    '13',
    '13',
    [0, 120],
    'No views, down from 120 on the previous day.',
  ],
  ['a day with few views', '13', '13', [0, 2, 3], '3 views, up 1 view from 2 on the previous day.'],
  [
    'days with many views until now, and one day without views',
    '13',
    '',
    [100, 120, 0, 140],
    '140 views so far, down 36% from 220 by this time in the previous 2 days. No views on Fri 13 Mar.',
  ],
  [
    'days without views, alone and in a row',
    '10',
    '13',
    [5],
    '5 views, up from none in the previous 4 days. No views on Tue 10 Mar and from Thu 12 Mar to Fri 13 Mar.',
  ],
  [
    'days with few views until now, after a day without views',
    '13',
    '',
    [0, 4, 5, 6],
    '11 views so far, up 7 views from 4 by this time in the previous 2 days (no views on Wed 11 Mar).',
  ],
])('the headline sums up %s', (_, from, to, counts, said) => {
  const dayOf = (day: string) => (day === '' ? undefined : `2026-03-${day}`);
  const asked = { fromDay: dayOf(from), toDay: dayOf(to) };
  expect(headline(reportOn(daily('2026-03-11', counts), asked))).toBe(said);
});

it('only a report of all view files makes statements about other days', () => {
  const views = daily(
    '2026-02-20',
    Array.from({ length: 14 }, () => 1),
  );
  const report = reportOn(views);
  expect(headline(report)).toBe('14 views. No views since Thu 5 Mar.');
  expect(lastWeekInWords(report)).toMatch(/^Last 7 full days of this period: /);
  expect(headline(reportOn(daily('2026-03-11', [1, 1, 1])))).toBe('3 views.');
  expect(headline(reportOn(views, { last: 12 }))).toBe(
    '3 views so far, down 8 views from 11 by this time in the previous 12 days (no views on Thu 19 Feb). No views since Thu 5 Mar.',
  );
  const some = daily('2026-03-10', [1, 0, 1]);
  const ofSome = reportOn(some, { isWhole: false, last: 5 });
  expect(headline(ofSome)).toBe('2 views.');
  expect([ofSome.today, ofSome.silentSpans, ofSome.silentDays]).toStrictEqual([undefined, [], []]);
  expect(ofSome.days.map(({ day }) => day)).toStrictEqual(['2026-03-10', '2026-03-12']);
  expect(headline(reportOn([], { last: 4 }))).toBe(
    'No views so far, and none by this time in the previous 4 days.',
  );
});

it('a report from a day long before the first view is filled from the first view on', () => {
  const views = daily('2026-03-10', [1, 0, 1]);
  const { days, silentSpans } = reportOn(views, { fromDay: '2000-01-01', toDay: '2026-03-13' });
  expect(days.map(({ day }) => day.slice(-2))).toStrictEqual(['10', '11', '12', '13']);
  expect(silentSpans).toHaveLength(2);
});

it('a report of at least 14 full days compares the last 7 with the 7 before them', () => {
  const counts = [...Array.from({ length: 13 }, (_, i) => i + 1), 100, 1000];
  const said = (fromDay: string, views: readonly number[]): string =>
    lastWeekInWords(reportOn(daily(fromDay, views)));
  expect(said('2026-02-28', counts)).toBe(
    'Last 7 full days: 163 views, up 135 views from 28 in the 7 days before.',
  );
  expect(said('2026-03-01', counts.slice(1))).toBe('');
  const past = reportOn(daily('2026-02-28', counts), { toDay: '2026-03-13' });
  expect(lastWeekInWords(past)).toMatch(/^Last 7 full days of this period: /);
});

it('the figures of a report are its views, in total, per full day and today so far, and the busiest day and hour', () => {
  const views = daily('2026-03-11', [1, 3, 2, 4]);
  const said = (fromDay: string, toDay?: string): string[] =>
    figuresOf(reportOn(views, { fromDay, ...(toDay && { toDay }) })).map(
      ([name, value, note]) => `${name}: ${value}, ${note}`,
    );
  const busiestHour = 'Busiest time of day: 10:00–11:00, 100% of all views';
  expect(said('2026-03-12')).toStrictEqual([
    'Views: 9, in 3 days, 2.5 per full day',
    'Today so far: 4, up 2 views from 2 yesterday by 12:00',
    'Busiest day: Sat 14 Mar, 4 views',
    busiestHour,
  ]);
  expect(said('2026-03-11', '2026-03-13').slice(0, 2)).toStrictEqual([
    'Views: 6, in 3 days',
    'Views per full day: 2, on average',
  ]);
  expect(said('2026-03-14')).toStrictEqual([busiestHour]);
});

it('a report shows shares and changes as whole percentages, but changes of counts below 100 as numbers of views', () => {
  const shares = [share(0, 0), share(0, 9), share(1, 1000), share(1, 100), share(2, 3)];
  expect(shares).toStrictEqual(['0%', '0%', '<1%', '1%', '67%']);
  const changes = [changeOf(1300, 100), changeOf(90, 100), changeOf(1001, 1000)];
  expect(changes).toStrictEqual(['+1,200%', '−10%', 'same']);
  const ofFew = [changeOf(198, 99), changeOf(3, 5), changeOf(7, 0)];
  expect(ofFew).toStrictEqual(['+99 views', '−2 views', '+7 views']);
  expect(changeInWords(1001, 1000)).toBe('about the same as 1,000');
  expect(changeInWords(9, 10)).toBe('down 1 view from 10');
});

it('a report lists the days without views of each project, but only the last of many', () => {
  const days = ['10-30', '11-01', '11-03', '11-05', '11-07'].map((day) => `2026-${day}`);
  const spans = days.map((day) => ({ fromDay: day, toDay: day }));
  expect(daysInShort(spans, '2026-11-30')).toBe(
    'Sun 1 Nov, Tue 3 Nov, Thu 5 Nov, Sat 7 Nov and 1 earlier day',
  );
  const ofTwoYears = [
    { fromDay: '2025-12-30', toDay: '2026-01-02' },
    { fromDay: '2026-01-05', toDay: '2026-01-05' },
  ];
  expect(daysInShort(ofTwoYears, '2026-11-30')).toBe('Tue 30 Dec 2025 to Fri 2 Jan and Mon 5 Jan');
  const views = daily('2026-03-08', [1, 0, 1], { p: '2' });
  const report = reportOn(views, { toDay: '2026-03-13', fromDay: '2026-03-08', listed: [] });
  expect(textReport(report, 80, 'verify')).toMatch(
    /\nDays without views\n {2}Project 2: 4 days, Mon 9 Mar and Wed 11 Mar to Fri 13 Mar$/,
  );
  const never = '\nDays without views\n  Example site: no views';
  expect(textReport(reportOn(views), 80, 'verify')).toMatch(new RegExp(`${never} yet`));
  for (const part of [{ fromDay: '2026-03-08' }, { toDay: '2026-03-10' }]) {
    expect(textReport(reportOn(views, part), 80, 'verify')).toMatch(new RegExp(`${never}(?! yet)`));
  }
  expect(textReport(reportOn([], { listed: [] }), 80, 'verify')).toBe(
    'All projects: no views found',
  );
});

it('the chart of a report marks days whose files were not read, and their months', () => {
  const report = reportOn(daily('2026-02-27', [1, 2, 3]));
  const days = report.days.with(1, { ...report.days[1]!, views: 0, isUnread: true });
  const textsIn = (daysMax: number) =>
    sectionsOf({ ...report, days }, daysMax)[0]!.rows.map(({ texts }) => texts.join(', '));
  expect(textsIn(99).slice(0, 3)).toStrictEqual([
    'Fri 27 Feb',
    'Sat 28 Feb, not read',
    'Sun 1 Mar',
  ]);
  expect(textsIn(1).slice(0, 1)).toStrictEqual(['Feb 2026, partly read']);
});

it('the chart of a report has a bar per day, or per month if there are too many days', () => {
  const counts = [1, 2, ...Array.from({ length: 13 }, () => 3)];
  const report = reportOn(daily('2026-02-28', counts));
  const perDay = sectionsOf(report, 15)[0]!;
  expect(perDay).toMatchObject({ title: 'Views per day', isChart: true });
  expect(perDay.rows.at(-1)).toStrictEqual({ texts: ['Sat 14 Mar', 'so far'], count: 3 });
  expect(sectionsOf(report, 14)[0]).toMatchObject({
    title: 'Views per month',
    rows: [
      { texts: ['Feb 2026'], count: 1 },
      { texts: ['Mar 2026', 'so far'], count: 41 },
    ],
  });
});

describe('the lists of a report', () => {
  const views = [
    viewAt('2026-03-13', { url: '/?utm_campaign=sale&utm_source=mail', pn: 'Home' }),
    viewAt('2026-03-13', { ref: 'https://example.com/', pn: 'Home' }),
    viewAt('2026-03-13', { ref: 'https://t.co/', ubl: 'x', content: undefined, url: '/x', pn: '' }),
  ];

  it('say which views their shares are of', () => {
    const sections = sectionsOf(reportOn(views), 9);
    expect(sections.map(({ title, remark }) => `${title}: ${remark}`)).toStrictEqual([
      'Pages: ',
      "Sources: share of 2 views that didn't come from the site's own pages",
      'Campaigns: share of 1 view with utm_ parameters',
      'Entry pages: share of 2 views from outside the site',
      'Languages: ',
      'Templates: ',
      'Views per hour of the day: ',
    ]);
    const texts = sections.map(({ rows }) => rows.map((row) => row.texts.join(' · ')));
    expect(texts.slice(1, 6)).toStrictEqual([
      ['Direct or unknown', 'X'],
      ['sale · mail'],
      ['Home · /', '/x'],
      ['Norwegian Bokmål (Norway)', 'x'],
      ['template-7', 'Unknown'],
    ]);
    const unknown = sectionsOf(reportOn(views.slice(2)), 9).map(({ title }) => title);
    expect(unknown).not.toContain('Templates');
    expect(unknown).toContain('Sources');
    expect(textReport(reportOn(views, { top: 1 }), 80, 'verify')).toContain('\nPages: 1 of 3\n');
  });

  it('say that there are no campaigns and name the projects if there are several', () => {
    const other = { p: '2', url: '/', pn: 'Home' };
    const report = reportOn([viewAt('2026-03-13', other), viewAt('2026-03-13', { pn: '' })]);
    const [projects, pages] = sectionsOf(report, 9);
    expect([projects!.title, pages!.title]).toStrictEqual(['Projects', 'Pages']);
    expect(pages!.rows[0]!.texts).toStrictEqual(['Home', '/', 'Project 2']);
    expect(textReport(report, 80, 'verify')).toContain(
      'Campaigns: no views with utm_ parameters\n',
    );
    expect(htmlReport(report)).toContain('<title>Page views</title>');
    expect(htmlReport(reportOn(views))).toContain('<title>Page views of Example site</title>');
  });
});

describe('untrusted text in a report', () => {
  const NASTY = `/\u001b[2J\u202e<img src=x onerror=alert(1)>"'&`;
  const listed = [{ ...SITE, name: 'متجر <b>\u202e' }];
  const change = { url: NASTY, pn: '</title><script>alert(2)</script> می\u200cخ', ubl: '"><i>' };
  const report = reportOn([viewAt('2026-03-13', change)], { listed });

  it('is escaped on a terminal and unchanged in JSON', () => {
    const said = textReport(report, 80, 'verify');
    // oxlint-disable-next-line no-control-regex
    expect(said).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u202e]/);
    expect(said).toContain(String.raw`\u001b[2J`);
    const json = jsonReport(report);
    expect(json).not.toContain('\u202e');
    expect(JSON.parse(json)).toStrictEqual(JSON.parse(JSON.stringify(report)));
  });

  it('stays text in the page, which loads nothing', () => {
    const page = htmlReport(report);
    expect(page).not.toMatch(/<(script|img|i|link|iframe|a)\b|https?:\/\/|url\(|@import|\u202e/i);
    expect(page).toContain(
      `content="default-src &#39;none&#39;; style-src &#39;unsafe-inline&#39;"`,
    );
    expect(page).toContain(String.raw`/\u001b[2J\u202e&lt;img src=x`);
    expect(page).toContain('می\u200cخ');
  });
});
