import { expect, it } from 'vitest';
import {
  type HealthEvent,
  initialHealth,
  next,
  needsProbe,
  publicReason,
  refusalReason,
} from '../../src/jetstream/stream-health.ts';

// Each row: events with the second at which they come, and the state after the last event.

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
const sound = (at: number, hasRoom = true, askedAt = at): At => [
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

it.each<[string, string | undefined, At[]]>([
  ['a start', undefined, []],
  ['no answer, soon after an answer', undefined, [acknowledged(1), timeout(5.9)]],
  ['five seconds without an acknowledgement', SILENT, [acknowledged(1), timeout(6)]],
  ['silence, though the stream looks sound', SILENT, [timeout(6), sound(7), sound(8)]],
  ['silence until a probe is answered', undefined, [timeout(6), sound(7), probed(7)]],
  ['silence until a view is acknowledged', undefined, [timeout(6), acknowledged(7)]],
  ['a probe sent before the silence', SILENT, [timeout(6), probed(7, 5)]],
  ['a lost connection', DISCONNECTED, [acknowledged(1), lost(60)]],
  ['a lost view', undefined, [[9, { type: 'failed', failure: { kind: 'disconnected' } }]]],
  ['a new connection, which has its own time', undefined, [lost(1), back(60), unanswered(65)]],
  ['a new connection without an answer', UNANSWERED, [lost(1), back(60), unanswered(65.1)]],
  ['no answer, until one comes and a probe too', undefined, [unanswered(6), sound(7), probed(7)]],
  ['no answer, until the stream looks sound', UNANSWERED, [unanswered(6), sound(7)]],
  ['a stream that is gone', GONE, [down(1)]],
  ['a stream that is gone, and a probe', undefined, [down(1), sound(2), probed(2)]],
  ['an acknowledgement after the question', undefined, [acknowledged(2), down(3, 'down', 1)]],
  ['a full stream', FULL, [refused(1, 'space')]],
  ['a full stream after minutes', FULL, [refused(1, 'space'), sound(200, false)]],
  ['a full stream, and a probe', FULL, [refused(1, 'space'), sound(2, false), probed(2)]],
  ['a full stream that has space', undefined, [refused(1, 'space'), sound(2)]],
  ['space that was there before', FULL, [refused(3, 'space'), sound(4, true, 2)]],
  ['a full stream that accepts a view', undefined, [refused(1, 'space'), acknowledged(2)]],
  ['a full stream that is then gone', GONE, [refused(1, 'space'), down(2)]],
  ['another refusal', REFUSING, [refused(1), sound(5.9)]],
  ['another refusal, five seconds ago', undefined, [refused(1), sound(6)]],
  ['another refusal, repeated', REFUSING, [refused(1), refused(4), sound(6)]],
  ['a refusal of one view', undefined, [refused(1, 'view')]],
  [
    'a refusal of one view while the stream is full',
    FULL,
    [refused(1, 'space'), refused(2, 'view')],
  ],
])('%s: %s', (_, reason, events) => {
  let state = initialHealth(0);
  for (const [second, event] of events) state = next(state, event, second * 1000);
  expect(refusalReason(state)).toBe(reason);
  expect(publicReason(state)).toBe(reason);
  const isProbed = [SILENT, UNANSWERED, GONE].includes(reason ?? '');
  expect(needsProbe(state)).toBe(isProbed);
});

it("clients never see the names of a stream that isn't set up for views", () => {
  const state = next(initialHealth(0), down(1, 'unfit')[1], 1000);
  expect(refusalReason(state)).toBe(GONE);
  expect(publicReason(state)).toBe("the stream isn't set up for views");
});
