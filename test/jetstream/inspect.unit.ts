import type { StreamConfig, StreamInfo } from '@nats-io/jetstream';
import { describe, expect, it } from 'vitest';
import {
  configFault,
  configWarnings,
  groupFault,
  hasRoomFor,
  limitFault,
  seenOf,
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
  max_msg_size: -1,
  num_replicas: 3,
} as StreamConfig;
const NEEDS = { replicas: undefined, viewBytesMax: 16_384, payloadMax: 1_048_576 };

describe('the stream of views', () => {
  it.each(['views.>', 'views.*', '>', '*.>', '*.*'])('may have the subject %s', (subject) => {
    expect(configFault({ ...CONFIG, subjects: ['other', subject] })).toBeUndefined();
  });

  it.each<[what: string, change: object, fault: RegExp]>([
    [
      'no subject covers all projects',
      { subjects: ['views', 'views.1', 'views.*.x', '*', 'view.>'] },
      /include views\.<project>/,
    ],
    ['it has no subjects', { subjects: undefined }, /don't include/],
    ['it is stored in memory', { storage: 'memory' }, /in memory/],
    ['it is a work queue', { retention: 'workqueue' }, /drops messages that were read/],
    [
      'it keeps only messages of interest',
      { retention: 'interest' },
      /drops messages that were read/,
    ],
    ['it acknowledges nothing', { no_ack: true }, /acknowledges nothing/],
    ['it is sealed', { sealed: true }, /sealed/],
  ])('is refused if %s', (_, change, fault) => {
    expect(configFault({ ...CONFIG, ...change })).toMatch(fault);
  });

  it.each<[what: string, change: object, limit: string]>([
    ['a limit on bytes that discards old views', { discard: 'old', max_bytes: 1e5 }, 'max_bytes'],
    ['a limit on messages that discards old views', { discard: 'old', max_msgs: 1 }, 'max_msgs'],
    ['a maximum age', { max_age: 1 }, 'max_age'],
    ['a limit per project', { max_msgs_per_subject: 1 }, 'max_msgs_per_subject'],
  ])('causes a warning about dropped views if it has %s', (_, change, limit) => {
    const warnings = configWarnings({ config: { ...CONFIG, ...change } }, NEEDS);
    expect(warnings).toStrictEqual([`Stream VIEWS drops its oldest views at a limit (${limit})`]);
  });

  it.each<[what: string, change: object]>([
    ['it would discard views only at limits that it lacks', { discard: 'old' }],
    ['its limits refuse new views', { max_bytes: 100_000, max_msgs: 1 }],
  ])('causes no warning about dropped views if %s', (_, change) => {
    expect(configWarnings({ config: { ...CONFIG, ...change } }, NEEDS)).toStrictEqual([]);
  });

  const CLUSTER = { name: 'c' };
  const rows: [what: string, object, object, object | undefined, RegExp | undefined][] = [
    [
      'more replicas than --nats-replicas',
      {},
      { replicas: 1 },
      undefined,
      /is stored on 3 servers, not 1 \(--nats-replicas\)/,
    ],
    [
      'a single replica in a named cluster',
      { num_replicas: 1 },
      {},
      CLUSTER,
      /on 1 server of cluster "c"; .* --replicas 3$/,
    ],
    ['a single replica in a nameless cluster', { num_replicas: 1 }, {}, {}, undefined],
    ['a single replica without a cluster', { num_replicas: 1 }, {}, undefined, undefined],
    ['the single replica asked for', { num_replicas: 1 }, { replicas: 1 }, CLUSTER, undefined],
    ['three replicas', {}, {}, CLUSTER, undefined],
    [
      'a limit per project that refuses new views',
      { max_msgs_per_subject: 7, discard_new_per_subject: true },
      {},
      {},
      /views beyond 7 views/,
    ],
    [
      'messages one byte too small for a view',
      { max_msg_size: 16_511 },
      {},
      {},
      /messages of at most .* \(max_msg_size\), too little/,
    ],
    [
      'a size one byte too small for a view',
      { max_bytes: 16_511 },
      {},
      {},
      /holds at most .* \(max_bytes\), too little/,
    ],
    [
      'servers whose messages are one byte too small for a view',
      {},
      { payloadMax: 16_511 },
      {},
      /messages of at most .* \(max_payload\), too little/,
    ],
    [
      'limits just large enough for a view',
      { max_msg_size: 16_512, max_bytes: 16_512 },
      { payloadMax: 16_512 },
      {},
      undefined,
    ],
  ];
  const compared = rows.map(
    (row) => [row[4] === undefined ? 'no warning' : 'a warning', ...row] as const,
  );
  it.each(compared)('causes %s with %s', (_, _what, change, needs, cluster, text) => {
    const info = { config: { ...CONFIG, ...change }, ...(cluster && { cluster }) } as StreamInfo;
    const [warning, ...others] = configWarnings(info, { ...NEEDS, ...needs });
    expect(others).toStrictEqual([]);
    if (text === undefined) expect(warning).toBeUndefined();
    else expect(warning).toMatch(text);
    const isTooSmall = warning?.includes('too little') ?? false;
    expect(limitFault(info.config, { ...NEEDS, ...needs })).toBe(isTooSmall ? warning : undefined);
  });

  it.each<['has' | 'lacks', when: string, change: object, state: object]>([
    ['has', 'without limits', {}, { bytes: 1e9, messages: 1e9 }],
    ['has', 'with just enough bytes left', { max_bytes: 20_000 }, { bytes: 3_488, messages: 1 }],
    ['lacks', 'with one byte too few', { max_bytes: 20_000 }, { bytes: 3_489, messages: 1 }],
    ['has', 'with one message left', { max_msgs: 3 }, { bytes: 1, messages: 2 }],
    ['lacks', 'with all its messages', { max_msgs: 3 }, { bytes: 1, messages: 3 }],
    ['has', 'after old messages', { max_msgs: 3, discard: 'old' }, { bytes: 1, messages: 3 }],
  ])('%s space for the largest view %s', (outcome, _, change, state) => {
    const info = { config: { ...CONFIG, ...change }, state } as unknown as StreamInfo;
    expect(hasRoomFor(info, 16_384)).toBe(outcome === 'has');
  });
});

const NO_QUORUM = 'the stream has no quorum';
it.each<[what: string, object[] | undefined, lagging: string[], fault: string | undefined]>([
  ['no followers', undefined, [], undefined],
  ['two current followers', [{}, {}], [], undefined],
  ['one of two followers behind', [{}, { current: false }], ['c'], undefined],
  ['one of two followers offline', [{}, { offline: true }], ['c'], undefined],
  ['one of two followers silent for 6 s', [{}, { active: 6e9 }], ['c'], undefined],
  [
    'one follower offline and the other behind',
    [{ offline: true }, { current: false }],
    ['b', 'c'],
    NO_QUORUM,
  ],
  ['a single follower offline', [{ offline: true }], ['b'], NO_QUORUM],
])('lagging servers and a lost quorum are found with %s', (_, followers, lagging, fault) => {
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
