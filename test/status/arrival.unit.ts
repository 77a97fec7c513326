import { describe, expect, it } from 'vitest';
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../src/base/time.ts';
import { isTrouble, stateOf } from '../../src/status/arrival.ts';
import { ProjectActivity } from '../../src/status/counts.ts';
import { headlineOf, type Judged, type Words } from '../../src/status/headline.ts';
import { SampleBudget } from '../../src/status/sample-budget.ts';

// Is my site arriving? The rule, without a browser.

const NOW = Date.parse('2026-11-21T12:00:00.000Z');

/** Views and refusals, as how many there were and how long ago. */
function activityOf(accepted: readonly [number, number][], refused: readonly [number, number][]) {
  const activity = new ProjectActivity(new SampleBudget(0));
  for (const [count, agoMs] of accepted) {
    for (let i = 0; i < count; i++) activity.acceptedEarlier(NOW - agoMs, NOW);
  }
  for (const [count, agoMs] of refused) {
    for (let i = 0; i < count; i++) activity.refusedEarlier(NOW - agoMs, NOW);
  }
  return activity;
}

const judged = (
  accepted: readonly [number, number][],
  refused: readonly [number, number][] = [],
  active = true,
): string => stateOf({ active }, activityOf(accepted, refused), NOW);

const YESTERDAY = DAY_MS + HOUR_MS;

describe('a listed project', () => {
  it('is in the red where all its views of the last hour were refused, one or many', () => {
    expect(judged([], [[1, MINUTE_MS]])).toBe('all-refused');
    expect(judged([[500, 2 * HOUR_MS]], [[90, 59 * MINUTE_MS]])).toBe('all-refused');
    expect(judged([[1, MINUTE_MS]], [[1, MINUTE_MS]])).toBe('some-refused');
    expect(judged([], [[90, HOUR_MS]])).toBe('no-view');
    expect(judged([], [[1, MINUTE_MS]], false)).toBe('all-refused');
  });

  it('is in the amber where more than one in ten were refused', () => {
    expect(judged([[90, MINUTE_MS]], [[10, MINUTE_MS]])).toBe('arriving');
    expect(judged([[89, MINUTE_MS]], [[10, MINUTE_MS]])).toBe('some-refused');
    expect(judged([[89, MINUTE_MS]], [[10, 61 * MINUTE_MS]])).toBe('arriving');
  });

  it('has fallen silent by its own habit: 20 views in the same three hours of yesterday', () => {
    const last: [number, number] = [1, 3 * HOUR_MS];
    expect(judged([[20, YESTERDAY], last])).toBe('silent');
    expect(judged([[19, YESTERDAY], last])).toBe('quiet');
    expect(
      judged([
        [20, YESTERDAY],
        [1, 3 * HOUR_MS - 1],
      ]),
    ).toBe('quiet');
    // Before and after those hours.
    expect(judged([[20, DAY_MS - QUARTER], last])).toBe('quiet');
    expect(judged([[20, DAY_MS + 3 * HOUR_MS + QUARTER], last])).toBe('quiet');
    expect(judged([[20, DAY_MS + 3 * HOUR_MS], last])).toBe('silent');
    expect(judged([[20, DAY_MS + 1], last])).toBe('silent');
    expect(judged([[20, YESTERDAY], last], [], false)).toBe('inactive');
  });

  it('of five views a day raises no alarm', () => {
    expect(judged([[5, YESTERDAY]])).toBe('quiet');
    expect(judged([])).toBe('no-view');
    expect(judged([], [], false)).toBe('inactive');
  });

  it('that is not active is not said to arrive, whatever was taken before', () => {
    expect(judged([[5, MINUTE_MS]], [], false)).toBe('inactive');
  });
});

describe('while nothing can be stored, a listed project', () => {
  const inOutage = (
    accepted: readonly [number, number][],
    refused: readonly [number, number][],
    notStored: number,
  ): string => stateOf({ active: true }, activityOf(accepted, refused), NOW, notStored);

  it('is not judged by what was refused for that alone', () => {
    expect(inOutage([[90, MINUTE_MS]], [[30, MINUTE_MS]], 30)).toBe('not-stored');
    expect(inOutage([], [[30, MINUTE_MS]], 30)).toBe('not-stored');
  });

  it('is judged by its own refusals, as if the others had been taken', () => {
    expect(inOutage([], [[30, MINUTE_MS]], 0)).toBe('all-refused');
    expect(inOutage([], [[30, MINUTE_MS]], 27)).toBe('not-stored');
    expect(inOutage([], [[30, MINUTE_MS]], 26)).toBe('some-refused');
  });

  it('is not said to be quiet, as if well, where none of its views came; silent where it was', () => {
    expect(inOutage([[90, MINUTE_MS]], [], 0)).toBe('halted');
    expect(inOutage([[1, 2 * HOUR_MS]], [], 0)).toBe('halted');
    expect(inOutage([[20, YESTERDAY]], [], 0)).toBe('silent');
  });
});

