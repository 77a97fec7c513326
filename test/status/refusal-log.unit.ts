import { expect, it, describe } from 'vitest';
import { HOUR_MS } from '../../src/base/time.ts';
import { fixOf, stepText } from '../../src/status/problem-words.ts';
import { RefusalLog } from '../../src/status/refusal-log.ts';
import { judgements } from '../../src/status/state.ts';
import { INSTALLATION } from '../support/installation.ts';
import { memoryLog } from '../support/memory-log.ts';
import { NOON, Scene } from '../support/status-scene.ts';

const begin = (projects: ConstructorParameters<typeof Scene>[0]) => {
  const log = memoryLog();
  const refusalLog = new RefusalLog((reason) => stepText(fixOf(reason, INSTALLATION)), log);
  const scene = new Scene(projects);
  /** Returns the new lines. */
  const look = (): readonly string[] => {
    const state = scene.state();
    for (const one of judgements(state)) refusalLog.update(one, state);
    return log.lines.splice(0);
  };
  return { scene, look };
};

it('a collector logs when a cause of refusals begins, with the fix, and when it ends, at most hourly', () => {
  const closed = { id: '1', name: 'Aurora', origins: ['https://a.example'] };
  const { scene, look } = begin([closed]);
  const refuse = (): readonly string[] => {
    scene.list(closed);
    scene.refuse(9, { code: 'origin-not-allowed', project: '1' }, 'https://b.example');
    return look();
  };
  const refused =
    'warn: Project 1 (Aurora): all 9 views in the last hour were refused (origin not allowed). ' +
    "If https://b.example isn't one of the project's sites, ignore these views. If it is, add it: " +
    '/srv/viewlog activate 1 --data /data --origin https://b.example';
  expect(look()).toStrictEqual([]);
  expect(refuse()).toStrictEqual([refused]);
  scene.list({ ...closed, origins: ['https://a.example', 'https://b.example'] });
  expect(look()).toStrictEqual([]);
  scene.accept();
  scene.around = { store: { unavailable: 'the disk is full' } };
  expect(look()).toStrictEqual([]);
  scene.around = {};
  const ended =
    'info: Project 1 (Aurora): views are accepted again; they had been refused (origin not allowed)';
  expect(look()).toStrictEqual([ended]);
  expect(refuse()).toStrictEqual([]);
  scene.nowMs = NOON + HOUR_MS + 60_000;
  expect(refuse()).toHaveLength(1);
  // A second cause begins, and the first cause ends. An hour without views doesn't count as
  // "accepted again".
  scene.nowMs += HOUR_MS;
  scene.list({ ...closed, origins: ['https://a.example', 'https://b.example'] });
  scene.accept();
  scene.refuse(3, { code: 'invalid-view', project: '1' });
  expect(look()).toStrictEqual([expect.stringContaining('(invalid view). Correct the page')]);
  scene.nowMs += 2 * HOUR_MS;
  expect(look()).toStrictEqual([]);
  scene.refuse(3, { code: 'malformed-json' });
  expect(look()).toStrictEqual([
    expect.stringMatching(/^warn: Requests without a project: all 3 /),
  ]);
  scene.list();
  scene.refuse(50, { code: 'project-not-activated', project: '1' });
  expect(look()[0]).toMatch(
    /^warn: Project 1 \(Aurora\), which is no longer listed: all 50 views .* \(project not activated\)\. If this site isn't yours, /,
  );
});

it('a collector logs the advice about a removed id without naming one cause', () => {
  const { scene, look } = begin([{ id: '1', origins: ['https://a.example'] }]);
  scene.accept(3);
  scene.refuse(2, { code: 'origin-not-allowed', project: '1' });
  scene.list();
  scene.refuse(1, { code: 'project-not-activated', project: '1' });
  expect(look()).toStrictEqual([
    expect.stringMatching(
      /^warn: Project 1, which is no longer listed: 3 of 6 views in the last hour were refused \(no Origin header, project not activated\)\. If this site /,
    ),
  ]);
});

