// One writer a data directory, by a Unix socket in it. Neither Node nor Bun offers flock, and a pid
// in a file says nothing after a reboot; but a socket answers as long as its process lives, and
// refuses as soon as it does not, on Node, Bun and Deno alike, with nothing allowed but the
// directory.
//
// The sockets are `viewlog.lock.1`, `.2`, … A starter that finds all of them dead takes the number
// after the highest, and never by removing the dead one first: between looking and removing,
// another might have taken it. What makes the winner unique:
//   - A socket gets its number by link(), when it already listens. So a number goes to one process
//     only, and from its first instant on it is live; what refuses is dead for good.
//   - The highest number is never removed by viewlog, only superseded: numbers grow. A starter
//     that sees, after taking one, that a higher one exists, was late, and looks again.
//   - The winner removes the number that it found dead, which only one process can do: the dead
//     one has one successor, even where somebody has removed a socket in between.
// A released lock is a dead socket, and stays.
//
// Others remove sockets too, and then a starter finds none, though a holder lives. So the holder
// looks after its socket, more often than once a second, and takes the next number where it is
// gone. It begins a write only while its last look is less than a second ago (the lease). A starter
// that is no dead one's successor has to wait for two: by then a living holder has come back, or it
// will look before it writes again, and find the starter. Only in a directory in which no holder
// has left anything there is nobody to wait for. What no lease calls back is a write that had begun
// when its process was stopped (SIGSTOP): it can land once the process goes on.
//
// Where the path names another directory (moved away, replaced, mounted), that one is locked before
// a file is opened in it. A number is taken only in the directory in which it was found to be next.
// The old one stays locked for a while, for writes that are under way.
//
// It holds on one machine: a directory that several machines mount (NFS) is not protected.
import { EXIT, Fatal, reasonOf } from '../base/exit.ts';
import type { Log } from '../base/log.ts';
import { atMultiplesOf } from '../base/time.ts';
import { prepareDirectory } from './directory.ts';
import { guardedFiles } from './guarded-files.ts';
import {
  HeldByOther,
  LEASE_MS,
  type LockKind,
  type Race,
  retakeLock,
  winLock,
} from './lock-race.ts';
import type { Hold } from './lock-socket.ts';
import { ARCHIVE_RECORD, dayOfFileName, LOCK_PREFIX, RETENTION_NOTE } from './names.ts';
import { type FileOps, systemFiles } from './ops.ts';

export interface Lock {
  /** For whatever makes files in the directory: they open and write only while the lock is held. */
  readonly files: FileOps;
  /**
   * Resolves when the lock is held in the directory that the path names now.
   * @throws {HeldByOther} exit 73, for good. Any other error: it is not held yet.
   */
  ensure(): Promise<void>;
  /** Whether it is, just now. */
  isHeld(): boolean;
  release(): Promise<void>;
}

const WRITER: LockKind = {
  prefix: LOCK_PREFIX,
  heldBy: (dir, holder) =>
    `Another viewlog writes to "${dir}": ${holder}; stop it, or choose another --data`,
  isLeft: (name) =>
    dayOfFileName('views', name) !== undefined ||
    dayOfFileName('refused', name) !== undefined ||
    name === ARCHIVE_RECORD ||
    name === RETENTION_NOTE,
};

interface LockOptions {
  readonly kind?: LockKind;
  readonly log?: Log;
  /** Another process holds it now: this one must end. Called once. */
  readonly onLost?: (fatal: Fatal) => void;
  readonly files?: FileOps;
}

/** Together with the view store's look at its file. */
const LOOK_MS = 800;
/** How long a directory that the path no longer names stays locked. */
const FORMER_MS = 60_000;
const QUIET: Log = { info() {}, warn() {}, error() {} };

/**
 * Makes this process the only writer (or the only one of its kind) in the directory, made if
 * missing, and keeps it so.
 * @throws {Fatal} exit 73: it has one, whose pid is named, or can't be written to.
 */
export async function acquireLock(dir: string, options: LockOptions = {}): Promise<Lock> {
  const { kind = WRITER, log = QUIET, onLost = () => {}, files = systemFiles } = options;
  const warn = (message: string): void => log.warn(message);
  await prepareDirectory(dir, files, warn);
  const race = { dir, kind, warn };
  return new HeldLock({ race, log, onLost, files }, await winLock(race));
}

