import { errnoOf, reasonOf } from '../base/exit.ts';
import { formatSize } from '../base/format.ts';
import type { Log } from '../base/log.ts';
import type { FileOps } from './ops.ts';

interface FreeSpaceOptions {
  readonly dir: string;
  /** 0: never low. */
  readonly minFreeBytes: number;
  readonly files: FileOps;
  readonly log: Log;
  /** The consequence of low space, for the log. */
  readonly effect?: string;
}

/** Free bytes at which views are accepted again. The margin keeps it from flapping. */
export const enoughBytes = (minFreeBytes: number): number => minFreeBytes + minFreeBytes / 8;

/** The free space of a directory's file system, as of the last poll; never asked for a view. */
export class FreeSpace {
  readonly #options: FreeSpaceOptions;
  #bytes: number | undefined;
  #isLow = false;
  #isUnknown = false;

  constructor(options: FreeSpaceOptions) {
    this.#options = options;
  }

  /** `undefined` if the runtime or the file system does not tell. */
  bytes(): number | undefined {
    return this.#bytes;
  }

  /** Whether it fell below the minimum, and is not an eighth above it again. */
  isLow(): boolean {
    return this.#isLow;
  }

  async poll(): Promise<void> {
    if (this.#isUnknown) return;
    const { dir, minFreeBytes, files, log, effect = 'refusing views' } = this.#options;
    const minimum = formatSize(minFreeBytes);
    try {
      this.#bytes = await files.freeBytes(dir);
    } catch (error) {
      this.#fail(error);
      return;
    }
    if (!this.#isLow && this.#bytes < minFreeBytes) {
      this.#isLow = true;
      log.error(`Free disk space at "${dir}" is below --min-free (${minimum}); ${effect}`);
    } else if (this.#isLow && this.#bytes >= enoughBytes(minFreeBytes)) {
      this.#isLow = false;
      log.info(`Free disk space at "${dir}" is above --min-free (${minimum}) again`);
    }
  }

  #fail(error: unknown): void {
    const { minFreeBytes, log } = this.#options;
    // Without an errno it is Deno that forbids the call, for as long as the process lives.
    const isForbidden = errnoOf(error) === undefined;
    this.#isUnknown = isForbidden || errnoOf(error) === 'ENOSYS';
    if (!this.#isUnknown || minFreeBytes === 0) return;
    const hint = isForbidden ? '; start Deno with --allow-sys=statfs' : '';
    log.warn(`--min-free is off: free disk space is unknown: ${reasonOf(error)}${hint}`);
  }
}
