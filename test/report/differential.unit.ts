// Adds up random views a second time, one by one and without the report's code, and compares every
// number. REPORT_SEED=n repeats one case.
import { isDeepStrictEqual } from 'node:util';
import { expect, it } from 'vitest';
import type { Report } from '../../src/report/schema.ts';
import { Random } from '../simulation/random.ts';
import { reportOn, SITE, viewAt } from './report-on.ts';

const rounded = (average: number): number =>
  average < 10 ? Math.round(10 * average) / 10 : Math.round(average);

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const CASES = 250;
const seeds = process.env['REPORT_SEED']
  ? [Number(process.env['REPORT_SEED'])]
  : Array.from({ length: CASES }, (_, i) => i + 1);

/** Zones with and without clock changes: at midnight, by half an hour, by a whole day. */
const ZONES = [
  'UTC Europe/Oslo America/New_York America/St_Johns America/Havana Africa/Cairo Asia/Beirut',
  'Africa/Casablanca Asia/Kathmandu Australia/Lord_Howe Pacific/Chatham Pacific/Kiritimati',
  'Pacific/Apia Etc/GMT+12 America/Santiago',
].flatMap((names) => names.split(' '));
/** Referrers with their sources. Project 1000001 lists the first site; the others list none. */
const FROM: readonly (readonly [referrer: string, source: string])[] = [
  ['', '(none)'],
  ['https://www.example.com/', 'example.com'],
  ['https://example.com/a', 'example.com'],
  ['https://shop.example/b?c=d', 'shop.example'],
  ['https://www.shop.example/', 'shop.example'],
  ['https://www.google.co.uk/', 'Google'],
  ['android-app://com.slack/', 'Slack'],
  ['https://news.example/a', 'news.example'],
  ['/a', '(internal)'],
  ['nonsense', '(not an address)'],
];
const URLS: readonly (readonly [url: string, page: string, pageWithQuery: string])[] = [
  ['/', '/', '/'],
  ['/a', '/a', '/a'],
  ['/b?c=d', '/b', '/b?c=d'],
  ['/caf%C3%A9', '/café', '/café'],
  ['/caf%c3%a9#top', '/café', '/café#top'],
  ['/?utm_source=x&utm_campaign=spring+sale', '/', '/?utm_source=x&utm_campaign=spring+sale'],
  ['/new\n?\n', '/new\n', '/new\n?\n'],
  ['/?utm_campaign=spring%20sale&utm_source=x', '/', '/?utm_campaign=spring sale&utm_source=x'],
];
const TAGS = ['en-US', 'en-us', 'EN-US', 'nb-NO', 'zh-hant-tw', 'x y', undefined];
const TAG_NAMES: Record<string, string> = {
  'en-us': 'en-US',
  'nb-no': 'nb-NO',
  'zh-hant-tw': 'zh-Hant-TW',
  'x y': 'x y',
};

interface View {
  readonly ts: string;
  readonly p: string;
  readonly url: string;
  readonly pn: string | undefined;
  readonly ubl: string | undefined;
  readonly ref: string;
  readonly orgreferer: string | undefined;
  readonly content: { readonly templateId: string } | undefined;
}

/** Returns a function that returns the local day of a time, and what the clock shows. */
function clockOf(timeZone: string) {
  const format = new Intl.DateTimeFormat('sv-SE', {
    timeZone,
    dateStyle: 'short',
    timeStyle: 'medium',
  });
  return (ms: number): [day: string, clock: string] => {
    const [day = '', clock = ''] = format.format(ms).split(' ');
    return [day, `${clock}.${String(ms % 1000).padStart(3, '0')}`];
  };
}

const CHANGES = new Map<string, number[]>();

/**
 * Returns the starts, in UTC, of the days on which a zone's clocks change; if none do, of the year.
 */
function changesOf(timeZone: string, year: number): number[] {
  const key = `${timeZone} ${year}`;
  const known = CHANGES.get(key);
  if (known !== undefined) return known;
  const clock = clockOf(timeZone);
  const shown = Array.from({ length: 366 }, (_, i) => clock(Date.UTC(year, 0, 1 + i)).join(' '));
  const changed = shown.flatMap((one, i) =>
    i > 0 && shown[i - 1]!.slice(11) !== one.slice(11) ? [Date.UTC(year, 0, i)] : [],
  );
  CHANGES.set(key, changed.length > 0 ? changed : [Date.UTC(year, 0)]);
  return CHANGES.get(key)!;
}