describe('nearly all refused', () => {
  it('is red from nine in ten on', () => {
    expect(judged([[10, MINUTE_MS]], [[90, MINUTE_MS]])).toBe('most-refused');
    expect(judged([[11, MINUTE_MS]], [[90, MINUTE_MS]])).toBe('some-refused');
  });
});

describe('what has been mended', () => {
  const now = 9 * MINUTE_MS;
  const before = 11 * MINUTE_MS;

  it('is no trouble any more once ten minutes had views, and no refusal', () => {
    expect(judged([[1, now]], [[20, before]])).toBe('mended');
    expect(
      judged(
        [[1, now]],
        [
          [20, before],
          [1, now],
        ],
      ),
    ).toBe('most-refused');
    expect(judged([[1, before]], [[20, before]])).toBe('most-refused');
    expect(judged([], [[20, before]])).toBe('all-refused');
  });

  it('is not told by ten minutes where refusals came more rarely', () => {
    expect(judged([[1, now]], [[19, before]])).toBe('most-refused');
  });
});

/** More by day than by night: one in 0.55 of them at 14:00, a tenth of that at 2:00. */
const byDay = (hour: number): number => 0.55 - 0.45 * Math.cos(((hour - 2) / 24) * 2 * Math.PI);
const evenly = (): number => 0.55;

/** How a site fares that stops at 14:00, by quarters of an hour after that. */
function afterStop(viewsADay: number, share: (hour: number) => number): string[] {
  const midnight = Date.parse('2026-11-20T00:00:00.000Z');
  const stopMs = midnight + DAY_MS + 14 * HOUR_MS;
  const activity = new ProjectActivity(new SampleBudget(0));
  let views = 0;
  for (let atMs = midnight - 14 * HOUR_MS; atMs < stopMs; atMs += MINUTE_MS) {
    const hour = ((atMs - midnight) / HOUR_MS + 48) % 24;
    views += (viewsADay / 1440) * (share(hour) / 0.55);
    for (; views >= 1; views--) activity.accept(atMs);
  }
  return Array.from({ length: 46 * 4 }, (_, quarter) =>
    stateOf({ active: true }, activity, stopMs + quarter * QUARTER),
  );
}

describe('a site that stops at 14:00', () => {
  const hoursOf = (states: readonly string[], state: string): [number, number] => [
    states.indexOf(state) / 4,
    (states.lastIndexOf(state) + 1) / 4,
  ];

  it.each([
    [100, byDay],
    [500, byDay],
    [5000, byDay],
    [500, evenly],
    [5000, evenly],
  ])(
    'of %d views a day is said to be silent after three hours, and the night through',
    (n, share) => {
      const states = afterStop(n, share);
      const [from, to] = hoursOf(states, 'silent');
      expect(from).toBeGreaterThanOrEqual(3);
      expect(from).toBeLessThanOrEqual(3.5);
      expect(new Set(states.slice(from * 4, to * 4))).toStrictEqual(new Set(['silent']));
      // By then the day on which it was well has gone out of the counts.
      expect(to).toBeGreaterThan(40);
    },
  );

  it.each([
    [20, byDay],
    [100, evenly],
  ])('of %d views a day never is: so few in three hours are no habit', (n, share) => {
    expect(afterStop(n, share)).not.toContain('silent');
  });

  it('is not silent before, by day or by night', () => {
    const midnight = Date.parse('2026-11-20T00:00:00.000Z');
    const activity = new ProjectActivity(new SampleBudget(0));
    const seen = new Set<string>();
    // A shop of office hours: thirty views an hour from 8 to 18, none by night.
    for (let atMs = midnight; atMs < midnight + 3 * DAY_MS; atMs += 2 * MINUTE_MS) {
      const hour = ((atMs - midnight) % DAY_MS) / HOUR_MS;
      if (hour >= 8 && hour < 18) activity.accept(atMs);
      if (atMs > midnight + DAY_MS) seen.add(stateOf({ active: true }, activity, atMs));
    }
    expect(seen).toStrictEqual(new Set(['arriving', 'quiet']));
  });
});

const QUARTER = 15 * MINUTE_MS;

const project = (name: string, state: Judged['state'], ...causes: Judged['causes']): Judged => ({
  id: '1',
  name,
  state,
  active: state !== 'inactive',
  causes,
});

const WELL = { reasons: [], warnings: [] };
const textOf = (words: Words): string =>
  words.map((word) => (typeof word === 'string' ? word : `«${word.name}»`)).join('');

function headline(projects: readonly Judged[], { refused = 0, isBlank = false } = {}) {
  const { kind, words } = headlineOf({ health: WELL, projects, isBlank, refused });
  return [kind, textOf(words)];
}

