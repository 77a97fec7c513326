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
  it.each<[object, RegExp | undefined]>([
    ...['views.>', 'views.*', '>', '*.>', '*.*'].map((subject): [object, undefined] => [
      { subjects: ['other', subject] },
      undefined,
    ]),
    [{ subjects: ['views', 'views.1', 'views.*.x', '*', 'view.>'] }, /include views\.<project>/],
    [{ subjects: undefined }, /don't include/],
    [{ storage: 'memory' }, /in memory/],
    [{ retention: 'workqueue' }, /drops messages that were read/],
    [{ retention: 'interest' }, /drops messages that were read/],
    [{ no_ack: true }, /acknowledges nothing/],
    [{ sealed: true }, /sealed/],
  ])('with %j has the fault %s', (change, fault) => {
    const found = configFault({ ...CONFIG, ...change });
    if (fault === undefined) expect(found).toBeUndefined();
    else expect(found).toMatch(fault);
  });

  it.each<[object, string[]]>([
    [{ discard: 'old', max_bytes: 100_000 }, ['max_bytes']],
    [{ discard: 'old', max_msgs: 1 }, ['max_msgs']],
    [{ max_age: 1 }, ['max_age']],
    [{ max_msgs_per_subject: 1 }, ['max_msgs_per_subject']],
    [{ discard: 'old' }, []],
    [{ max_bytes: 100_000, max_msgs: 1 }, []],
  ])('with %j drops old views at %j', (change, limits) => {
    const warnings = configWarnings({ config: { ...CONFIG, ...change } }, NEEDS);
    expect(warnings).toStrictEqual(
      limits.map((limit) => `Stream VIEWS drops its oldest views at a limit (${limit})`),
    );
  });

  it.each<[object, object, object | undefined, RegExp | undefined]>([
    [{}, { replicas: 1 }, undefined, /is stored on 3 servers, not --nats-replicas 1/],
    [{ num_replicas: 1 }, {}, { name: 'c' }, /on 1 server of cluster "c"; .* --replicas 3$/],
    [{ num_replicas: 1 }, {}, {}, undefined],
    [{ num_replicas: 1 }, {}, undefined, undefined],
    [{ num_replicas: 1 }, { replicas: 1 }, { name: 'c' }, undefined],
    [{}, {}, { name: 'c' }, undefined],
    [{ max_msgs_per_subject: 7, discard_new_per_subject: true }, {}, {}, /views beyond 7 views/],
    [{ max_msg_size: 16_511 }, {}, {}, /messages of at most .* \(max_msg_size\), too little/],
    [{ max_bytes: 16_511 }, {}, {}, /holds at most .* \(max_bytes\), too little/],
    [{}, { payloadMax: 16_511 }, {}, /messages of at most .* \(max_payload\), too little/],
    [{ max_msg_size: 16_512, max_bytes: 16_512 }, { payloadMax: 16_512 }, {}, undefined],
  ])('with %j, needs %j and cluster %j, gets the warning %s', (change, needs, cluster, text) => {
    const info = { config: { ...CONFIG, ...change }, ...(cluster && { cluster }) } as StreamInfo;
    const [warning, ...others] = configWarnings(info, { ...NEEDS, ...needs });
    expect(others).toStrictEqual([]);
    if (text === undefined) expect(warning).toBeUndefined();
    else expect(warning).toMatch(text);
    const isTooSmall = warning?.includes('too little') ?? false;
    expect(limitFault(info.config, { ...NEEDS, ...needs })).toBe(isTooSmall ? warning : undefined);
  });

  it.each<[object, object, boolean]>([
    [{}, { bytes: 1e9, messages: 1e9 }, true],
    [{ max_bytes: 20_000 }, { bytes: 3_488, messages: 1 }, true],
    [{ max_bytes: 20_000 }, { bytes: 3_489, messages: 1 }, false],
    [{ max_msgs: 3 }, { bytes: 1, messages: 2 }, true],
    [{ max_msgs: 3 }, { bytes: 1, messages: 3 }, false],
    [{ max_msgs: 3, discard: 'old' }, { bytes: 1, messages: 3 }, true],
  ])('with %j and %j has space for the largest view: %s', (change, state, hasRoom) => {
    const info = { config: { ...CONFIG, ...change }, state } as unknown as StreamInfo;
    expect(hasRoomFor(info, 16_384)).toBe(hasRoom);
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