/** Returns a case: the options of the report, and the views in order. */
function caseOf(seed: number) {
  const random = new Random(seed);
  const timeZone = random.pick(ZONES);
  const changes = changesOf(timeZone, random.pick([2011, 2024, 2025, 2026]));
  const changeMs = random.pick(changes);
  // Many views are close to the clock change, or to the present time of day.
  const now = new Date(changeMs + Math.floor(random.next() * random.pick([2, 20]) * DAY_MS));
  const dayBefore = (days: number): string =>
    new Date(now.getTime() - days * DAY_MS).toISOString().slice(0, 10);
  const [late, early] = [random.below(25) - 5, random.below(20)];
  const asked = random.pick<{ fromDay?: string; toDay?: string; last?: number }>([
    {},
    { toDay: dayBefore(late) },
    { fromDay: random.pick(['today', 'yesterday', dayBefore(early)]) },
    {
      fromDay: dayBefore(late + early),
      toDay: random.pick(['today', 'yesterday', dayBefore(late)]),
    },
    { last: 1 + random.below(30) },
    { last: 1 + random.below(30), toDay: random.pick(['today', 'yesterday', dayBefore(late)]) },
  ]);
  const ages = [
    () => random.next() * 60 * DAY_MS,
    () => random.next() * 3 * DAY_MS,
    () => random.below(1 + random.below(40)) * DAY_MS + (random.next() - 0.5) * 3 * HOUR_MS,
    () => DAY_MS + (random.next() - 0.5) * 3 * HOUR_MS,
    () => now.getTime() - changeMs + (random.next() - 0.5) * 2 * DAY_MS,
  ];
  const times = Array.from(
    { length: random.below(120) },
    () => now.getTime() - Math.abs(random.pick(ages)()),
  );
  const views = times
    .sort((a, b) => a - b)
    .map((ms): View => {
      const template = random.pick(['t1', 't2', undefined]);
      return {
        ts: new Date(ms).toISOString(),
        p: random.pick(['1000001', '1000001', '2', '3']),
        url: random.pick(URLS)[0],
        pn: random.pick(['Home', 'Old', 'Høst', '', undefined]),
        ubl: random.pick(TAGS),
        ref: random.pick(FROM)[0],
        orgreferer: random.pick([...FROM.map(([referrer]) => referrer), undefined, undefined]),
        content: template === undefined ? undefined : { templateId: template },
      };
    });
  const project = random.pick([undefined, undefined, undefined, '1000001', '2']);
  return { asked, now, views, timeZone, project, keepsQuery: random.chance(0.3) };
}

