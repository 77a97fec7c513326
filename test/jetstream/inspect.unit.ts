import type { StreamConfig, StreamInfo } from '@nats-io/jetstream';
import { describe, expect, it } from 'vitest';
import {
  configFault,
  configWarnings,
  groupFault,
  seenOf,
  type StreamSeen,
} from '../../src/jetstream/inspect.ts';

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

const fault = (change: object): string | undefined => configFault({ ...CONFIG, ...change });

describe('the stream of views', () => {
  it.each(['views.>', 'views.*', '>', '*.>', '*.*'])('may take %s', (subject) => {
    expect(fault({ subjects: ['other', subject] })).toBeUndefined();
  });

  it.each([
    [
      { subjects: ['views', 'views.1', 'views.*.x', '*', 'view.>'] },
      /do not take views\.<project>/,
    ],
    [{ subjects: undefined }, /do not take/],
    [{ storage: 'memory' }, /in memory/],
    [{ retention: 'workqueue' }, /drops messages that were read/],
    [{ retention: 'interest' }, /drops messages that were read/],
    [{ no_ack: true }, /acknowledges nothing/],
  ])('is refused with %j', (change, message) => {
    expect(fault(change)).toMatch(message);
  });

  it.each([
    [{ discard: 'old', max_bytes: 1 }, 'max_bytes'],
    [{ discard: 'old', max_msgs: 1 }, 'max_msgs'],
    [{ max_age: 1 }, 'max_age'],
    [{ max_msgs_per_subject: 1 }, 'max_msgs_per_subject'],
  ])('gets a warning with %j', (change, limit) => {
    const warnings = configWarnings({ ...CONFIG, ...change } as StreamConfig, undefined);
    expect(warnings).toStrictEqual([`Stream VIEWS drops its oldest views at a limit (${limit})`]);
  });

  it.each([{ discard: 'old' }, { max_bytes: 1, max_msgs: 1 }])('may have %j', (change) => {
    expect(configWarnings({ ...CONFIG, ...change } as StreamConfig, 3)).toStrictEqual([]);
  });

  it('gets a warning if it has other replicas than the operator asked for', () => {
    expect(configWarnings(CONFIG, 1)[0]).toContain('is kept by 3 of the servers');
  });
});

describe('the servers that keep a stream', () => {
  const follower = { name: 'b', current: true, offline: false, active: 1e9, lag: 0 };
  const info = (cluster: unknown, replicas = 3): StreamInfo =>
    ({
      config: { ...CONFIG, num_replicas: replicas },
      state: { messages: 7, bytes: 8 },
      cluster,
    }) as StreamInfo;

  it('are the leader and its followers', () => {
    const seen = seenOf(info({ leader: 'a', replicas: [follower, { ...follower, name: 'c' }] }));
    expect(seen).toStrictEqual({ messages: 7, bytes: 8, leader: 'a', replicas: 3, lagging: [] });
    expect(groupFault(seen)).toBeUndefined();
  });

  it('may be a single server, which names no leader', () => {
    expect(groupFault(seenOf(info(undefined, 1)))).toBeUndefined();
  });

  it.each([{ current: false }, { offline: true }, { active: 6e9 }])(
    'may lose one follower of two: %j',
    (change) => {
      const replicas = [follower, { ...follower, name: 'c', ...change }];
      const seen = seenOf(info({ leader: 'a', replicas }));
      expect(seen.lagging).toStrictEqual(['c']);
      expect(groupFault(seen)).toBeUndefined();
    },
  );

  const seen: StreamSeen = { messages: 0, bytes: 0, leader: 'a', replicas: 3, lagging: ['b', 'c'] };

  it('are no quorum if two of three are behind', () => {
    expect(groupFault(seen)).toBe('the stream has no quorum');
    expect(groupFault({ ...seen, lagging: ['b'] })).toBeUndefined();
    expect(groupFault({ ...seen, replicas: 2, lagging: ['b'] })).toBe('the stream has no quorum');
  });

  it('take no views without a leader', () => {
    expect(groupFault(seenOf(info({ replicas: [follower] })))).toBe('the stream has no leader');
    expect(groupFault({ ...seen, leader: undefined, lagging: [] })).toBe(
      'the stream has no leader',
    );
  });
});
