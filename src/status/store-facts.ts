import type { ViewStoreState } from '../store/files/view-store.ts';
import type { StoreState } from '../store/store.ts';
import type { StreamStoreState } from '../store/stream/stream-store.ts';
import { remedyOf } from '../view/remedy.ts';
import type { FilesSeen } from './look-around.ts';

/** The state of a store of files, or of one that is a stream. */
export type WatchedState = ViewStoreState | StreamStoreState;

export const isStream = (state: StoreState): state is StreamStoreState => 'stream' in state;

/** Returns the facts about the disk that views go to; `undefined` if they go to a stream. */
export function diskFacts(
  state: WatchedState,
  { bytesPerDay, sizeBytes }: FilesSeen,
  minFreeBytes: number,
) {
  if (isStream(state)) return undefined;
  const { path, fileBytes, freeBytes } = state;
  const isKnown = sizeBytes !== undefined && freeBytes !== undefined;
  const disk = isKnown ? { sizeBytes, freeBytes, minFreeBytes } : undefined;
  const spareBytes = freeBytes === undefined ? undefined : Math.max(0, freeBytes - minFreeBytes);
  return {
    path,
    fileBytes,
    freeBytes,
    minFreeBytes,
    /** The days until the disk is full, by the last complete days. */
    daysLeft: spareBytes !== undefined && bytesPerDay ? spareBytes / bytesPerDay : undefined,
    remedy: remedyOf({ code: 'storage-unavailable', disk }),
  };
}