it('a collector logs the fault of the latest refused view, unless its label says it', () => {
  const { scene, look } = begin([{ id: '1', origins: ['https://a.example'] }]);
  const issues = [{ field: 'mb', message: 'must be an integer', expected: 'x', received: '"12"' }];
  scene.refuse(1, { code: 'invalid-view', project: '1', issues });
  scene.refuse(1, { code: 'origin-not-allowed', project: '1' });
  expect(look()).toStrictEqual([
    expect.stringMatching(/ were refused \(.+, .+\)$/),
    expect.stringMatching(
      / \(invalid view\)\. The latest fault: "mb" must be an integer \(received "12"\)\. Correct /,
    ),
    expect.stringMatching(/ \(no Origin header\)\. The project accepts only /),
  ]);
});

it('a collector logs which site sent the latest faulty request', () => {
  const { scene, look } = begin([{ id: '1' }]);
  scene.refuse(3, { code: 'malformed-json', detail: 'The body is empty.' }, 'https://a.example');
  expect(look()).toStrictEqual([
    expect.stringContaining(' The latest fault, from https://a.example: '),
  ]);
});

it('a collector logs the fix of each cause that has begun, a missing Origin header among them', () => {
  const { scene, look } = begin([{ id: '1', origins: ['https://a.example'] }]);
  scene.refuse(2, { code: 'origin-not-allowed', project: '1' }, 'https://b.example');
  for (const origin of [undefined, 'https://c.example', 'https://d.example', 'https://e.example']) {
    scene.refuse(1, { code: 'origin-not-allowed', project: '1' }, origin);
  }
  expect(look()).toStrictEqual([
    'warn: Project 1: all 6 views in the last hour were refused (origin not allowed, no Origin header)',
    expect.stringMatching(
      /^warn: Project 1: 2 views from https:\/\/b\.example were refused \(origin not allowed\)\. If https:\/\/b\.example isn't one .* --origin https:\/\/b\.example$/,
    ),
    expect.stringMatching(/^warn: .* --origin https:\/\/c\.example$/),
    expect.stringMatching(/^warn: .* --origin https:\/\/d\.example$/),
    'warn: Project 1: 1 view from 1 other origin was refused (origin not allowed)',
    expect.stringMatching(
      /^warn: Project 1: 1 view was refused \(no Origin header\)\. The project accepts only its /,
    ),
  ]);
});

it.each([
  ['rarer', 4, 9],
  ['more frequent', 9, 4],
])('a collector logs a cause that remains apart from a %s one that has ended', (_, ended, open) => {
  const { scene, look } = begin([{ id: '1', origins: ['https://a.example'] }]);
  scene.refuse(ended, { code: 'origin-not-allowed', project: '1' }, 'https://b.example');
  scene.list({ id: '1', origins: ['https://a.example', 'https://b.example'] });
  scene.accept();
  scene.refuse(open, { code: 'invalid-view', project: '1' });
  expect(look()).toStrictEqual([
    `warn: Project 1: ${open} of ${open + 1} views in the last hour were refused (invalid view), not counting ${ended} refused because of an earlier problem that has ended. Correct the page that sends these views.`,
  ]);
  expect(look()).toStrictEqual([]);
});

it.each([
  [4, 9],
  [9, 4],
])(
  'a collector logs the fix for a refused origin even if another was fixed (%d refusals still open, %d fixed)',
  (open, fixed) => {
    const { scene, look } = begin([{ id: '1', origins: ['https://a.example'] }]);
    scene.refuse(fixed, { code: 'origin-not-allowed', project: '1' }, 'https://b.example');
    scene.list({ id: '1', origins: ['https://a.example', 'https://b.example'] });
    scene.accept();
    scene.refuse(open, { code: 'origin-not-allowed', project: '1' }, 'https://c.example');
    expect(look()[0]).toMatch(/^warn: .* --origin https:\/\/c\.example$/);
  },
);

it('a collector logs when few views are still refused for a cause', () => {
  const origins = ['https://a.example', 'https://b.example'];
  const { scene, look } = begin([{ id: '1', origins: origins.slice(0, 1) }]);
  const refuse = (views: number, origin: string): void =>
    scene.refuse(views, { code: 'origin-not-allowed', project: '1' }, origin);
  refuse(9, 'https://b.example');
  refuse(1, 'https://c.example');
  expect(look()).toHaveLength(3);
  scene.list({ id: '1', origins });
  scene.accept(20);
  expect(look()).toStrictEqual([
    'info: Project 1: refusals are rare again: 1 of 21 views in the last hour (origin not allowed), not counting 9 refused earlier for causes that have ended',
  ]);
});