/** Computes all numbers of a report, view by view. */
function expectedOf({
  asked,
  now,
  views,
  timeZone,
  project,
  keepsQuery,
}: ReturnType<typeof caseOf>) {
  const local = clockOf(timeZone);
  const plus = (day: string, days: number): string =>
    new Date(Date.parse(day) + days * DAY_MS).toISOString().slice(0, 10);
  const range = (from: string, to: string): string[] => {
    const days = [];
    for (let day = from; day <= to; day = plus(day, 1)) days.push(day);
    return days;
  };
  const [today, clockNow] = local(now.getTime());
  /** Returns whether the clock on that day had not yet reached the present time of day. */
  const isEarlier = (ms: number): boolean => {
    const [day, clock] = local(ms);
    if (clock >= clockNow) return false;
    for (let ago = 1; ago <= 12; ago++) {
      const [dayThen, clockThen] = local((Math.floor(ms / 900_000) - ago) * 900_000 + 899_999);
      if (dayThen === day && clockThen >= clockNow) return false;
    }
    return true;
  };
  const dayOf = (word: string | undefined) =>
    word === 'today' ? today : word === 'yesterday' ? plus(today, -1) : word;
  const to = dayOf(asked.toDay) ?? (asked.last ? today : undefined);
  const from = asked.last ? plus(to!, 1 - asked.last) : dayOf(asked.fromDay);
  const end = to !== undefined && to < today ? to : today;
  const hasToday = end === today && !(from !== undefined && from > today);
  const length = from === undefined ? 0 : range(from, end).length;
  const before = length > 0 ? range(plus(from!, -length), plus(from!, -1)) : [];
  const mine = views
    .filter(({ p }) => project === undefined || p === project)
    .map((view) => ({ ...view, ms: Date.parse(view.ts), day: local(Date.parse(view.ts))[0] }));
  const chosen = mine.filter(({ day }) => (!from || day >= from) && (!to || day <= to));
  const earlier = mine.filter(
    ({ day, ms }) => before.includes(day) && (day !== before.at(-1) || !hasToday || isEarlier(ms)),
  );
  const seen = chosen.map(({ day }) => day).sort();
  const first = from ?? seen[0];
  const last = [from === undefined ? '' : end, seen.at(-1) ?? ''].sort().at(-1)!;
  const days = (first === undefined || last === '' ? [] : range(first, last)).map((day) => {
    const hours = Array.from({ length: 24 }, () => 0);
    const ofDay = chosen.filter((view) => view.day === day);
    for (const { ms } of ofDay) hours[Number(local(ms)[1].slice(0, 2))]! += 1;
    return { day, views: ofDay.length, hours, ...(day === today && { isPartial: true }) };
  });
  const full = days.filter(({ day }) => day !== today);
  const total = (some: readonly { views: number }[]) =>
    some.reduce((sum, { views }) => sum + views, 0);
  const hours = Array.from({ length: 24 }, (_, i) =>
    days.reduce((sum, day) => sum + day.hours[i]!, 0),
  );
  const most = (counts: readonly number[]): number => counts.indexOf(Math.max(...counts));
  const spans = (some: readonly string[]) =>
    some
      .filter((day) => !some.includes(plus(day, -1)))
      .map((fromDay) => {
        let toDay = fromDay;
        while (some.includes(plus(toDay, 1))) toDay = plus(toDay, 1);
        return { fromDay, toDay };
      });
  const week = (at: number) => total(full.slice(full.length - at, full.length - at + 7));
  const yesterday = mine.filter(({ day, ms }) => day === plus(today, -1) && isEarlier(ms)).length;
  const todays = mine.filter(({ day }) => day === today).length;
  const lastSeen =
    chosen
      .map(({ day }) => day)
      .sort()
      .at(-1) ?? today;
  const withBefore = new Set([...chosen, ...earlier]);
  const inOrder = mine.filter((view) => withBefore.has(view));

  const label = (referrer: string): string => FROM.find(([text]) => text === referrer)![1];
  const isOwn = (id: string, referrer: string): boolean =>
    label(referrer) === '(internal)' || (id === '1000001' && label(referrer) === 'example.com');

  const pageOf = ({ p, url }: View): string => {
    const [, page, pageWithQuery] = URLS.find(([text]) => text === url)!;
    return `${p} ${keepsQuery ? pageWithQuery : page}`;
  };
  const count = (nameIn: (view: View) => string | undefined) => {
    const counts = new Map<string, [count: number, before: number]>();
    for (const view of inOrder) {
      const name = nameIn(view);
      if (name === undefined) continue;
      const [now, then] = counts.get(name) ?? [0, 0];
      counts.set(name, chosen.includes(view) ? [now + 1, then] : [now, then + 1]);
    }
    return [...counts]
      .filter(([, [now]]) => now > 0)
      .map(([name, [now, then]]) => String([name, now, earlier.length > 0 ? then : undefined]))
      .sort();
  };
  const isEntry = ({ p, ref, orgreferer }: View) =>
    !isOwn(p, ref || (orgreferer ?? '')) && [undefined, ref].includes(orgreferer);
  const isReferred = ({ p, ref, orgreferer }: View) => !isOwn(p, orgreferer ?? ref);
  const hasCampaign = ({ url }: View) => url.includes('utm_');
  const titles = new Map<string, Map<string, number>>();
  for (const view of chosen) {
    const counts = titles.get(pageOf(view)) ?? new Map<string, number>();
    if (view.pn) titles.set(pageOf(view), counts.set(view.pn, (counts.get(view.pn) ?? 0) + 1));
  }
  const listed = [SITE, { id: '2' }, { id: '3', active: false }];
  return {
    numbers: {
      timeZone,
      ...(from && { fromDay: from }),
      ...(to && { toDay: to }),
      ...(project && { project }),
      views: chosen.length,
      ...(before.length > 0 && {
        before: {
          fromDay: before[0],
          toDay: before.at(-1),
          isCut: hasToday,
          views: earlier.length,
          silentSpans: spans(
            before
              .slice(0, hasToday ? -1 : undefined)
              .filter((day) => !earlier.some((view) => view.day === day)),
          ),
        },
      }),
      ...(hasToday &&
        todays + yesterday > 0 && { today: { day: today, views: todays, yesterday } }),
      ...(full.length >= 14 && { lastWeek: { views: week(7), before: week(14) } }),
      ...(full.length > 0 && { averageDay: rounded(total(full) / full.length) }),
      ...(chosen.length > 0 && {
        busiestDay: (({ day, views }) => ({ day, views }))(
          days[most(days.map(({ views }) => views))]!,
        ),
        busiestHour: { hour: most(hours), views: Math.max(...hours) },
      }),
      invalidLines: 0,
      brokenFiles: 0,
      days,
      hours,
      silentSpans: spans(full.filter(({ views }) => views === 0).map(({ day }) => day)),
      ...((!to || to >= today) && lastSeen < plus(today, -1) && { silentSince: lastSeen }),
      entryViews: chosen.filter(isEntry).length,
      internalViews: chosen.filter((view) => !isReferred(view)).length,
      campaignViews: chosen.filter(hasCampaign).length,
    },
    silentDays: ['1000001', '2', '3']
      .filter((id) => (id !== '3' && (project ?? id) === id) || inOrder.some(({ p }) => p === id))
      .map((id) => {
        const its = inOrder.filter(({ p }) => p === id);
        const silent = full
          .map(({ day }) => day)
          .filter((day) => day > (its[0]?.day ?? '') && !its.some((view) => view.day === day));
        const views = its.filter((view) => chosen.includes(view)).length;
        return { project: id, views, days: silent.length, spans: spans(silent) };
      })
      .filter(({ views, days }) => views === 0 || days > 0),
    lists: {
      projects: count(({ p }) => p),
      pages: count(pageOf),
      entryPages: count((view) => (isEntry(view) ? pageOf(view) : undefined)),
      referrers: count((view) =>
        isReferred(view) ? label(view.orgreferer ?? view.ref) : undefined,
      ),
      campaigns: count((view) => (hasCampaign(view) ? 'spring sale x ' : undefined)),
      languages: count(({ ubl }) => (ubl === undefined ? '(none)' : TAG_NAMES[ubl.toLowerCase()])),
      templates: count(({ content }) => content?.templateId ?? '(none)'),
    },
    titles,
    listed,
  };
}

