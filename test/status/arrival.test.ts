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

const QUARTER = 15 * MINUTE_MS;

const project = (name: string, state: Judged['state'], cause?: Judged['cause']): Judged => ({
  id: '1',
  name,
  state,
  active: state !== 'inactive',
  cause,
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
    expect(headline([mine, mine, mine, arriving])[1]).toBe(
      'Views are refused: origin not allowed for «My site» and 2 more projects',
    );
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