it('a collector logs the fix for each origin, first for the one with the most refusals', () => {
  const { scene, look } = begin([{ id: '1', origins: ['https://a.example'] }]);
  scene.refuse(1, { code: 'origin-not-allowed', project: '1' }, 'https://c.example');
  scene.refuse(10, { code: 'origin-not-allowed', project: '1' }, 'https://b.example');
  expect(look()).toStrictEqual([
    'warn: Project 1: all 11 views in the last hour were refused (origin not allowed)',
    expect.stringMatching(
      /: 10 views from https:\/\/b\.example were .* --origin https:\/\/b\.example$/,
    ),
    expect.stringMatching(
      /: 1 view from https:\/\/c\.example was .* --origin https:\/\/c\.example$/,
    ),
  ]);
});

it('a collector logs the end of refusals even if no view came for a day', () => {
  const { scene, look } = begin([{ id: '1', origins: ['https://a.example'] }]);
  scene.refuse(3, { code: 'origin-not-allowed', project: '1' }, 'https://b.example');
  expect(look()).toHaveLength(1);
  scene.nowMs += 25 * HOUR_MS;
  scene.accept(1);
  expect(look()).toStrictEqual([
    'info: Project 1: no view has been refused in the last 24 hours (origin not allowed)',
  ]);
});

it('a collector logs which causes have ended, and whether others remain', () => {
  const { scene, look } = begin([{ id: '1' }]);
  scene.refuse(4, { code: 'malformed-json' });
  scene.refuse(3, { code: 'unsupported-media-type' });
  expect(look()).toHaveLength(3);
  scene.nowMs += HOUR_MS;
  scene.accept(1);
  expect(look()).toStrictEqual([
    'info: Requests without a project: no request has failed since 2026-11-22 14:00 UTC (malformed JSON, unsupported media type)',
  ]);
  scene.nowMs += HOUR_MS;
  scene.refuse(4, { code: 'malformed-json' });
  scene.refuse(3, { code: 'unsupported-media-type' });
  expect(look()).toHaveLength(3);
  scene.nowMs += HOUR_MS;
  scene.refuse(3, { code: 'unsupported-media-type' });
  expect(look()).toStrictEqual([
    'info: Requests without a project: some requests no longer fail (malformed JSON); others still do (unsupported media type)',
  ]);
  scene.list({ id: '1', origins: ['https://a.example'] });
  scene.refuse(4, { code: 'origin-not-allowed', project: '1' }, 'https://b.example');
  scene.refuse(9, { code: 'invalid-view', project: '1' });
  expect(look()).toHaveLength(3);
  scene.list({ id: '1', origins: ['https://a.example', 'https://b.example'] });
  scene.accept();
  expect(look()).toStrictEqual([
    'info: Project 1: some views are no longer refused (origin not allowed); others still are (invalid view)',
  ]);
});

it('a collector logs when requests stopped failing', () => {
  const { scene, look } = begin([{ id: '1' }]);
  scene.nowMs += 1;
  scene.refuse(9, { code: 'malformed-json' });
  scene.nowMs += 60_000;
  scene.accept(70);
  expect(look()).toStrictEqual([
    'info: Requests without a project: 9 of 79 requests in the last hour failed before viewlog could read a project id (malformed JSON). No request has failed for this reason since 2026-11-22 14:01 UTC.',
  ]);
});

it("a collector logs the fix of a limit once it knows the rate, beside other causes' fixes", () => {
  const { scene, look } = begin([{ id: '1', maxViewsPerMinute: 5 }]);
  const refuse = (): void => scene.refuse(9, { code: 'rate-limited', project: '1', limit: 5 });
  scene.refuse(20, { code: 'invalid-view', project: '1' });
  refuse();
  expect(look()).toStrictEqual([
    expect.stringContaining('(invalid view, rate limited)'),
    expect.stringContaining(': 20 views were refused (invalid view). '),
  ]);
  scene.nowMs += HOUR_MS;
  for (let minute = 0; minute < 3; minute++) {
    refuse();
    scene.nowMs += 60_000;
  }
  expect(look()).toContainEqual(expect.stringMatching(/ --max-views-per-minute \d+$/));
});

it('a collector logs the origin of views if their fix has no command with it', () => {
  const { scene, look } = begin([{ id: '1', origins: ['https://a.example'] }]);
  scene.refuse(9, { code: 'origin-not-allowed', project: '1' }, 'null');
  expect(look()[0]).toMatch(
    / \(origin not allowed\)\. The latest refused view came from the origin "null"\. The origin "null" can't be listed: /,
  );
});

