import { formatRoundedSize, formatSize } from '../base/format.ts';
import type { Projects } from '../projects/project-list.ts';
import { STOPPING } from '../store/store.ts';
import type { RefusedState } from '../store/refused/refused-files.ts';
import type { ViewStoreState } from '../store/files/view-store.ts';
import type { StreamStoreState } from '../store/stream/stream-store.ts';
import type { Counts } from './counts.ts';

/** The state of a store of files or of a stream. */
export type WatchedState = ViewStoreState | StreamStoreState;

export const isStream = (state: WatchedState): state is StreamStoreState => 'stream' in state;

export interface Health {
  /** Why the service must not be sent requests now. */
  readonly reasons: readonly string[];
  /** Problems that the operator should look at, although the service works. */
  readonly warnings: readonly string[];
}

/** A collector's current state. */
export interface CollectorState {
  readonly counts: Counts;
  readonly projects: Projects;
  readonly store: WatchedState;
  readonly refused: RefusedState;
  readonly queue: { readonly bytes: number; readonly bytesMax: number };
  readonly minFreeBytes: number;
  readonly viewBytesMax: number;
  readonly isStopping: boolean;
  readonly nowMs: number;
}

export const NONE_ACTIVE = 'No project is active, so every view is refused';

export const isAnyActive = ({ projects }: Pick<CollectorState, 'projects'>): boolean =>
  projects.all().some(({ active }) => active);

export const isReady = ({ reasons }: Health): boolean => reasons.length === 0;

/**
 * A collector is unready only if it can't store views or is about to stop. With an invalid
 * projects file it continues with the last good one and must stay in service.
 */
export function healthOf(state: CollectorState): Health {
  const { projects, store, isStopping } = state;
  const none = isAnyActive(state) ? undefined : NONE_ACTIVE;
  const reason = isStopping ? STOPPING : store.unavailable;
  return {
    reasons: reason === undefined ? [] : [reason],
    warnings: [projects.fault?.message, none, ...warningsOf(state)].filter(
      (one) => one !== undefined,
    ),
  };
}

/** Returns the warnings that have no place of their own on the status page. */
export function warningsOf({ store, minFreeBytes }: CollectorState): readonly string[] {
  if (isStream(store)) {
    const { name, warnings, seen } = store.stream;
    if (seen.lagging.length === 0) return [...warnings];
    const { lagging, replicas } = seen;
    const are = lagging.length === 1 ? 'is' : 'are';
    const which = `${lagging.length} of ${replicas} servers of stream ${name} ${are} down or behind`;
    return [...warnings, `${which}: ${lagging.join(', ')}`];
  }
  const { unavailable, freeBytes = Infinity } = store;
  const leastBytes = 2 * minFreeBytes;
  if (unavailable !== undefined || freeBytes >= leastBytes) return [];
  const low = `Free disk space (${formatRoundedSize(freeBytes)}) is below ${formatSize(leastBytes)}`;
  return [
    `${low}, which is twice --min-free, so viewlog no longer stores refused views; free some space or lower --min-free`,
  ];
}
