import type { Failure } from './publisher.ts';

// Tracks whether a stream accepts views: a state and the effect of each event on it. `StreamWatch`
// delivers the events.

/** Times are monotonic, in milliseconds. */
export interface HealthState {
  readonly isConnected: boolean;
  /** When the stream last acknowledged a view and when it last answered anything. */
  readonly acknowledgedMs: number;
  readonly answeredMs: number;
  /** Why no view is published now, although there may be a connection. */
  readonly fault: Fault | undefined;
}

/**
 * `down`: the stream is gone, has no leader or no quorum, or doesn't answer. `unfit`: its
 * configuration is wrong. `silent`: it acknowledges nothing. `full`: it has refused a view because
 * of its limits. `refusing`: it refuses views for another reason, such as its account's limits,
 * which its state doesn't show.
 */
export interface Fault {
  readonly kind: 'down' | 'unfit' | 'silent' | 'full' | 'refusing';
  /** For the operator. */
  readonly text: string;
  readonly sinceMs: number;
}

export type HealthEvent =
  | { readonly type: 'connected' | 'disconnected' }
  | { readonly type: 'acknowledged' }
  | { readonly type: 'failed'; readonly failure: Failure }
  /** The leader has answered a question that was asked at `askedMs`. */
  | {
      readonly type: 'inspected';
      readonly askedMs: number;
      readonly fault: { readonly kind: 'down' | 'unfit'; readonly text: string } | undefined;
      /** True: its limits allow the largest view. */
      readonly hasSpace: boolean;
    }
  | { readonly type: 'unanswered' }
  /** The stream has answered a probe that was sent at `askedMs`, so it processes messages. */
  | { readonly type: 'probed'; readonly askedMs: number };

/**
 * After this long without an acknowledgement or without an answer, views are refused without being
 * published.
 */
const SILENCE_MAX_MS = 5_000;
/** The next view is tried after this time. */
const REFUSING_MS = 5_000;

const DISCONNECTED = 'there is no connection to the cluster';
const SILENT = 'the cluster acknowledges nothing';
const UNANSWERED = "the cluster doesn't answer";
const FULL = 'the stream is full';
const REFUSING = 'the stream has just refused a view';
const UNFIT = "the stream isn't set up for views";

export const initialHealth = (nowMs: number): HealthState => ({
  isConnected: true,
  acknowledgedMs: -Infinity,
  answeredMs: nowMs,
  fault: undefined,
});

/** Returns why views are refused now, for the operator. */
export const refusalReason = ({ isConnected, fault }: HealthState): string | undefined =>
  isConnected ? fault?.text : DISCONNECTED;

/** Returns the same for clients: without names of streams or subjects, and without the fix. */
export const publicReason = (state: HealthState): string | undefined =>
  state.isConnected && state.fault?.kind === 'unfit' ? UNFIT : refusalReason(state)?.split(';')[0];

/** Returns whether a probe must be answered before views are published again. */
export const needsProbe = ({ fault }: HealthState): boolean =>
  fault !== undefined && !isRefusing(fault);

const isRefusing = ({ kind }: Fault): boolean => kind === 'full' || kind === 'refusing';

/** Returns the state after an event. */
export function next(state: HealthState, event: HealthEvent, nowMs: number): HealthState {
  const { isConnected, fault, acknowledgedMs, answeredMs } = state;
  // Not a copy of the state: each view causes this event, and a copy would be 2% of its CPU time.
  if (event.type === 'acknowledged') {
    return { isConnected, acknowledgedMs: nowMs, answeredMs: nowMs, fault: undefined };
  }
  const failing = (kind: Fault['kind'], text: string): HealthState => {
    const isSame = fault?.kind === kind && fault.text === text && !isRefusing(fault);
    return isSame ? state : { ...state, fault: { kind, text, sinceMs: nowMs } };
  };
  switch (event.type) {
    case 'disconnected':
      return { ...state, isConnected: false };
    case 'connected':
      // The next server gets its own time to answer.
      return { ...state, isConnected: true, answeredMs: nowMs };
    case 'failed': {
      const { kind, scope } = event.failure;
      if (scope === 'view') return state;
      if (kind === 'refused') {
        return scope === 'space' ? failing('full', FULL) : failing('refusing', REFUSING);
      }
      const isSilent = kind !== 'disconnected' && nowMs - acknowledgedMs >= SILENCE_MAX_MS;
      return isSilent && fault === undefined ? failing('silent', SILENT) : state;
    }
    case 'unanswered':
      return nowMs - answeredMs > SILENCE_MAX_MS ? failing('down', UNANSWERED) : state;
    case 'inspected': {
      const answered = { ...state, answeredMs: nowMs };
      // An acknowledgement that came meanwhile is newer.
      if (acknowledgedMs >= event.askedMs) return answered;
      if (event.fault !== undefined) {
        return { ...failing(event.fault.kind, event.fault.text), answeredMs: nowMs };
      }
      const { kind, sinceMs = 0 } = fault ?? {};
      const isOver =
        (kind === 'full' && event.hasSpace && sinceMs <= event.askedMs) ||
        (kind === 'refusing' && nowMs - sinceMs >= REFUSING_MS);
      return isOver ? { ...answered, fault: undefined } : answered;
    }
    case 'probed':
    default:
      // A fault found after the probe was sent is newer.
      return needsProbe(state) && fault!.sinceMs <= event.askedMs
        ? { ...state, fault: undefined }
        : state;
  }
}
