import { expect, it } from 'vitest';
import {
  type HealthEvent,
  initialHealth,
  next,
  needsProbe,
  publicReason,
  refusalReason,
} from '../../src/jetstream/stream-health.ts';

// Each row has events, each with its second, and the reason to refuse views after the last event.

type At = readonly [second: number, event: HealthEvent];

const acknowledged = (at: number): At => [at, { type: 'acknowledged' }];
const lost = (at: number): At => [at, { type: 'disconnected' }];
const back = (at: number): At => [at, { type: 'connected' }];
const unanswered = (at: number): At => [at, { type: 'unanswered' }];
const timeout = (at: number): At => [at, { type: 'failed', failure: { kind: 'timeout' } }];
const refused = (at: number, scope?: 'view' | 'space'): At => [
  at,
  { type: 'failed', failure: { kind: 'refused', ...(scope && { scope }) } },
];
const probed = (at: number, askedAt = at): At => [at, { type: 'probed', askedMs: askedAt * 1000 }];
const healthy = (at: number, hasSpace = true, askedAt = at): At => [
  at,
  { type: 'inspected', askedMs: askedAt * 1000, fault: undefined, hasSpace },
];
const GONE = 'the stream is gone';
const down = (at: number, kind: 'down' | 'unfit' = 'down', askedAt = at): At => [
  at,
  { type: 'inspected', askedMs: askedAt * 1000, fault: { kind, text: GONE }, hasSpace: false },
];

const SILENT = 'the cluster acknowledges nothing';
const UNANSWERED = "the cluster doesn't answer";
const DISCONNECTED = 'there is no connection to the cluster';
const FULL = 'the stream is full';
const REFUSING = 'the stream has just refused a view';

const ROWS: [what: string, reason: string | undefined, events: At[]][] = [
  ['views are accepted before any event', undefined, []],
  [
    "less than five seconds without an acknowledgement isn't an outage",
    undefined,
    [acknowledged(1), timeout(5.9)],
  ],
  ['five seconds without an acknowledgement is an outage', SILENT, [acknowledged(1), timeout(6)]],
  [
    "after missing acknowledgements, a healthy-looking stream doesn't end the outage",
    SILENT,
    [timeout(6), healthy(7), healthy(8)],
  ],
  ['the answer to a probe ends an outage', undefined, [timeout(6), healthy(7), probed(7)]],
  ['an acknowledgement ends an outage', undefined, [timeout(6), acknowledged(7)]],
  [
    "the answer to a probe from before an outage doesn't end the outage",
    SILENT,
    [timeout(6), probed(7, 5)],
  ],
  [
    'views are refused as soon as the connection is lost',
    DISCONNECTED,
    [acknowledged(1), lost(60)],
  ],
  [
    'a view that is lost with the connection causes no outage',
    undefined,
    [[9, { type: 'failed', failure: { kind: 'disconnected' } }]],
  ],
  [
    'the server of a new connection has five seconds to answer',
    undefined,
    [lost(1), back(60), unanswered(65)],
  ],
  [
    'more than five seconds without an answer on a new connection is an outage',
    UNANSWERED,
    [lost(1), back(60), unanswered(65.1)],
  ],
  [
    'answers to a question and to a probe end an outage',
    undefined,
    [unanswered(6), healthy(7), probed(7)],
  ],
  [
    "after unanswered questions, a healthy-looking stream doesn't end the outage until it answers a probe",
    UNANSWERED,
    [unanswered(6), healthy(7)],
  ],
  ['views are refused if the stream is gone', GONE, [down(1)]],
  [
    'views are accepted once a stream that was gone answers a probe',
    undefined,
    [down(1), healthy(2), probed(2)],
  ],
  [
    'an acknowledgement outweighs the answer to an older question',
    undefined,
    [acknowledged(2), down(3, 'down', 1)],
  ],
  ['views are refused if the stream is full', FULL, [refused(1, 'space')]],
  [
    'views are refused as long as the stream is full, even for minutes',
    FULL,
    [refused(1, 'space'), healthy(200, false)],
  ],
  [
    "the answer to a probe doesn't show that a full stream has space",
    FULL,
    [refused(1, 'space'), healthy(2, false), probed(2)],
  ],
  ['views are accepted once a full stream has space', undefined, [refused(1, 'space'), healthy(2)]],
  [
    "space that a stream had before it was full doesn't count",
    FULL,
    [refused(3, 'space'), healthy(4, true, 2)],
  ],
  [
    'views are accepted once a full stream accepts a view',
    undefined,
    [refused(1, 'space'), acknowledged(2)],
  ],
  ['a stream that is gone is no longer reported as full', GONE, [refused(1, 'space'), down(2)]],
  [
    'views are refused for five seconds after a refusal for another reason',
    REFUSING,
    [refused(1), healthy(5.9)],
  ],
  [
    'views are accepted five seconds after a refusal for another reason',
    undefined,
    [refused(1), healthy(6)],
  ],
  [
    'a repeated refusal for another reason starts the five seconds again',
    REFUSING,
    [refused(1), refused(4), healthy(6)],
  ],
  ['after a refusal of one view, other views are still accepted', undefined, [refused(1, 'view')]],
  [
    "a refusal of one view doesn't show that a full stream has space",
    FULL,
    [refused(1, 'space'), refused(2, 'view')],
  ],
];

it.each(ROWS)('%s', (_, reason, events) => {
  let state = initialHealth(0);
  for (const [second, event] of events) state = next(state, event, second * 1000);
  expect(refusalReason(state)).toBe(reason);
  expect(publicReason(state)).toBe(reason);
  const isProbed = [SILENT, UNANSWERED, GONE].includes(reason ?? '');
  expect(needsProbe(state)).toBe(isProbed);
});

it("if a stream isn't set up for views, the reason given to clients doesn't name it", () => {
  const state = next(initialHealth(0), down(1, 'unfit')[1], 1000);
  expect(refusalReason(state)).toBe(GONE);
  expect(publicReason(state)).toBe("the stream isn't set up for views");
});
