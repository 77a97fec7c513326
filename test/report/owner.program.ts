import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { toJsonSchema } from '@valibot/to-json-schema';
import fc from 'fast-check';
import * as v from 'valibot';
import { describe, expect, it } from 'vitest';
import { htmlReport } from '../../src/report/html.ts';
import { daysInShort } from '../../src/report/gaps-in-words.ts';
import { readable } from '../../src/report/page-url.ts';
import { ReportSchema } from '../../src/report/report-schema.ts';
import { Sources } from '../../src/report/sources.ts';
import { spanOf } from '../../src/report/span.ts';
import { byWeekday } from '../../src/report/by-time.ts';
import { summarize, type Summary } from '../../src/report/summary.ts';
import { terminalReport } from '../../src/report/terminal.ts';
import { type ListedEntry, Totals } from '../../src/report/totals.ts';
import { changeInWords, changeOf, share } from '../../src/report/words.ts';
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
  readonly selection?: Partial<typeof ALL> | { fromDay?: string; toDay?: string; project?: string };
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

  it('of campaigns are compared, and shares name the views that they are of', () => {
    const url = '/?utm_campaign=spring';
    const ref = 'https://www.bing.com/';
    const views = [
      view(at('2026-03-12'), { url }),
      ...['09', '10', '11'].map((hour) => view(at('2026-03-13', hour), { url })),
      view(at('2026-03-13'), { url: '/?utm_campaign=other', ref }),
      view(at('2026-03-13'), { ref: '/from', orgreferer: '' }),
    ];
    const span = { fromDay: '2026-03-13', toDay: '2026-03-13' };
    const summary = reportOn(views, { selection: span });
    expect(summary.campaignViews).toBe(4);
    expect(summary.campaigns.top[0]).toMatchObject({ count: 3, before: 1 });
    const page = htmlReport(summary);
    expect(page).toMatch(
      /spring.*?<td>3<\/td><td class="share" style="--part: 75.0%">75 %<\/td><td>\+2\u00a0views<\/td>/,
    );
    for (const whole of [
      'Shares of 5 views<',
      '<h2>Sources<small>Of 5 views 4 began a visit; shares are of these<',
      'Of 5 views 4 had a campaign; shares are of these. ' +
        'In Sources the same views stand under the site that linked<',
      '<h2>Entry pages<small>Of 5 views 4 began a visit; shares are of these<',
    ]) {
      expect(page).toContain(whole);
    }
    expect(page.indexOf('<h2>Sources')).toBeLessThan(page.indexOf('<h2>Entry pages'));
    const said = terminalReport(summary, 80);
    expect(said).toMatch(
      /\nCampaigns, shares of 4 views with a campaign, change from the day before\n {2}spring +3 +75 % +\+2\u00a0views /,
    );
  });

  it('say of what views they are where later views of a visit tell its first referrer', () => {
    const orgreferer = 'https://news.example/';
    const site = 'https://example.com/a';
    const summary = reportOn([
      view(at('2026-03-10'), { ref: orgreferer, orgreferer }),
      view(at('2026-03-10'), { ref: site, orgreferer }),
      view(at('2026-03-10'), { ref: site }),
    ]);
    const page = htmlReport(summary);
    expect(page).toContain(
      '<h2>Sources<small>Of 3 views 2 were of visits from elsewhere; shares are of these<',
    );
    expect(page).toContain('<h2>Entry pages<small>Of 3 views 1 began a visit;');
    expect(page).toContain('<small>100 % of views of visits from elsewhere</small>');
    expect(terminalReport(summary, 80)).toContain(
      '\nSources, shares of 2 views of visits from elsewhere\n',
    );
  });

  it('have shares and changes in whole percents', () => {
    expect([share(0, 0), share(0, 9), share(1, 1000), share(1, 100), share(2, 3)]).toStrictEqual([
      '0 %',
      '0 %',
      '<1 %',
      '1 %',
      '67 %',
    ]);
    expect([changeOf(112, 100), changeOf(90, 100), changeOf(1300, 100)]).toStrictEqual([
      '+12 %',
      '−10 %',
      '+1,200 %',
    ]);
  });

  it('of fewer than 100 before have their change in views', () => {
    expect([changeOf(198, 99), changeOf(3, 5), changeOf(4, 4)]).toStrictEqual([
      '+99\u00a0views',
      '−2\u00a0views',
      '±0\u00a0views',
    ]);
    expect([changeOf(2, 1), changeOf(0, 1)]).toStrictEqual(['+1\u00a0view', '−1\u00a0view']);
    expect([changeOf(700, 0), changeOf(1, 0)]).toStrictEqual(['new', 'new']);
    expect([changeOf(1001, 1000), changeOf(1000, 1000)]).toStrictEqual(['±0 %', '±0 %']);
  });

  it('have their change in words too', () => {
    const said = [
      [112, 100],
      [3, 5],
      [1001, 1000],
      [10, 10],
      [10, 9],
    ].map(([count, before]) => changeInWords(count!, before!).join(' '));
    expect(said).toStrictEqual([
      '12 % more than',
      '2 fewer than',
      'about as many as',
      'as many as',
      '1 more than',
    ]);
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
    expect(report.before).toStrictEqual({
      fromDay: '2026-03-11',
      toDay: '2026-03-12',
      isCut: true,
      views: 1,
      wholeDayViews: 0,
      silentDays: 1,
      silentSpans: [{ fromDay: '2026-03-11', toDay: '2026-03-11' }],
      days: [{ day: '2026-03-12', views: 1 }],
    });
    expect(report.pages.top.map(({ key, count, before }) => [key.url, count, before])).toEqual([
      ['/a', 2, 1],
      ['/new', 1, 0],
    ]);
    expect(report.pages.distinct).toBe(2);
    expect(report.referrers.top).toContainEqual({ key: 'X', count: 1, before: 1 });
    expect(report.today).toStrictEqual({ day: '2026-03-14', views: 1, yesterday: 1 });
  });

  it('compare today with the same weekday a week ago too, up to this time of day', () => {
    const views = [
      view(at('2026-03-07', '11')),
      view(at('2026-03-07', '12')), // later than this time of day
      view(at('2026-03-13')),
      view(at('2026-03-14')),
    ];
    const selection = { fromDay: '2026-03-14' };
    const summary = reportOn(views, { selection });
    expect(summary.today).toMatchObject({ views: 1, yesterday: 1, weekAgo: 1 });
    const page = htmlReport(summary);
    expect(page).toContain(
      '<p class="change"><b>as many</b><span>as yesterday by 12:00: 1</span></p>' +
        '<p class="change also"><b>as many</b><span>as last Saturday by 12:00: 1</span></p>',
    );
    expect(page).toContain('compared with Friday 13 March 2026 up to 12:00<');
    expect(page).toContain('<b>10:00 – 11:00</b><span>busiest hour so far</span>');
    expect(terminalReport(summary, 80)).toMatch(
      /as many as the 1 of yesterday by now\n +as many as the 1 of last Saturday by now/,
    );
    const late = reportOn(views.slice(1), { selection });
    expect(late.today).toMatchObject({ weekAgo: 0 });
    expect(reportOn(views.slice(2), { selection }).today).not.toHaveProperty('weekAgo');
  });

  it('mark today as partial, and leave it out of the average day', () => {
    const views = [view(at('2026-03-12')), view(at('2026-03-13')), view(at('2026-03-14'))];
    const summary = reportOn([...views, view(at('2026-03-13'))], {
      selection: { fromDay: '2026-03-12' },
    });
    expect(summary.days.map(({ isPartial }) => isPartial)).toStrictEqual([
      undefined,
      undefined,
      true,
    ]);
    const page = htmlReport(summary);
    expect(page.match(/class="partial" title="Sat 14 Mar, so far: 1"/g)).toHaveLength(1);
    expect(page).toContain('<p><span class="partial"></span>today so far</p>');
    expect(page).toContain(
      '<b>2</b><span>views on a usual day</span></p>' +
        '<small>average of 2 full days without today</small>',
    );
    expect(terminalReport(summary, 80)).toMatch(/Fri 2026-03-13 +2 [^]*Sat 2026-03-14 so far +1 /);
    const months = reportOn([view(at('2025-03-12')), ...views]);
    expect(htmlReport(months)).toContain('title="2026-03, so far: 3"');
    expect(terminalReport(months, 80)).toMatch(/ {2}2026-03 so far +3 /);
  });

  it('have their weekdays, and their numbers where they are few', () => {
    const page = (fromDay: string): string =>
      htmlReport(reportOn([view(at('2026-03-14'))], { selection: { fromDay } }));
    const few = page('2026-03-01');
    expect(few).toContain('<span>S<small>un</small></span><span>M<small>on</small></span>');
    expect(few).toContain('<small>1</small></span></div></div><div class="ticks weekdays">');
    const many = page('2026-02-28');
    expect(many).toContain('<div class="ticks weekdays">');
    expect(many).not.toContain('<small>1</small></span></div></div>');
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
      { project: '2', views: 0, days: 6, spans: [{ fromDay: '2026-03-08', toDay: '2026-03-13' }] },
      {
        project: '1000001',
        views: 3,
        days: 2,
        spans: [
          { fromDay: '2026-03-11', toDay: '2026-03-11' },
          { fromDay: '2026-03-13', toDay: '2026-03-13' },
        ],
      },
    ]);
  });

  it('are averaged by weekday over its full days, or are those of today so far', () => {
    const full = (day: string, views: number) => ({
      day,
      views: 24 * views,
      hours: Array.from({ length: 24 }, () => views),
    });
    const today = { ...full('2026-03-14', 1), isPartial: true };
    const hours = (days: readonly Summary['days'][number][]) => {
      const week = byWeekday(days, 12);
      return [week[5]![11], week[5]![12], week[6]![0]];
    };
    const before = [full('2026-02-28', 3), full('2026-03-07', 4)];
    expect(hours([...before, today])).toStrictEqual([3.5, 3.5, undefined]);
    expect(hours([today])).toStrictEqual([1, undefined, undefined]);
  });

  it('show an hour that none of them had otherwise than one without views', () => {
    const views = [view(at('2026-03-13', '10')), view(at('2026-03-14', '10'))];
    const page = htmlReport(reportOn(views, { selection: { fromDay: '2026-03-08' } }));
    expect(page).toContain(
      '<span class="never" title="Sat 12:00 – 13:00: not in these days"></span>',
    );
    expect(page).toContain('<span title="Sat 11:00 – 12:00: 0" style="--part: 0%"></span>');
    expect(page).toContain('<span class="shades"></span>1 view in the hour');
    expect(page).toContain('<span class="never"></span>not in these days');
    const whole = { fromDay: '2026-03-07', toDay: '2026-03-13' };
    expect(htmlReport(reportOn(views, { selection: whole }))).not.toContain('class="never"');
  });
});