interface HeldOptions extends Required<Pick<LockOptions, 'log' | 'onLost' | 'files'>> {
  readonly race: Race;
}

class HeldLock implements Lock {
  readonly files: FileOps;
  readonly #options: HeldOptions;
  readonly #endLooks: () => void;
  #hold: Hold;
  /** In directories that the path named before. */
  readonly #former = new Set<Hold>();
  /** When the socket was in its place, at the latest. */
  #seenMs = Number.NEGATIVE_INFINITY;
  #mending: Promise<void> | undefined;
  #lost: Fatal | undefined;
  #isFailing = false;

  constructor(options: HeldOptions, hold: Hold) {
    const { files, race } = options;
    this.#options = options;
    this.#hold = hold;
    this.#isInPlace();
    this.files = guardedFiles(files, {
      ensure: () => this.ensure(),
      isInPlace: () => this.#isInPlace(),
      mayWrite: () => this.#mayWrite(),
      warn: race.warn,
    });
    this.#endLooks = atMultiplesOf(LOOK_MS, () => void this.#look());
  }

  ensure(): Promise<void> {
    if (this.#lost !== undefined) return Promise.reject(this.#lost);
    if (this.#mending !== undefined) return this.#mending;
    if (this.#isInPlace()) return Promise.resolve();
    this.#mending = this.#mend().finally(() => (this.#mending = undefined));
    return this.#mending;
  }

  isHeld(): boolean {
    return this.#lost === undefined && this.#mending === undefined && this.#isInPlace();
  }

  async release(): Promise<void> {
    this.#endLooks();
    await this.#mending?.catch(() => {});
    await Promise.all([this.#hold, ...this.#former].map((hold) => hold.close()));
    this.#former.clear();
  }

  #isInPlace(): boolean {
    const nowMs = performance.now();
    if (this.#hold.look() !== 'here') return false;
    this.#seenMs = nowMs;
    return true;
  }

  #hasLease(): boolean {
    return performance.now() - this.#seenMs < LEASE_MS;
  }

  /** To files that are open: those in a directory that was moved are under its lock still. */
  #mayWrite(): boolean {
    if (this.#lost !== undefined) return false;
    return this.#hasLease() || this.#isInPlace() || this.#hold.look() === 'moved';
  }

  async #look(): Promise<void> {
    try {
      await this.ensure();
      this.#isFailing = false;
    } catch (error) {
      if (!this.#isFailing && this.#lost === undefined) this.#options.log.warn(reasonOf(error));
      this.#isFailing = true;
    }
  }

  async #mend(): Promise<void> {
    const isThere = this.#hold.look() !== 'moved';
    try {
      await (isThere ? this.#retake() : this.#follow());
    } catch (error) {
      const isLost = error instanceof HeldByOther || (isThere && error instanceof Fatal);
      // Not as one that ends the process: the directory may come back, or be made.
      if (!isLost) throw new Error(reasonOf(error), { cause: error });
      this.#lost = error;
      this.#options.onLost(error);
      throw error;
    }
    if (!this.#isInPlace()) throw new Error('The lock was removed again');
  }

  async #retake(): Promise<void> {
    const { race, log } = this.#options;
    log.warn(`The lock of "${race.dir}" was removed, not by viewlog; taking it again`);
    const hold = await retakeLock(race, this.#hold, () => this.#hasLease());
    const removed = this.#hold;
    this.#hold = hold ?? (await winLock(race));
    await removed.close();
  }

  async #follow(): Promise<void> {
    const { race, log } = this.#options;
    const { dir, kind } = race;
    if (kind.moved !== undefined) throw new HeldByOther(EXIT.cannotCreate, kind.moved(dir));
    const back = [...this.#former].find((hold) => hold.look() === 'here');
    const hold = back ?? (await winLock(race));
    this.#former.delete(hold);
    this.#leave(this.#hold);
    this.#hold = hold;
    log.warn(`"${dir}" is another directory than before, not by viewlog; going on in this one`);
  }

  #leave(hold: Hold): void {
    this.#former.add(hold);
    const end = (): void => void (this.#former.delete(hold) && hold.close());
    setTimeout(end, FORMER_MS).unref();
  }
}