it("a collector doesn't log how many origins there are if it hasn't counted each", () => {
  const { scene, look } = begin([{ id: '1', origins: ['https://a.example'] }]);
  for (let i = 0; i < 45; i++) {
    scene.refuse(1, { code: 'origin-not-allowed', project: '1' }, `https://${i}.example`);
  }
  expect(look().at(-1)).toBe(
    'warn: Project 1: 42 views from other origins were refused (origin not allowed)',
  );
});

it('a collector logs a fix once it can work', () => {
  const { scene, look } = begin([{ id: '1', origins: ['https://a.example'] }]);
  scene.around = { store: { unavailable: 'the disk is full' } };
  scene.refuse(9, { code: 'origin-not-allowed', project: '1' }, 'https://b.example');
  expect(look()).toStrictEqual([]);
  scene.around = {};
  expect(look()).toStrictEqual([expect.stringMatching(/ --origin https:\/\/b\.example$/)]);
});

it('a collector logs an empty Origin header as such', () => {
  const { scene, look } = begin([{ id: '1', origins: ['https://a.example'] }]);
  scene.refuse(9, { code: 'origin-not-allowed', project: '1' }, '');
  expect(look()[0]).toMatch(/ \(empty Origin header\)\. The project accepts only /);
});

describe('the log of refusals that end within a minute', () => {
  const open = () => {
    const { scene, look } = begin([{ id: '1', origins: ['https://a.example'] }]);
    const burst = (): void => {
      const origins = ['https://a.example'];
      scene.list({ id: '1', origins });
      scene.refuse(9, { code: 'origin-not-allowed', project: '1' }, 'https://b.example');
      scene.list({ id: '1', origins: [...origins, 'https://b.example'] });
    };
    return { scene, look, burst };
  };

  it('has one line for their start and end', () => {
    const { scene, look, burst } = open();
    burst();
    scene.accept(70);
    expect(look()).toStrictEqual([
      'info: Project 1: 9 of 79 views in the last hour were refused (origin not allowed). The latest refused view came from https://b.example. Views have been accepted since 2026-11-22 14:00 UTC.',
    ]);
    expect(look()).toStrictEqual([]);
    burst();
    scene.accept(70);
    expect(look()).toStrictEqual([]);
    scene.nowMs += HOUR_MS;
    burst();
    scene.accept(1);
    expect(look()).toHaveLength(1);
  });

  it("doesn't keep the next problem out of the log", () => {
    const { scene, look, burst } = open();
    burst();
    scene.accept(1);
    expect(look()).toStrictEqual([expect.stringMatching(/^info: /)]);
    scene.refuse(9, { code: 'origin-not-allowed', project: '1' }, 'https://c.example');
    expect(look()).toStrictEqual([
      expect.stringMatching(/^warn: .* --origin https:\/\/c\.example$/),
    ]);
  });

  it('has no line for few refusals', () => {
    const { scene, look, burst } = open();
    scene.accept(90);
    burst();
    scene.accept(1);
    expect(look()).toStrictEqual([]);
  });

  it('has no line for refusals before a restart', () => {
    const { scene, look, burst } = open();
    burst();
    Object.assign(scene.counts, { startMs: scene.nowMs });
    scene.accept(1);
    expect(look()).toStrictEqual([]);
  });

  it("doesn't say that views are accepted again if their origin can't be listed", () => {
    const { scene, look } = open();
    scene.refuse(9, { code: 'origin-not-allowed', project: '1' }, 'null');
    expect(look()).toHaveLength(1);
    scene.accept(60);
    expect(look()).toStrictEqual([
      'info: Project 1: no view has been refused since 2026-11-22 14:00 UTC (origin not allowed)',
    ]);
  });

  it("doesn't say that views are accepted again if nobody has added their origin", () => {
    const { scene, look } = open();
    scene.refuse(9, { code: 'origin-not-allowed', project: '1' }, 'https://b.example');
    expect(look()).toHaveLength(1);
    scene.nowMs += HOUR_MS;
    scene.accept(1);
    expect(look()).toStrictEqual([
      'info: Project 1: no view has been refused since 2026-11-22 14:00 UTC (origin not allowed)',
    ]);
  });
});
