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

/** The free space of a directory's file system, as of the last poll; never asked for a view. */
export class FreeSpace {
  readonly #options: FreeSpaceOptions;
  /** `undefined` if the runtime or the file system does not tell. */
  bytes: number | undefined;
  /** Whether it fell below the minimum, and is not an eighth above it again. */
  isLow = false;
  #isUnknown = false;

  constructor(options: FreeSpaceOptions) {
    this.#options = options;
  }

  async poll(): Promise<void> {
    if (this.#isUnknown) return;
    const { dir, minFreeBytes, files, log, effect = 'refusing views' } = this.#options;
    try {
      this.bytes = await files.freeBytes(dir);
    } catch (error) {
      this.#fail(error);
      return;
    }
    // The margin keeps it from flapping.
    const isLow = this.bytes < minFreeBytes * (this.isLow ? 9 / 8 : 1);
    if (isLow === this.isLow) return;
    this.isLow = isLow;
    const minimum = `--min-free (${formatSize(minFreeBytes)})`;
    if (isLow) log.error(`Free disk space at "${dir}" is below ${minimum}; ${effect}`);
    else log.info(`Free disk space at "${dir}" is above ${minimum} again`);
  }

  #fail(error: unknown): void {
    // Without an errno it is Deno that forbids the call, for as long as the process lives.
    if (errnoOf(error) !== undefined) return;
    this.#isUnknown = true;
    if (this.#options.minFreeBytes === 0) return;
    this.#options.log.warn(
      `--min-free is off: free disk space is unknown: ${reasonOf(error)}; ` +
        'start Deno with --allow-sys=statfs',
    );
  }
}