describe('a day without a view', () => {
  /** Views of fourteen days, a number for each. */
  const report = (counts: readonly number[]): string => {
    const views = counts.flatMap((count, i) =>
      Array.from({ length: count }, () => view(at(`2026-02-${String(15 + i).padStart(2, '0')}`))),
    );
    const selection = { fromDay: '2026-02-15', toDay: '2026-02-28' };
    return htmlReport(reportOn(views, { selection }));
  };
  const few = Array.from({ length: 14 }, (_, i) => (i === 0 || i === 13 ? 0 : 4));

  it('is a gap where there are views every day, and in no average', () => {
    const page = report(few.map((count) => 5 * count));
    expect(page).toContain(
      '<small>The average is of the 12 full days that had views: ' +
        'no view came before Mon\u00a016\u00a0Feb; Sat\u00a028\u00a0Feb had no view at all</small>' +
        '<small>In all: 240 views in 14 days</small>',
    );
    expect(page).toContain('<b>20</b><span>views a day</span>');
    expect(page).not.toContain('usual day');
    // Sunday the 22nd alone.
    expect(page).toContain('<span title="Sun 10:00 – 11:00: 20"');
  });

  /** As many views of each day as `countOf` says, from `fromDay` on. */
  const daily = (fromDay: string, counts: readonly number[], change: object = {}): string[] =>
    counts.flatMap((count, i) => {
      const day = new Date(Date.parse(fromDay) + i * 86_400_000).toISOString().slice(0, 10);
      return Array.from({ length: count }, () => view(at(day), change));
    });
  const times = <T>(length: number, value: T): T[] => Array.from({ length }, () => value);

  it('makes days with views what is compared, and leaves totals without a percent', () => {
    const counts = [0, ...times(12, 110), 0];
    const views = [...daily('2026-02-01', times(14, 100)), ...daily('2026-02-15', counts)];
    const selection = { fromDay: '2026-02-15', toDay: '2026-02-28' };
    const summary = reportOn(views, { selection });
    const page = htmlReport(summary);
    expect(page).toContain(
      '<li><p><b>110</b><span>views a day</span></p>' +
        '<p class="change"><b><span aria-hidden="true">↑</span> 10 % more</b>' +
        '<span>a day than before: 100</span></p>' +
        '<small>Compared by day: Sun\u00a015 and Sat\u00a028\u00a0Feb had no view at all. ' +
        'The averages are of the 12 full days that had views in both spans</small>' +
        '<small>In all: 1,320 views in 14 days; 1,400 in the 14 days before</small>',
    );
    expect(page).not.toContain('fewer');
    // Of twelve days with 110 views, beside fourteen with 100.
    expect(page.match(/Change of days that had views</g)).toHaveLength(2);
    expect(page.match(/<td>\+10 %<\/td>/g)).toHaveLength(2);
    const said = terminalReport(summary, 80).split('\n');
    expect(said.slice(1, 6).map((line) => line.replaceAll('\u00a0', ' '))).toStrictEqual([
      '110 a day, 10 % more a day than the 100 before',
      'Compared by day: Sun 15 and Sat 28 Feb had no view at all',
      'The averages are of the 12 full days that had views in both spans',
      '2026-02-01 to 2026-02-14: 1,400 views',
      'Changes in the lists are of days that had views',
    ]);
  });

  it('changes no constant growth, in whichever span it is', () => {
    // From Monday on.
    const week = (views: number): number[] => [...times(5, views), ...times(2, 0.4 * views)];
    const gaps = fc.uniqueArray(fc.nat({ max: 6 }), { maxLength: 2 });
    const pages = (fromDay: string, counts: readonly number[], missing: readonly number[]) => {
      const left = counts.map((count, i) => (missing.includes(i) ? 0 : count));
      const of = (part: number): number[] => left.map((count) => Math.round(part * count));
      return [...daily(fromDay, of(2 / 3)), ...daily(fromDay, of(1 / 3), { url: '/b' })];
    };
    const isTenMore = (missingBefore: readonly number[], missing: readonly number[]): void => {
      const views = [
        ...pages('2026-02-16', week(300), missingBefore),
        ...pages('2026-02-23', week(330), missing),
      ];
      const summary = reportOn(views, {
        selection: { fromDay: '2026-02-23', toDay: '2026-03-01' },
      });
      const page = htmlReport(summary);
      expect(page).toContain('</span> 10 % more</b>');
      const changes = page.matchAll(/<td>([^\d<]\d[^<]*)<\/td><\/tr>/g);
      expect(Array.from(changes, ([, change]) => change)).toStrictEqual(times(3, '+10 %'));
      const said = terminalReport(summary, 80);
      expect(said.match(/10 % more( a day)? than/g)).toHaveLength(1);
      expect(said.match(/ % {2}\+10 % /g)).toHaveLength(3);
    };
    isTenMore([6], [0]);
    fc.assert(fc.property(gaps, gaps, isTenMore), { numRuns: 20 });
  });

  it('lets all rows of a list change together as the average day does', () => {
    const views = daily('2026-03-04', [100, 300, 200, 400, 0, 300]);
    const selection = { fromDay: '2026-03-07', toDay: '2026-03-09' };
    const page = htmlReport(reportOn(views, { selection }));
    // 400 and 300, beside 100 and 200.
    expect(page).toContain('<b>350</b><span>views a day</span>');
    expect(page).toContain('133 % more</b><span>a day than before: 150<');
    expect(page.match(/<td>\+133 %<\/td>/g)).toHaveLength(2);
  });

  it('that leaves no day to compare with leaves an average alone', () => {
    const views = daily('2026-03-05', [40, 0, 0, 50]);
    const selection = { fromDay: '2026-03-07', toDay: '2026-03-08' };
    const summary = reportOn(views, { selection });
    const page = htmlReport(summary);
    expect(page).toContain(
      '<li><p><b>50</b><span>views a day</span></p>' +
        '<small>The average is of the 1 full day that had views: ' +
        'Sat\u00a07\u00a0Mar had no view at all; ' +
        'of the 2 days before, Fri\u00a06\u00a0Mar had no view at all</small>' +
        '<small>In all: 50 views in 2 days; 40 in the 2 days before</small>',
    );
    expect(page).not.toContain('Change');
    const said = terminalReport(summary, 80);
    expect(said).not.toMatch(/change/i);
    expect(said).toMatch(/\nPages, [^\n]*\n[^\n]* 50 100 % {2}█/);
    const none = htmlReport(reportOn(daily('2026-03-05', [40, 0, 0, 0]), { selection }));
    expect(none).toContain(
      '<b>0</b><span>views in 2 days</span></p><p class="change"><b>' +
        '<span aria-hidden="true">↓</span> 40 fewer</b><span>than the 2 days before: 40<',
    );
    expect(none).toContain('<p class="faint">Whether views arrive is told by');
    expect(page).not.toContain('Whether views arrive');
  });

  it('takes no part of a day for a day that is averaged', () => {
    // Of the three days before, the last counts up to noon only.
    const views = daily('2026-03-09', [100, 100, 7, 110, 0, 30]);
    const { before } = reportOn(views, { selection: { fromDay: '2026-03-12' } });
    expect(before).toMatchObject({ views: 207, wholeDayViews: 200 });
    const page = htmlReport(reportOn(views, { selection: { fromDay: '2026-03-12' } }));
    expect(page).toContain('<b>110</b><span>views a day</span>');
    expect(page).toContain('10 % more</b><span>a day than before: 100<');
  });

  it('leaves the last seven days their average too', () => {
    const views = daily('2026-02-15', [...times(7, 100), ...times(6, 90), 0]);
    const selection = { fromDay: '2026-02-15', toDay: '2026-02-28' };
    const summary = reportOn(views, { selection });
    expect(htmlReport(summary)).toContain(
      '<b>90</b><span>a day in the last 7 days</span></p>' +
        '<p class="change also"><b><span aria-hidden="true">↓</span> 10 % fewer</b>' +
        '<span>a day than in the 7 before, on 6 days with views in both: 100</span></p>',
    );
    expect(terminalReport(summary, 80)).toContain(
      '\nLast 7 full days 90 views a day: 10 % fewer a day than the 100 of the 7 before, ' +
        'on 6 days with views in both\n',
    );
  });

  it('is named, the latest of many', () => {
    const said = (days: readonly string[]): string =>
      daysInShort(days.map((day) => `2026-${day}`)).replaceAll('\u00a0', ' ');
    expect(said(['11-12', '11-16', '11-17'])).toBe('Thu 12 and 16\u202f–\u202f17 Nov');
    expect(said(['10-30', '11-16'])).toBe('Fri 30 Oct and Mon 16 Nov');
    expect(said(['10-30', '11-01', '11-02', '11-04', '11-06'])).toBe(
      '1\u202f–\u202f2, Wed 4, Fri 6 Nov and 1 more before',
    );
  });

  it('of one project of several is told at the head, where it has views every day', () => {
    const listed = [
      SITE,
      { id: '2', name: 'Shop & more' },
      { id: '3', name: 'Rare' },
      { id: '4', name: 'New' },
    ];
    const views = [
      ...daily('2026-03-08', times(6, 30)),
      ...daily('2026-03-08', [20, 0, 0, 20, 20, 20], { p: '2' }),
      ...daily('2026-03-08', [1, 0, 0, 0, 0, 1], { p: '3' }),
    ];
    const selection = { fromDay: '2026-03-08', toDay: '2026-03-13' };
    const summary = reportOn(views, { selection, listed });
    const [shop, all] = ['9\u202f–\u202f10\u00a0Mar', '8\u202f–\u202f13\u00a0Mar'];
    expect(htmlReport(summary)).toContain(
      `<small>Shop &amp; more had no view on ${shop}</small><small>New had no view on ${all}</small></li>`,
    );
    expect(htmlReport(summary)).toContain(
      `<bdi>Shop &amp; more</bdi> <span class="faint"><bdi>no view on ${shop}</bdi></span>`,
    );
    // Its row is not compared with days on which it had views.
    const earlier = ['1000001', '2'].flatMap((p) => daily('2026-03-02', times(6, 20), { p }));
    const compared = htmlReport(reportOn([...earlier, ...views], { selection, listed }));
    const row = (name: string): string => new RegExp(`${name}.*?</tr>`).exec(compared)![0];
    expect(row('<bdi>Shop &amp; more')).toContain('<td>–</td>');
    expect(row('<bdi>Example site')).toContain('<td>+50 %</td>');
    const said = terminalReport(summary, 80);
    expect(said).toContain(`\nShop & more had no view on ${shop}\nNew had no view on ${all}\n`);
    const long = listed.map((entry) => ({ ...entry, name: `${entry.name} ${'x'.repeat(300)}` }));
    expect(htmlReport(reportOn(views, { selection, listed: long }))).toContain(
      `xx… had no view on ${shop}</small>`,
    );
    const one = reportOn(views, { selection: { ...selection, project: '2' }, listed });
    expect(htmlReport(one)).not.toContain('had no view on');
    const many = ['5', '6', '7'].map((id) => ({ id, name: `Site ${id}` }));
    const page = htmlReport(reportOn(views, { selection, listed: [...listed, ...many] }));
    expect(page).toContain(
      `<small>Site 5 had no view on ${all}</small><small>2 more projects had no view on some days</small>`,
    );
  });

  it.skipIf(!hasChromium())('is a strip far lower than a bar', async () => {
    const path = join(tempDir(), 'page.html');
    writeFileSync(path, report(few.map((count) => 5 * count)));
    const page = await newPage({ viewport: { width: 1280, height: 844 } });
    await page.goto(`file://${path}`);
    const [strip, plot] = await page.evaluate(() => {
      const [gap] = document.querySelectorAll('.plot .gap');
      const { height } = getComputedStyle(gap!, '::before');
      return [Number.parseFloat(height), gap!.getBoundingClientRect().height];
    });
    expect(strip).toBeGreaterThan(2);
    expect(strip).toBeLessThan(plot / 10);
  });

  it('is marked in the chart, whose key says so', () => {
    const page = report(few.map((count) => 5 * count));
    expect(
      page.match(
        /<span class="gap" title="\w+ \d+ Feb: no view at all"><small>none<\/small><\/span>/g,
      ),
    ).toHaveLength(2);
    expect(page).toContain('<p><span class="gap"></span>no view at all</p>');
  });

  it('says that no day is missing, and of what a weekday is, where that is so', () => {
    const page = (counts: readonly number[]): string =>
      htmlReport(
        reportOn(daily('2026-02-15', counts), {
          selection: { fromDay: '2026-02-15', toDay: `2026-02-${14 + counts.length}` },
        }),
      );
    expect(page(times(6, 1))).not.toContain('no day missing');
    expect(page(times(7, 1))).toContain('average of 7 full days; no day missing');
    expect(page([1, 0, ...times(5, 1)])).not.toContain('no day missing');
    // One is in the days before.
    const gap = daily('2026-02-08', [...times(6, 20), 0, ...times(7, 20)]);
    const selection = { fromDay: '2026-02-15', toDay: '2026-02-21' };
    expect(htmlReport(reportOn(gap, { selection }))).toContain(
      '<small>average of 7 full days</small>',
    );
    expect(page(times(13, 1))).toContain('Fewer than two full weeks, so this is not a pattern yet');
    expect(page(times(14, 1))).toContain('Views in an average week');
  });

  it('is told of the days before too, where they had views every day', () => {
    const of = (count: number, toDay: string): readonly [number | undefined, string] => {
      const days = ['2026-03-09', '2026-03-11', '2026-03-12', '2026-03-13', '2026-03-14'];
      const views = days.flatMap((day) => Array.from({ length: count }, () => view(at(day))));
      const summary = reportOn(views, { selection: { fromDay: '2026-03-12', toDay } });
      return [summary.before?.silentDays, htmlReport(summary)];
    };
    const told =
      '<b>as many</b><span>a day as before: 20</span></p><small>Compared by day: ' +
      'of the 3 days before, Tue\u00a010\u00a0Mar had no view at all. ' +
      'The averages are of the 1 full day that had views in both spans</small>';
    const [silent, page] = of(20, '2026-03-14');
    expect(silent).toBe(1);
    expect(page).toContain(told);
    expect(page).toContain('Change of days that had views<');
    // The average above is of one of them.
    expect(page).toContain(
      '<b>20</b><span>views on a usual day</span></p><small>average of 2 full',
    );
    // 60 views in three days, beside 40 in two.
    expect(page).toContain('<td>±0\u00a0views</td>');
    const few = of(19, '2026-03-14')[1];
    expect(few).not.toContain('had no view at all');
    expect(few).toContain('<td>+19\u00a0views</td>');
    // The last of the days before is no whole one, so it is not told.
    const cut = reportOn([view(at('2026-03-11')), view(at('2026-03-14'))], {
      selection: { fromDay: '2026-03-13' },
    });
    expect(cut.before).toMatchObject({ isCut: true, views: 1, silentDays: 0 });
  });

  it('is not told of days before the first view', () => {
    const views = daily('2026-03-04', [40, 0, 50, 60]);
    const selection = { fromDay: '2026-03-01', toDay: '2026-03-07' };
    const summary = reportOn(views, { selection });
    const page = htmlReport(summary);
    const told =
      'The average is of the 3 full days that had views: ' +
      'no view came before Wed\u00a04\u00a0Mar; Thu\u00a05\u00a0Mar had no view at all';
    expect(page).toContain(`<small>${told}</small><small>In all: 150 views in 7 days</small>`);
    expect(terminalReport(summary, 80)).toContain(
      `\n50 a day\n${told}\n2026-02-22 to 2026-02-28: 0 views\n`,
    );
    // It is not new where the days before had some.
    const earlier = reportOn([...daily('2026-02-22', [40]), ...views], { selection });
    expect(htmlReport(earlier)).toMatch(/: 1\s–\s3 and Thu\s5\sMar had no view at all/);
  });

  it('is none yet where it is today', () => {
    const views = Array.from({ length: 20 }, () => view(at('2026-03-13')));
    const page = htmlReport(reportOn(views, { selection: { fromDay: '2026-03-13' } }));
    expect(page).toContain('today so far');
    expect(page).not.toContain('no view at all');
  });

  it('is a day like others of a site with few', () => {
    const page = report(few);
    expect(page).not.toContain('no view at all');
    expect(page).toContain(
      '<b>3</b><span>views on a usual day</span></p><small>average of 14 full days</small>',
    );
  });
});

