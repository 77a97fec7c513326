import type { ViewStoreState } from '../store/files/view-store.ts';
import type { StoreState } from '../store/store.ts';
import type { StreamStoreState } from '../store/stream/stream-store.ts';
import { remedyOf } from '../view/remedy.ts';
import type { FilesSeen } from './look-around.ts';

/** The state of a store of files, or of one that is a stream. */
export type WatchedState = ViewStoreState | StreamStoreState;

export const isStream = (state: StoreState): state is StreamStoreState => 'stream' in state;

export type Space = ReturnType<typeof spaceOf>;

/** Judges the free space of the data directory's disk; nothing is known without `freeBytes`. */
export function spaceOf(
  freeBytes: number | undefined,
  minFreeBytes: number,
  { bytesPerDay, sizeBytes = Infinity }: Pick<FilesSeen, 'bytesPerDay' | 'sizeBytes'>,
) {
  const disk = freeBytes === undefined ? undefined : { sizeBytes, freeBytes, minFreeBytes };
  const spareBytes = Math.max(0, (freeBytes ?? 0) - minFreeBytes);
  return {
    freeBytes,
    minFreeBytes,
    /** The days until the disk is full, by the last complete days. */
    daysLeft: disk && bytesPerDay ? spareBytes / bytesPerDay : undefined,
    remedy: remedyOf({ code: 'storage-unavailable', disk }),
  };
}
