import { expect, it } from 'vitest';
import { HOUR_MS, MINUTE_MS } from '../../src/base/time.ts';
import { judgeAll, type ProjectState, stateOf } from '../../src/status/state.ts';
import { Scene } from '../support/status-scene.ts';

const QUIET = {
  active: true,
  isDown: false,
  accepted: 0,
  refused: 0,
  isOff: false,
  hasRecentViews: false,
  hasListened: true,
  acceptedYesterday: 0,
};

it.each<[string, ProjectState, Partial<typeof QUIET>]>([
  ['with no views', 'quiet', {}],
  ['with accepted views', 'arriving', { accepted: 1 }],
  ['with refused views only', 'refused', { refused: 1 }],
  ['with one in ten views refused', 'arriving', { accepted: 9, refused: 1 }],
  ['with more than one in ten views refused', 'partly-refused', { accepted: 89, refused: 10 }],
  ['with no views now but 20 yesterday', 'silent', { acceptedYesterday: 20 }],
  ['with no views now but 19 yesterday', 'quiet', { acceptedYesterday: 19 }],
  [
    'with a view two hours ago and 20 yesterday',
    'quiet',
    { acceptedYesterday: 20, hasRecentViews: true },
  ],
  ['with no views since an outage', 'quiet', { acceptedYesterday: 20, hasListened: false }],
  [
    'with refused views now and 20 accepted yesterday',
    'refused',
    { acceptedYesterday: 20, refused: 1 },
  ],
  ['with views that the store refuses', 'not-stored', { accepted: 1, isDown: true }],
  ['that is deactivated', 'inactive', { active: false, acceptedYesterday: 20 }],
  ['that still sends after its deactivation', 'refused', { active: false, refused: 1 }],
  ['that has just been deactivated', 'inactive', { active: false, accepted: 1 }],
  [
    'with a view refused since its deactivation',
    'partly-refused',
    { active: false, accepted: 99, refused: 1, isOff: true },
  ],
])('a project %s has the state "%s"', (_, state, arrivals) => {
  expect(stateOf({ ...QUIET, ...arrivals })).toBe(state);
});

const state = (scene: Scene): ProjectState => scene.judged()[0]!.state;

it('a page that sent invalid views counts as fixed after enough accepted views in a row: three plus five times the average between two refusals', () => {
  const scene = new Scene([{ id: '1' }]);
  const refuse = (): void => scene.refuse(1, { code: 'invalid-view', project: '1' });
  for (let i = 0; i < 20; i++) {
    scene.accept(4);
    refuse();
  }
  scene.accept(22, '1', 2_000);
  expect(state(scene)).toBe('partly-refused');
  scene.accept();
  expect(state(scene)).toBe('arriving');
});

it('a rate-limited project is fixed by a higher limit, not by a pause between two bursts', () => {
  const scene = new Scene([{ id: '1', maxViewsPerMinute: 20 }]);
  scene.refuse(30, { code: 'rate-limited', project: '1', limit: 20 });
  scene.accept(200);
  expect(state(scene)).toBe('partly-refused');
  expect(scene.text()).toContain(
    'Since then (3 min), 200 views have been accepted, and none has been refused',
  );
  scene.list({ id: '1', maxViewsPerMinute: 40 });
  expect(state(scene)).toBe('partly-refused');
  scene.accept();
  expect(scene.judged()[0]!.colour).toBe('green');
});

it('a rate-limit refusal counts for an hour, even once a higher limit has fixed it', () => {
  const scene = new Scene([{ id: '1', maxViewsPerMinute: 20 }]);
  scene.refuse(30, { code: 'rate-limited', project: '1', limit: 20 });
  scene.list({ id: '1', maxViewsPerMinute: 40 });
  scene.accept(HOUR_MS / MINUTE_MS, '1', MINUTE_MS);
  expect(scene.judged()[0]).toMatchObject({ state: 'arriving', colour: undefined });
});

it('after rate-limit refusals, the suggested limit is twice the views of the busiest minute; an incomplete minute counts only if another minute had views', () => {
  const scene = new Scene([{ id: '1', maxViewsPerMinute: 2 }]);
  const suggested = () => scene.judged()[0]!.reasons[0]?.remedy;
  const refused = { code: 'rate-limited', project: '1', limit: 2 } as const;
  scene.accept(2);
  scene.refuse(1, refused);
  scene.nowMs += MINUTE_MS;
  scene.accept();
  // Nobody knows how many views a full minute has.
  expect(suggested()).not.toHaveProperty('viewsPerMinute', expect.any(Number));
  scene.nowMs += 5 * MINUTE_MS;
  scene.accept(2);
  scene.refuse(3, refused);
  scene.nowMs += MINUTE_MS;
  scene.accept();
  expect(suggested()).toMatchObject({ viewsPerMinute: 10 });
});

it("a refusal caused by the disk isn't a problem of the project while the disk is full", () => {
  const scene = new Scene([{ id: '1' }]);
  scene.refuse(5, { code: 'storage-unavailable', project: '1' });
  scene.around = { store: { unavailable: 'the disk is full' } };
  expect(state(scene)).toBe('not-stored');
  scene.around = {};
  expect(state(scene)).toBe('refused');
  scene.accept();
  expect(state(scene)).toBe('arriving');
});

it("judgeAll judges many projects in slices that don't hold up views", async () => {
  const scene = new Scene(Array.from({ length: 4_000 }, (_, i) => ({ id: String(i + 1) })));
  let judged = 0;
  const turns: number[] = [];
  const turn = (): void => {
    turns.push(judged);
    if (judged < 4_000) setImmediate(turn);
  };
  setImmediate(turn);
  await judgeAll(scene.state(), ({ kind }) => (judged += Number(kind === 'project')));
  const slices = turns.map((until, i) => until - (turns[i - 1] ?? 0));
  expect([judged, Math.max(...slices)]).toStrictEqual([4_000, 500]);
});