describe('the report for an owner', () => {
  it('names the busiest and the quietest weekday where there are two of each', () => {
    const days = ['02-23', '02-24', '02-25', '02-26', '02-27', '03-01'];
    const more = ['02-25', '03-02', '03-03', '03-04', '03-04', '03-04', '03-05', '03-06', '03-08'];
    const of = (fromDay: string): string =>
      htmlReport(
        reportOn(
          [...days, ...more].map((day) => view(at(`2026-${day}`))),
          { selection: { fromDay, toDay: '2026-03-08' } },
        ),
      );
    expect(of('2026-02-23')).toContain(
      '<b>Wednesday</b><span>busiest weekday</span></p>' +
        '<small>3 views a day; fewest on Saturday: 0</small>',
    );
    expect(of('2026-02-24')).not.toContain('weekday</span>');
    expect(of('2026-02-24')).toContain(
      '<b>Wed 4 Mar</b><span>busiest day</span></p><small>3 views</small>',
    );
  });

  it('says first, and in words, how it compares', () => {
    const views = [
      ...Array.from({ length: 100 }, (_, i) => view(at(`2026-03-0${2 + (i % 6)}`))),
      ...Array.from({ length: 112 }, (_, i) =>
        view(at(`2026-03-${String(8 + (i % 6)).padStart(2, '0')}`)),
      ),
    ];
    const before = { fromDay: '2026-03-08', toDay: '2026-03-13' };
    const page = htmlReport(reportOn(views, { selection: before }));
    expect(page).toContain(
      '<ul class="figures compared"><li><p><b>112</b><span>views in 6 days</span></p>' +
        '<p class="change"><b><span aria-hidden="true">↑</span> 12 % more</b>' +
        '<span>than the 6 days before: 100</span></p>',
    );
    expect(page).toContain('Change from<small>2\u202f–\u202f7\u00a0Mar</small>');
    const none = htmlReport(reportOn(views.slice(100), { selection: before }));
    expect(none).toContain('112 more</b><span>than the 6 days before: 0</span>');
    expect(none).not.toContain('Change');
  });

  it('says of a longer span how its last seven full days compare', () => {
    const views = ['01', '06', '07', '12', '13', '14'].map((day) => view(at(`2026-03-${day}`)));
    const page = (fromDay: string, toDay = '2026-03-14'): string =>
      htmlReport(reportOn(views, { selection: { fromDay, toDay } }));
    expect(page('2026-02-28')).toContain(
      '<p class="also"><b>3</b><span>in the last 7 full days</span></p>' +
        '<p class="change also"><b><span aria-hidden="true">↑</span> 1 more</b>' +
        '<span>than the 7 before: 2</span></p>',
    );
    expect(page('2026-02-28', '2026-03-13')).toContain('<span>in the last 7 days</span>');
    const selection = { fromDay: '2026-02-28', toDay: '2026-03-14' };
    expect(terminalReport(reportOn(views, { selection }), 80)).toContain(
      '\nLast 7 full days 3 views: 1 more than the 2 of the 7 before\n',
    );
    expect(page('2026-03-01')).not.toContain('in the last 7');
  });

  it('names the first source that has a name', () => {
    const page = (refs: readonly string[], url = '/'): string =>
      htmlReport(reportOn(refs.map((ref) => view(at('2026-03-10'), { ref, url }))));
    const url = '/?utm_campaign=winter&utm_source=mail';
    const both = page(['', '', 'https://www.bing.com/', 'https://www.example.com/'], url);
    expect(both).toContain(
      '<b class="name"><bdi>Bing</bdi></b><span>top known source</span></p>' +
        '<small>33 % of views that began a visit; 67 % direct or unknown</small>',
    );
    const direct = page(['']);
    expect(direct).toContain(
      '<bdi>Direct or unknown</bdi></b><span>top source</span></p>' +
        '<small>100 % of views that began a visit</small>',
    );
    expect(page(['https://www.bing.com/'])).toContain('<bdi>Bing</bdi></b><span>top source<');
    expect(page(['https://www.example.com/'])).not.toContain('source</span>');
  });

  it('says how many views came with a campaign, and the strongest as its table does', () => {
    const page = (urls: readonly string[]): string =>
      htmlReport(reportOn(urls.map((url) => view(at('2026-03-10'), { url }))));
    const sale = '/?utm_campaign=sale&utm_source';
    const some = page([
      `${sale}=mail&utm_medium=letter`,
      `${sale}=mail&utm_medium=letter`,
      `${sale}=ads`,
      '/a',
    ]);
    expect(some).toContain(
      '<b>75 %</b><span>of views came with a campaign</span></p>' +
        '<small>3 views, most with <bdi>sale</bdi> <bdi>mail · letter</bdi>: 2</small>',
    );
    expect(some).not.toContain('tagged link');
    const none = page(['/a']);
    expect(none).toContain('<a href="#campaigns">Campaigns</a>');
    expect(none).toContain(
      '<h2>Campaigns<small>No view came by a tagged link (utm_*)</small></h2></',
    );
  });

  it('has a card for the first page, before the one for the first source', () => {
    const views = [
      ...['/a', '/a', '/b'].map((url) => view(at('2026-03-10'), { url, pn: 'All & more' })),
      view(at('2026-03-10'), { url: '/b', p: '2' }),
    ];
    const one = htmlReport(reportOn(views.slice(0, 3)));
    expect(one).toContain(
      '<b class="name"><bdi>/a</bdi></b><span>top page</span></p>' +
        '<small><bdi>All &amp; more</bdi>, 67 % of all views</small>',
    );
    expect(one.indexOf('top page')).toBeLessThan(one.indexOf('top source'));
    expect(htmlReport(reportOn(views))).toContain(
      '<small><bdi>All &amp; more</bdi>, <bdi>Example site</bdi>, 50 % of all views</small>',
    );
    const long = { url: `/${'x'.repeat(300)}`, pn: '' };
    expect(htmlReport(reportOn([view(at('2026-03-10'), long)]))).toMatch(
      /<bdi>\/x{38}…<\/bdi><\/b><span>top page<\/span><\/p><small>100 % of/,
    );
  });

  it.skipIf(!hasChromium()).each([
    [1280, '2026-02-26', 7, 4],
    [800, '2026-02-26', 7, 2],
    [390, '2026-02-26', 7, 2],
    [1280, '2026-03-14', 3, 3],
    [390, '2026-03-14', 3, 2],
  ])(
    'has cards in columns that fill each row, at %i from %s',
    async (width, fromDay, ...counts) => {
      const url = fromDay === '2026-03-14' ? '/' : '/?utm_campaign=sale';
      const views = Array.from({ length: 14 }, (_, i) =>
        view(at(`2026-03-${String(i + 1).padStart(2, '0')}`), { url }),
      );
      const path = join(tempDir(), 'page.html');
      writeFileSync(path, htmlReport(reportOn(views, { selection: { fromDay } })));
      const page = await newPage({ viewport: { width, height: 900 } });
      await page.goto(`file://${path}`);
      const edges = await page.evaluate(() =>
        Array.from(document.querySelectorAll('.figures:not(.compared) li'), (card) => {
          const { left, right } = card.getBoundingClientRect();
          return [Math.round(left), Math.round(right)] as const;
        }),
      );
      const [cards, columns] = counts;
      expect([edges.length, new Set(edges.map(([left]) => left)).size]).toStrictEqual(counts);
      expect(edges[cards - 1]![1]).toBe(edges[columns - 1]![1]);
    },
  );

  it('hatches the running hour of today, where it is of today alone', () => {
    const views = ['11', '12'].map((hour) => view(at('2026-03-14', hour)));
    const today = htmlReport(reportOn(views, { selection: { fromDay: '2026-03-14' } }));
    expect(today.match(/class="partial" title="[^"]*"/g)).toStrictEqual([
      'class="partial" title="12:00 – 13:00, so far: 1"',
    ]);
    expect(today).toContain('<p><span class="partial"></span>this hour so far</p>');
    const more = htmlReport(reportOn(views, { selection: { fromDay: '2026-03-13' } }));
    expect(more).not.toContain('this hour so far');
  });

  it('ends with the days without views', () => {
    const views = [view(at('2026-03-10')), view(at('2026-03-12'))];
    const summary = reportOn(views);
    const page = htmlReport(summary);
    expect(page.indexOf('id="days-without-views"')).toBeGreaterThan(page.indexOf('id="templates"'));
    const said = terminalReport(summary, 80);
    expect(said).toMatch(/\nDays without views\n {2}Example site: 1 day, 2026-03-11$/);
  });

  it('has a link to each of its lists and charts of hours', () => {
    const page = htmlReport(
      reportOn([view(at('2026-03-10'), { url: '/?utm_campaign=x', orgreferer: 'https://t.co' })]),
    );
    const links = Array.from(page.matchAll(/<a href="#([a-z-]+)">(.*?)<\/a>/g), ([, id, title]) => {
      expect(page).toContain(`<section id="${id}"`);
      return title;
    });
    expect(links).toStrictEqual([
      'Pages',
      'Sources',
      'Campaigns',
      'Entry pages',
      'By hour of the day',
      'Languages',
      'Templates',
    ]);
    expect(htmlReport(reportOn([]))).not.toContain('<nav');
  });

  it.skipIf(!hasChromium())('has no links in print, and on the screen in one line', async () => {
    const path = join(tempDir(), 'page.html');
    writeFileSync(path, htmlReport(summary));
    const page = await newPage({ viewport: { width: 1280, height: 844 } });
    await page.goto(`file://${path}`);
    const height = (): number => document.querySelector('nav')!.getBoundingClientRect().height;
    const onScreen = await page.evaluate(height);
    expect(onScreen).toBeGreaterThan(0);
    expect(onScreen).toBeLessThan(40);
    await page.emulateMedia({ media: 'print' });
    expect(await page.evaluate(height)).toBe(0);
  });

  it.skipIf(!hasChromium()).each([1280, 390])(
    'has the text of tables under their headings at %i',
    async (width) => {
      const path = join(tempDir(), 'page.html');
      writeFileSync(path, htmlReport(summary));
      const page = await newPage({ viewport: { width, height: 844 } });
      await page.goto(`file://${path}`);
      const lefts = await page.evaluate(() =>
        Array.from(
          document.querySelectorAll('#pages h2, #pages th > bdi, #pages .page > bdi'),
          (element) => {
            const range = document.createRange();
            range.selectNodeContents(element);
            return Math.round(range.getBoundingClientRect().left);
          },
        ),
      );
      expect(lefts.length).toBeGreaterThan(1);
      expect(new Set(lefts).size).toBe(1);
    },
  );

  it.skipIf(!hasChromium())(
    'has on a phone the title first, and the path in one line',
    async () => {
      const path = join(tempDir(), 'page.html');
      const long = {
        url: '/shop/winter-jackets-and-other-warm-things-for-the-family',
        pn: 'Winter jackets and other warm things for the whole family and for others',
      };
      const untitled = { url: `${long.url}/${long.url}/${long.url}`, pn: undefined };
      const views = [long, { ...long, p: '7' }, untitled].map((change) =>
        view(at('2026-03-10'), change),
      );
      writeFileSync(path, htmlReport(reportOn(views)));
      const page = await newPage({ viewport: { width: 390, height: 844 } });
      await page.goto(`file://${path}`);
      const heights = await page.evaluate(() =>
        Array.from(
          document.querySelectorAll('#pages tbody tr'),
          (row) => row.getBoundingClientRect().height,
        ),
      );
      expect(heights).toHaveLength(3);
      const titles = await page.evaluate(() =>
        Array.from(document.querySelectorAll('#pages .title'), ({ textContent }) => textContent),
      );
      expect(titles).toContain(untitled.url);
      expect(Math.max(...heights)).toBeLessThan(5 * 21);
      const [row] = await page.evaluate(() =>
        Array.from(document.querySelectorAll('#pages tbody th'), (head) => {
          const [url, title] = head.querySelectorAll('bdi');
          const of = (element: Element): DOMRect => element.getBoundingClientRect();
          return {
            isTitleFirst: of(title!).bottom <= of(url!).top,
            path: of(url!).height,
            title: of(title!).height,
            isCut: url!.scrollWidth > url!.clientWidth,
          };
        }),
      );
      expect(row).toMatchObject({ isTitleFirst: true, isCut: true });
      expect(row!.path).toBeLessThan(24);
      expect(row!.title).toBeGreaterThan(30);
    },
  );

  it('has the projects first, where there are several', () => {
    const page = htmlReport(summary);
    expect(page.indexOf('<h2>Projects')).toBeGreaterThan(0);
    expect(page.indexOf('<h2>Projects')).toBeLessThan(page.indexOf('<h2>Pages'));
  });

  const views = [
    view(at('2026-03-12'), { ubl: 'nb-NO' }),
    view(at('2026-03-13'), { p: '7', url: '/x?utm_source=mail' }),
    view(at('2026-03-14')),
  ];
  const summary = reportOn(views, { selection: { fromDay: '2026-03-08', toDay: '2026-03-14' } });

  it('names projects, languages, its making and its time zone', () => {
    const page = htmlReport(summary);
    expect(page).toContain('<h1>Page views</h1>');
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

  it('keeps each name to itself, whichever way it is written', () => {
    const listed = [SITE, { id: '7', name: 'متجر \u202e' }];
    const mixed = reportOn(
      [view(at('2026-03-13'), { p: '7', url: '/כ', pn: 'می\u200cخ' }), view(at('2026-03-13'))],
      { listed },
    );
    expect(htmlReport(mixed)).toContain(
      '<bdi dir="ltr">/כ</bdi> <span class="faint"><bdi class="title">می\u200cخ</bdi>' +
        '<span> · </span><bdi>متجر \\u202e</bdi>',
    );
    expect(htmlReport(mixed)).not.toContain('\u202e');
  });

  it('says once that there are no views, and how many there were before', () => {
    const selection = { fromDay: '2026-03-08' };
    const summary = reportOn([], { selection });
    const page = htmlReport(summary);
    expect(page).toContain('<h1>Page views of <bdi>Example site</bdi></h1>');
    expect(page).toMatch(/<p>8\s–\s14 March 2026<\/p>/);
    expect(page).toMatch(
      /<ul class="figures compared"><li><p><b>0<\/b><span>views in 7 days<\/span><\/p><small>None in the 7 days before either<\/small><\/li><\/ul>\s*<p class="faint">Whether[^<]*<\/p>\s*<\/main>/,
    );
    expect(terminalReport(summary, 80)).toBe(
      '0 views: all projects, 2026-03-08 to 2026-03-14 (UTC)',
    );
    const before = htmlReport(reportOn([view(at('2026-03-03'))], { selection }));
    expect(before).toMatch(/14 March 2026, compared with 1\s–\s7 March 2026, the last day up to/);
    expect(before).toContain('1 fewer</b><span>than the 7 days before: 1<');
    expect(before).not.toContain('Days without views');
  });

  it.skipIf(!hasChromium()).each([1280, 1000, 390])(
    'has cards as wide as they need at %i',
    async (width) => {
      const path = join(tempDir(), 'page.html');
      const before = { ...summary.before!, views: 112_627 };
      writeFileSync(path, htmlReport({ ...summary, views: 130_106, before }));
      const page = await newPage({ viewport: { width, height: 900 } });
      await page.goto(`file://${path}`);
      const cut = await page.evaluate(() =>
        Array.from(document.querySelectorAll('.figures *'))
          .filter(({ scrollWidth, clientWidth }) => scrollWidth > clientWidth)
          .map((element) => element.outerHTML),
      );
      expect(cut).toStrictEqual([]);
    },
  );

  it.skipIf(!hasChromium()).each([1280, 390])(
    'breaks no figure over lines at %i',
    async (width) => {
      const views = Array.from({ length: 14 }, (_, i) => i + 1).flatMap((day) =>
        Array.from({ length: day < 8 ? 100 : 123 }, () =>
          view(at(`2026-03-${String(day).padStart(2, '0')}`), {
            pn: 'A page with a name of many words',
            url: '/a/path/that/is/long',
          }),
        ),
      );
      const path = join(tempDir(), 'page.html');
      const summary = reportOn(views, { selection: { fromDay: '2026-03-08' } });
      writeFileSync(path, htmlReport({ ...summary, views: 1_234_567 }));
      const page = await newPage({ viewport: { width, height: 844 } });
      await page.goto(`file://${path}`);
      const [figures, broken] = await page.evaluate(() => {
        const texts = Array.from(document.querySelectorAll('.figures b:not(.name), tbody td'));
        const lines = (element: Element): number => {
          const range = document.createRange();
          range.selectNodeContents(element);
          return new Set(Array.from(range.getClientRects(), ({ top }) => Math.round(top))).size;
        };
        return [
          texts.map(({ textContent }) => textContent),
          texts.filter((element) => lines(element) !== 1).map((element) => element.outerHTML),
        ];
      });
      expect(figures).toContain('↑ 176,267 % more');
      expect(figures).toContain('+23 %');
      expect(broken).toStrictEqual([]);
    },
  );

  it.skipIf(!hasChromium())('has beside each share a bar of that part of its track', async () => {
    const path = join(tempDir(), 'page.html');
    const urls = ['/a', '/a', '/a', '/b'];
    writeFileSync(path, htmlReport(reportOn(urls.map((url) => view(at('2026-03-10'), { url })))));
    const page = await newPage({ viewport: { width: 1280, height: 844 } });
    await page.goto(`file://${path}`);
    const [bars, head, track] = await page.evaluate(() => {
      const [table] = document.querySelectorAll('table');
      const cells = Array.from(table!.querySelectorAll('tbody .share'));
      const styles = cells.map((cell) => getComputedStyle(cell, '::after'));
      return [
        styles.map(({ backgroundSize }) => backgroundSize.split(' ')[0]),
        table!.querySelector('.share small')!.getBoundingClientRect().width,
        Number.parseFloat(styles[0]!.width),
      ];
    });
    expect(bars).toStrictEqual(['75%', '25%']);
    expect(head).toBe(track);
  });

  it.skipIf(!hasChromium())(
    'has the last seven days under the total they are part of',
    async () => {
      const path = join(tempDir(), 'page.html');
      const all = ['2026-02-20', '2026-03-13'].map((day) => view(at(day)));
      writeFileSync(path, htmlReport(reportOn(all)));
      const page = await newPage({ viewport: { width: 1280, height: 844 } });
      await page.goto(`file://${path}`);
      const [total, seven] = await page.evaluate(() =>
        Array.from(
          document.querySelectorAll('.compared li:first-child p:not(.change)'),
          (element) => {
            const { left, top } = element.getBoundingClientRect();
            return { left, top };
          },
        ),
      );
      expect(seven!.left).toBe(total!.left);
      expect(seven!.top).toBeGreaterThan(total!.top);
    },
  );

  it.skipIf(!hasChromium())('keeps a heading with its table in print', async () => {
    const path = join(tempDir(), 'page.html');
    writeFileSync(path, htmlReport(summary));
    const page = await newPage();
    await page.emulateMedia({ media: 'print' });
    await page.goto(`file://${path}`);
    const sections = await page.evaluate(() =>
      Array.from(document.querySelectorAll('section'), (section) => [
        getComputedStyle(section).breakInside,
        // What a grid holds is moved to the next page as a whole row, with all that follows.
        getComputedStyle(section.parentElement!).display,
      ]),
    );
    expect(new Set(sections.map(String))).toStrictEqual(new Set(['avoid,block']));
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

  it('reads the day a week ago, to compare today with', async () => {
    const data = dataDirectory({ projects: [SITE] });
    const day = new Date(Date.now() - 7 * 86_400_000).toISOString().slice(0, 10);
    writeFileSync(join(data, `views-${day}.ndjson`), `${view(at(day, '00'))}\n`);
    const { stdout } = await run(['report', '--from', 'today', '--time-zone=UTC', '--json'], {
      data,
    });
    expect(JSON.parse(stdout)).toMatchObject({ views: 0, today: { views: 0, weekAgo: 1 } });
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
