import { errnoOf, errorText } from '../base/exit.ts';
import { formatRoundedSize, formatSize } from '../base/format.ts';
import type { DirectoryOptions } from './ops.ts';

interface FreeSpaceOptions extends DirectoryOptions {
  /** 0: never low. */
  readonly minFreeBytes: number;
  /** The consequence of low space, for the log. */
  readonly effect?: string;
}

/** Why views are refused while free space is low. */
export const TOO_LITTLE_SPACE = 'too little free disk space';

/**
 * After low space, this many times `--min-free` must be free, so that viewlog doesn't alternate
 * between refusing and accepting.
 */
export const ENOUGH = 9 / 8;

/** The free space of a directory's file system at the last poll, so no view waits for it. */
export class FreeSpace {
  readonly #options: FreeSpaceOptions;
  /** `undefined` if the runtime or the file system doesn't report it. */
  bytes: number | undefined;
  /** Becomes true below the minimum and false again at 9/8 of it. */
  isLow = false;
  #isLogged = false;

  constructor(options: FreeSpaceOptions) {
    this.#options = options;
  }

  async poll(): Promise<void> {
    const { dir, minFreeBytes, files, log, effect = 'viewlog refuses views' } = this.#options;
    try {
      this.bytes = await files.freeBytes(dir);
    } catch (error) {
      return this.#fail(error);
    }
    const isLow = this.bytes < minFreeBytes * (this.isLow ? ENOUGH : 1);
    if (isLow === this.isLow) return;
    this.isLow = isLow;
    const minimum = `--min-free (${formatSize(minFreeBytes)})`;
    const enough = formatRoundedSize(minFreeBytes * ENOUGH);
    if (isLow)
      log.error(
        `Free disk space at "${dir}" is below ${minimum}, so ${effect} until at least ${enough} is free; delete ` +
          'files on the same disk that you no longer need (a view file only after you have copied it), or start viewlog with a lower --min-free',
      );
    else log.info(`Free disk space at "${dir}" is at least ${enough} again`);
  }

  #fail(error: unknown): void {
    const { minFreeBytes, log } = this.#options;
    // An error without an errno means that Deno forbids the call, for the life of the process.
    if (errnoOf(error) !== undefined || this.#isLogged || minFreeBytes === 0) return;
    this.#isLogged = true;
    log.warn(
      `--min-free is off, because viewlog can't read the free disk space: ${errorText(error)}; ` +
        'start Deno with --allow-sys=statfs',
    );
  }
}
