import type { StreamConfig, StreamInfo } from '@nats-io/jetstream';
import { describe, expect, it } from 'vitest';
import { configFault, configWarnings, groupFault, seenOf } from '../../src/jetstream/inspect.ts';

const CONFIG = {
  name: 'VIEWS',
  storage: 'file',
  retention: 'limits',
  discard: 'new',
  subjects: ['views.>'],
  max_msgs: -1,
  max_bytes: -1,
  max_age: 0,
  max_msgs_per_subject: -1,
  num_replicas: 3,
} as StreamConfig;

describe('the stream of views', () => {
  it.each<[object, RegExp | undefined]>([
    ...['views.>', 'views.*', '>', '*.>', '*.*'].map((subject): [object, undefined] => [
      { subjects: ['other', subject] },
      undefined,
    ]),
    [{ subjects: ['views', 'views.1', 'views.*.x', '*', 'view.>'] }, /include views\.<project>/],
    [{ subjects: undefined }, /do not include/],
    [{ storage: 'memory' }, /in memory/],
    [{ retention: 'workqueue' }, /drops messages that were read/],
    [{ retention: 'interest' }, /drops messages that were read/],
    [{ no_ack: true }, /acknowledges nothing/],
  ])('with %j has the fault %s', (change, fault) => {
    const found = configFault({ ...CONFIG, ...change });
    if (fault === undefined) expect(found).toBeUndefined();
    else expect(found).toMatch(fault);
  });

  it.each<[object, string[]]>([
    [{ discard: 'old', max_bytes: 1 }, ['max_bytes']],
    [{ discard: 'old', max_msgs: 1 }, ['max_msgs']],
    [{ max_age: 1 }, ['max_age']],
    [{ max_msgs_per_subject: 1 }, ['max_msgs_per_subject']],
    [{ discard: 'old' }, []],
    [{ max_bytes: 1, max_msgs: 1 }, []],
  ])('with %j drops old views at %j', (change, limits) => {
    const warnings = configWarnings({ ...CONFIG, ...change }, 3);
    expect(warnings).toStrictEqual(
      limits.map((limit) => `Stream VIEWS drops its oldest views at a limit (${limit})`),
    );
  });

  it('gets a warning if it has other replicas than the operator asked for', () => {
    expect(configWarnings(CONFIG, 1)[0]).toContain('is stored on 3 servers');
  });
});

it.each<[object[] | undefined, string[], string | undefined]>([
  [undefined, [], undefined],
  [[{}, {}], [], undefined],
  [[{}, { current: false }], ['c'], undefined],
  [[{}, { offline: true }], ['c'], undefined],
  [[{}, { active: 6e9 }], ['c'], undefined],
  [[{ offline: true }, { current: false }], ['b', 'c'], 'the stream has no quorum'],
  [[{ offline: true }], ['b'], 'the stream has no quorum'],
])('with the followers %j, %j lag behind, and the fault is %s', (followers, lagging, fault) => {
  const replicas = followers?.map((change, i) => {
    return { name: 'bc'[i]!, current: true, offline: false, active: 1e9, lag: 0, ...change };
  });
  const num_replicas = 1 + (followers?.length ?? 0);
  const state = { messages: 7, bytes: 8 };
  const info = (leader?: string) => {
    // A single server names no leader.
    const cluster = replicas && { leader, replicas };
    return { config: { ...CONFIG, num_replicas }, state, cluster } as unknown as StreamInfo;
  };
  const seen = seenOf(info('a'));
  expect(seen).toMatchObject({ ...state, replicas: num_replicas, lagging });
  expect(groupFault(seen)).toBe(fault);
  if (replicas !== undefined) expect(groupFault(seenOf(info()))).toBe('the stream has no leader');
});
