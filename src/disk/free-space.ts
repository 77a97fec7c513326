import { formatSize } from '../base/format.ts';
import { errnoOf, reasonOf } from '../base/exit.ts';
import type { Log } from '../base/log.ts';
import type { FileOps } from './ops.ts';

/** The free space of the data directory's file system, as of the last poll. */
export interface FreeSpace {
  poll(): Promise<void>;
  /** `undefined` where the runtime or the file system does not tell. */
  bytes(): number | undefined;
  /** Below the minimum, and since then not yet enough. */
  isLow(): boolean;
}

/** So much has to be free, once there was too little, lest it flap. */
export const enoughBytes = (minFreeBytes: number): number => minFreeBytes + minFreeBytes / 8;

interface FreeSpaceOptions {
  readonly dir: string;
  /** 0: never low. */
  readonly minFreeBytes: number;
  readonly files: FileOps;
  readonly log: Log;
  /** What is done about it, for the log. */
  readonly effect?: string;
}

/** Polled every second or two, never for a view. */
export function createFreeSpace({
  dir,
  minFreeBytes,
  files,
  log,
  effect = 'refusing views',
}: FreeSpaceOptions): FreeSpace {
  let free: number | undefined;
  let low = false;
  let off = false;
  const minimum = formatSize(minFreeBytes);

  return {
    async poll() {
      if (off) return;
      try {
        free = await files.freeBytes(dir);
      } catch (error) {
        // No errno: the runtime forbids it (Deno without --allow-sys=statfs), now and for ever.
        off = errnoOf(error) === undefined || errnoOf(error) === 'ENOSYS';
        if (off && minFreeBytes > 0) {
          log.warn(`--min-free is off: cannot tell free disk space: ${reasonOf(error)}`);
        }
        return;
      }
      if (!low && free < minFreeBytes) {
        low = true;
        log.error(`Free disk space at "${dir}" is below --min-free (${minimum}); ${effect}`);
      } else if (low && free >= enoughBytes(minFreeBytes)) {
        low = false;
        log.info(`Free disk space at "${dir}" is above --min-free (${minimum}) again`);
      }
    },
    bytes: () => free,
    isLow: () => low,
  };
}
