import type { StreamConfig, StreamInfo } from '@nats-io/jetstream';
import { describe, expect, it } from 'vitest';
import {
  configFault,
  configWarnings,
  groupFault,
  hasSpaceFor,
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

describe('the check of a stream', () => {
  it.each(['views.>', 'views.*', '>', '*.>', '*.*'])('accepts the subject %s', (subject) => {
    expect(configFault({ ...CONFIG, subjects: ['other', subject] })).toBeUndefined();
  });

  it.each<[what: string, change: object, fault: RegExp]>([
    [
      'no subject covers all projects',
      { subjects: ['views', 'views.1', 'views.*.x', '*', 'view.>'] },
      /include views\.<project>/,
    ],
    ['the stream has no subjects', { subjects: undefined }, /^it has no subjects; add "views\.>"$/],
    ['the stream is stored in memory', { storage: 'memory' }, /in memory/],
    ['the stream is a work queue', { retention: 'workqueue' }, /drops messages that were read/],
    [
      'the stream keeps only messages of interest',
      { retention: 'interest' },
      /drops messages that were read/,
    ],
    ['the stream acknowledges nothing', { no_ack: true }, /acknowledges nothing/],
    ['the stream is sealed', { sealed: true }, /sealed/],
  ])('refuses views if %s', (_, change, fault) => {
    expect(configFault({ ...CONFIG, ...change })).toMatch(fault);
  });

  it.each<[what: string, change: object, limit: string]>([
    ['a limit on bytes that discards old views', { discard: 'old', max_bytes: 1e5 }, 'max_bytes'],
    ['a limit on messages that discards old views', { discard: 'old', max_msgs: 1 }, 'max_msgs'],
    ['a maximum age', { max_age: 1 }, 'max_age'],
    ['a limit per project', { max_msgs_per_subject: 1 }, 'max_msgs_per_subject'],
  ])('warns about dropped views if the stream has %s', (_, change, limit) => {
    const warnings = configWarnings({ config: { ...CONFIG, ...change } }, NEEDS);
    expect(warnings).toStrictEqual([`Stream VIEWS drops its oldest views at a limit (${limit})`]);
  });

  it.each<[what: string, change: object]>([
    ['the stream has no limit at which to discard views', { discard: 'old' }],
    ['the limits of the stream refuse new views', { max_bytes: 100_000, max_msgs: 1 }],
  ])("doesn't warn about dropped views if %s", (_, change) => {
    expect(configWarnings({ config: { ...CONFIG, ...change } }, NEEDS)).toStrictEqual([]);
  });

  const CLUSTER = { name: 'c' };
  const rows: [what: string, object, object, object | undefined, RegExp | undefined][] = [
    [
      'the stream has more replicas than --nats-replicas',
      {},
      { replicas: 1 },
      undefined,
      /is stored on 3 servers, not 1 \(--nats-replicas\)/,
    ],
    [
      'the stream has a single replica in a named cluster',
      { num_replicas: 1 },
      {},
      CLUSTER,
      /on 1 server of cluster "c"; .* --replicas 3$/,
    ],
    [
      'the stream has a single replica in a nameless cluster',
      { num_replicas: 1 },
      {},
      {},
      undefined,
    ],
    [
      'the stream has a single replica and no cluster',
      { num_replicas: 1 },
      {},
      undefined,
      undefined,
    ],
    [
      '--nats-replicas asks for the single replica',
      { num_replicas: 1 },
      { replicas: 1 },
      CLUSTER,
      undefined,
    ],
    ['the stream has three replicas', {}, {}, CLUSTER, undefined],
    [
      'a limit per project refuses new views',
      { max_msgs_per_subject: 7, discard_new_per_subject: true },
      {},
      {},
      /^Stream VIEWS holds at most 7 views per project and refuses the rest \(max_msgs_per_subject\)$/,
    ],
    [
      'max_msg_size is one byte too small',
      { max_msg_size: 16_511 },
      {},
      {},
      /messages of at most .* \(max_msg_size\), but --max-view/,
    ],
    [
      'max_bytes is one byte too small',
      { max_bytes: 16_511 },
      {},
      {},
      /holds at most .* \(max_bytes\), but --max-view/,
    ],
    [
      'max_payload is one byte too small',
      {},
      { payloadMax: 16_511 },
      {},
      /messages of at most .* \(max_payload\), but --max-view/,
    ],
    [
      'every limit is just large enough for a view',
      { max_msg_size: 16_512, max_bytes: 16_512 },
      { payloadMax: 16_512 },
      {},
      undefined,
    ],
  ];
  const compared = rows.map(
    (row) => [row[4] === undefined ? "doesn't warn" : 'warns', ...row] as const,
  );
  it.each(compared)('%s if %s', (_, _what, change, needs, cluster, text) => {
    const info = { config: { ...CONFIG, ...change }, ...(cluster && { cluster }) } as StreamInfo;
    const [warning, ...others] = configWarnings(info, { ...NEEDS, ...needs });
    expect(others).toStrictEqual([]);
    if (text === undefined) expect(warning).toBeUndefined();
    else expect(warning).toMatch(text);
    const isTooSmall = warning?.includes('but --max-view') ?? false;
    expect(limitFault(info.config, { ...NEEDS, ...needs })).toBe(isTooSmall ? warning : undefined);
  });

  it.each<['space' | 'no space', when: string, change: object, state: object]>([
    ['space', 'the stream has no limits', {}, { bytes: 1e9, messages: 1e9 }],
    ['space', 'just enough bytes are left', { max_bytes: 20_000 }, { bytes: 3_488, messages: 1 }],
    ['no space', 'one byte too few is left', { max_bytes: 20_000 }, { bytes: 3_489, messages: 1 }],
    ['space', 'one message is left', { max_msgs: 3 }, { bytes: 1, messages: 2 }],
    ['no space', 'no message is left', { max_msgs: 3 }, { bytes: 1, messages: 3 }],
    ['space', 'old messages make way', { max_msgs: 3, discard: 'old' }, { bytes: 1, messages: 3 }],
  ])('finds %s for the largest view if %s', (outcome, _, change, state) => {
    const info = { config: { ...CONFIG, ...change }, state } as unknown as StreamInfo;
    expect(hasSpaceFor(info, 16_384)).toBe(outcome === 'space');
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
])('seenOf reports the lagging servers: %s', (_, followers, lagging, fault) => {
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
