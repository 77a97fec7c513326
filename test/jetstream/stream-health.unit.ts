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
const healthy = (at: number, hasRoom = true, askedAt = at): At => [
  at,
  { type: 'inspected', askedMs: askedAt * 1000, fault: undefined, hasRoom },
];
const GONE = 'the stream is gone';
const down = (at: number, kind: 'down' | 'unfit' = 'down', askedAt = at): At => [
  at,
  { type: 'inspected', askedMs: askedAt * 1000, fault: { kind, text: GONE }, hasRoom: false },
];

const SILENT = 'the cluster acknowledges nothing';
const UNANSWERED = "the cluster doesn't answer";
const DISCONNECTED = 'there is no connection to the cluster';
const FULL = 'the stream is full';
const REFUSING = "the stream doesn't accept the view";

const ROWS: [what: string, reason: string | undefined, events: At[]][] = [
  ['no event', undefined, []],
  ['no answer, soon after an answer', undefined, [acknowledged(1), timeout(5.9)]],
  ['five seconds without an acknowledgement', SILENT, [acknowledged(1), timeout(6)]],
  ['silence, even if the stream looks healthy', SILENT, [timeout(6), healthy(7), healthy(8)]],
  ['silence and then the answer to a probe', undefined, [timeout(6), healthy(7), probed(7)]],
  ['silence and then an acknowledgement', undefined, [timeout(6), acknowledged(7)]],
  ['silence and the answer to a probe sent before', SILENT, [timeout(6), probed(7, 5)]],
  ['a lost connection', DISCONNECTED, [acknowledged(1), lost(60)]],
  ['a lost view', undefined, [[9, { type: 'failed', failure: { kind: 'disconnected' } }]]],
  [
    'a new connection, whose server has five seconds to answer',
    undefined,
    [lost(1), back(60), unanswered(65)],
  ],
  [
    'a new connection, and no answer for more than five seconds',
    UNANSWERED,
    [lost(1), back(60), unanswered(65.1)],
  ],
  [
    'no answer, and then answers to a question and a probe',
    undefined,
    [unanswered(6), healthy(7), probed(7)],
  ],
  [
    'no answer, and then only that the stream looks healthy',
    UNANSWERED,
    [unanswered(6), healthy(7)],
  ],
  ['a stream that is gone', GONE, [down(1)]],
  [
    'a stream that was gone, and then the answer to a probe',
    undefined,
    [down(1), healthy(2), probed(2)],
  ],
  ['an acknowledgement newer than the question', undefined, [acknowledged(2), down(3, 'down', 1)]],
  ['a full stream', FULL, [refused(1, 'space')]],
  [
    'a full stream that is still full after minutes',
    FULL,
    [refused(1, 'space'), healthy(200, false)],
  ],
  ['a full stream that answers a probe', FULL, [refused(1, 'space'), healthy(2, false), probed(2)]],
  ['a full stream that has space', undefined, [refused(1, 'space'), healthy(2)]],
  ['a full stream that had space before', FULL, [refused(3, 'space'), healthy(4, true, 2)]],
  ['a full stream that accepts a view', undefined, [refused(1, 'space'), acknowledged(2)]],
  ['a full stream that is then gone', GONE, [refused(1, 'space'), down(2)]],
  ['a refusal for another reason', REFUSING, [refused(1), healthy(5.9)]],
  ['a refusal for another reason five seconds ago', undefined, [refused(1), healthy(6)]],
  ['a repeated refusal for another reason', REFUSING, [refused(1), refused(4), healthy(6)]],
  ['a refusal of one view', undefined, [refused(1, 'view')]],
  [
    'a refusal of one view while the stream is full',
    FULL,
    [refused(1, 'space'), refused(2, 'view')],
  ],
];

const named = ROWS.map(([what, reason, events]) => {
  const outcome = reason === undefined ? 'views are accepted' : `views are refused: ${reason}`;
  return [what, outcome, reason, events] as const;
});

it.each(named)('with %s, %s', (_, _outcome, reason, events) => {
  let state = initialHealth(0);
  for (const [second, event] of events) state = next(state, event, second * 1000);
  expect(refusalReason(state)).toBe(reason);
  expect(publicReason(state)).toBe(reason);
  const isProbed = [SILENT, UNANSWERED, GONE].includes(reason ?? '');
  expect(needsProbe(state)).toBe(isProbed);
});

it("the reason for clients names nothing of a stream that isn't set up for views", () => {
  const state = next(initialHealth(0), down(1, 'unfit')[1], 1000);
  expect(refusalReason(state)).toBe(GONE);
  expect(publicReason(state)).toBe("the stream isn't set up for views");
});