describe('the headline', () => {
  const arriving = project('A', 'arriving');

  it('says how many projects views arrive of', () => {
    const projects = [
      arriving,
      arriving,
      project('B', 'quiet'),
      arriving,
      project('C', 'inactive'),
    ];
    expect(headline(projects)).toStrictEqual(['good', 'Views are arriving: 3 of 4 projects']);
  });

  it('is red where views of a project are refused, and says why and of which', () => {
    const mine = project('My site', 'all-refused', 'origin-not-allowed');
    expect(headline([mine, arriving])).toStrictEqual([
      'bad',
      'Views are refused: origin not allowed for «My site»',
    ]);
  });

  it('counts each of several once, and all: red where one is', () => {
    const mine = project('My site', 'all-refused', 'origin-not-allowed');
    expect(headline([mine, mine, mine, arriving])).toStrictEqual([
      'bad',
      '3 of 4 projects in trouble: origin not allowed',
    ]);
    const most = project('B', 'most-refused', 'invalid-view');
    const some = project('C', 'some-refused', 'invalid-view');
    const silent = project('D', 'silent');
    const inactive = project('E', 'inactive');
    expect(headline([mine, most, some, silent, arriving, inactive])).toStrictEqual([
      'bad',
      '4 of 5 projects in trouble: 2 invalid view, 1 origin not allowed, 1 silent',
    ]);
    expect(headline([some, silent, silent])).toStrictEqual([
      'warn',
      '3 of 3 projects in trouble: 2 silent, 1 invalid view',
    ]);
  });

  it('names no reason where two stand', () => {
    const two = project('My site', 'all-refused', 'origin-not-allowed', 'invalid-view');
    expect(headline([two, arriving])[1]).toBe('Views are refused: «My site», for 2 reasons');
    expect(headline([two, two])[1]).toBe('2 of 2 projects in trouble: refused for several reasons');
  });

  it('is amber where one has fallen silent, or some views are refused', () => {
    expect(headline([project('B', 'silent'), arriving])).toStrictEqual([
      'warn',
      'Fallen silent: «B»',
    ]);
    expect(headline([project('B', 'some-refused', 'invalid-view'), arriving])).toStrictEqual([
      'warn',
      'Some views are refused: invalid view for «B»',
    ]);
  });

  it('is red where nearly all are refused', () => {
    const most = project('B', 'most-refused', 'invalid-view');
    expect(headline([most, arriving])).toStrictEqual([
      'bad',
      'Nearly all views are refused: invalid view for «B»',
    ]);
  });

  it('is green where what was refused is mended, and says so', () => {
    expect(headline([project('B', 'mended', 'invalid-view'), arriving])).toStrictEqual([
      'good',
      'Views are arriving: 2 of 2 projects; mended: «B» (clears within the hour)',
    ]);
  });

  it('says of inactive projects alone that they send', () => {
    const sends = { ...project('B', 'all-refused', 'project-not-activated'), active: false };
    expect(headline([sends, arriving])).toStrictEqual(['bad', 'Inactive, but still sending: «B»']);
    expect(headline([sends, sends, arriving])[1]).toBe(
      '2 of 3 projects in trouble: inactive, but still sending',
    );
    expect(headline([project('A', 'all-refused', 'invalid-view'), sends])[1]).toBe(
      '2 of 2 projects in trouble: 1 invalid view, 1 inactive, but still sending',
    );
  });

  it('is never green where nothing arrives', () => {
    expect(headline([project('A', 'no-view')])).toStrictEqual([
      'idle',
      'Waiting for the first view',
    ]);
    expect(headline([project('A', 'no-view')], { refused: 20 })).toStrictEqual([
      'idle',
      'No view was taken in the last hour, 20 refused',
    ]);
    expect(headline([project('A', 'quiet')])).toStrictEqual([
      'idle',
      'Quiet: no view in the last hour',
    ]);
    expect(headline([])).toStrictEqual(['idle', 'No project is active']);
  });

  it('judges nothing before the last hour is read, and says first that views are not taken', () => {
    const projects = [project('A', 'all-refused', 'invalid-view')];
    expect(headline(projects, { isBlank: true })[0]).toBe('idle');
    const health = { reasons: ['the disk is full'], warnings: [] };
    const { kind, words } = headlineOf({ health, projects, isBlank: true, refused: 0 });
    expect([kind, textOf(words)]).toStrictEqual(['bad', 'Not taking views: the disk is full']);
  });
});

it('trouble is what is to be mended', () => {
  const states = ['all-refused', 'silent', 'some-refused', 'arriving', 'quiet', 'no-view'] as const;
  expect(states.filter(isTrouble)).toStrictEqual(['all-refused', 'silent', 'some-refused']);
});