const LISTS = [
  'projects',
  'pages',
  'entryPages',
  'referrers',
  'campaigns',
  'languages',
  'templates',
] as const;

const nameOf = (key: Report['pages' | 'projects' | 'campaigns']['top'][number]['key']): string => {
  if (typeof key === 'string') return key;
  return 'url' in key ? `${key.project} ${key.url}` : `${key.campaign} ${key.source} ${key.medium}`;
};

/** Compares without `expect` first, because that is much faster. */
function compare(seed: number, found: unknown, expected: unknown): void {
  if (!isDeepStrictEqual(found, expected)) {
    expect(found, `REPORT_SEED=${seed}`).toStrictEqual(expected);
  }
}

it('every number of a report equals the result of a second, separate computation', () => {
  for (const seed of seeds) {
    const scene = caseOf(seed);
    const { numbers, lists, silentDays, titles, listed } = expectedOf(scene);
    const { asked, views, ...rest } = scene;
    const lines = views.map(({ ts, ...view }) => viewAt(ts, view));
    const report = reportOn(lines, { ...rest, ...asked, listed, top: 1000 });
    const json = JSON.parse(JSON.stringify(report)) as Report;
    const others = new Set(['version', 'madeAt', 'projectNames', 'silentDays', ...LISTS]);
    const figures = Object.entries(json).filter(([name]) => !others.has(name));
    compare(seed, Object.fromEntries(figures), JSON.parse(JSON.stringify(numbers)));
    const byProject = json.silentDays.toSorted((a, b) => (a.project < b.project ? -1 : 1));
    compare(seed, byProject, silentDays);
    for (const name of LISTS) {
      const { top, distinct, isExact } = report[name];
      const rows = top.map(({ key, count, before }) => String([nameOf(key), count, before])).sort();
      const expected = { name, distinct: rows.length, isExact: true, rows: lists[name] };
      compare(seed, { name, distinct, isExact, rows }, expected);
      const counts = top.map(({ count }) => count);
      compare(
        seed,
        counts,
        counts.toSorted((a, b) => b - a),
      );
    }
    for (const { key } of [...report.pages.top, ...report.entryPages.top]) {
      const counts = titles.get(nameOf(key)) ?? new Map<string, number>();
      compare(seed, [key, counts.get(key.name) ?? 0], [key, Math.max(0, ...counts.values())]);
    }
  }
});
