// One writer per data directory, by a Unix socket in it (`lock-socket.ts`). The socket works on
// Node, Deno and Bun alike and needs no permission beyond the directory.
//
// A starter
// 1. connects to the lock. Anything but "refused" or "no such file" means that a process holds it.
// 2. listens on a draft beside the lock and renames the draft to the lock.
// 3. waits and checks that the lock is still its own. Only then does the starter hold the lock. It
//    may now open, seal or write files.
//
// If two start together, the last to rename wins: the other starter checks after 150 ms. A starter
// that takes more than 100 ms from step 1 to its rename waits longer, because it may have replaced
// a holder. A holder checks every 0.8 s and ends if another process has the lock or the directory
// is gone.
//
// viewlog never unlinks a lock. An operator might, so the holder of a missing lock creates it
// again, and a starter that finds files but no lock gives the holder time to do so.
//
// This works on one machine. Machines that share a directory (NFS) don't see each other's sockets.
import type { Stats } from 'node:fs';
import { lstat, stat } from 'node:fs/promises';
import { relative } from 'node:path';
import { EXIT, type ExitCode, errnoOf, Fatal } from '../base/exit.ts';
import type { Log } from '../base/log.ts';
import { printable } from '../base/text.ts';
import { sleep, timeOf, within } from '../base/time.ts';
import { findHolder, killCommand } from '../installation/commands.ts';
import { absolute, type Announced } from '../installation/installation.ts';
import { cannotOpen, daysIn, prepareDirectory } from './directory.ts';
import {
  askLock,
  DRAFT_BYTES,
  type Holder,
  type HolderReply,
  isSame,
  LockSocket,
} from './lock-socket.ts';
import { lastStart, rememberProjects, rememberStart } from './last-start.ts';
import { ifPresent, systemFiles } from './ops.ts';
import { type AsOwner, asOwnerOf, refuseRoot } from './root.ts';

export const LOCK_NAME = 'viewlog.lock';
export const REPLAY_LOCK_NAME = 'viewlog.replay.lock';

interface LockOptions {
  readonly name?: string;
  /** The answer of this process to a question about the lock. */
  readonly self?: Announced;
  readonly asOwner?: AsOwner | undefined;
  /** The address that this process would listen on. */
  readonly wanted?: string | undefined;
  readonly log?: Log;
  /** Called at most once: this process must end, with exit 73 or 74. */
  readonly onLost?: (fatal: Fatal) => void;
  /** Called after each step of acquiring the lock, so that tests can stop there. */
  readonly onStep?: (step: Step) => Promise<void>;
}

/**
 * The last step that a starter has done: it asked the process at the lock, listened on its draft,
 * renamed the draft to the lock, or waited for other starters.
 */
export type Step = 'asked' | 'listening' | 'renamed' | 'waited';

const CHECK_MS = 800;
/** A stop waits at most this long until both files are stored, because the disk may hang. */
const STORING_MS = 200;
const FAST_START_MS = 100;
const STABLE_MS = 150;
/** Every holder checks its lock at least once in this time. */
const NOTICED_MS = 2_000;
/** Linux allows 108 bytes for the path of a socket, others 104, including the NUL at its end. */
const PATH_BYTES_MAX = process.platform === 'linux' ? 107 : 103;

/**
 * Makes this process the only writer in the directory (or the only replay). Creates the directory
 * if it is missing.
 * @throws {Fatal} exit 73 if another process holds the lock, if root runs this in another user's
 *   directory, or if no lock is possible there.
 */
export async function acquireLock(dir: string, options: LockOptions = {}): Promise<Lock> {
  await prepareDirectory(dir, systemFiles);
  const { name = LOCK_NAME } = options;
  const lock = new Lock(dir, name, options);
  try {
    await lock.acquire();
  } catch (error) {
    if (error instanceof Fatal) throw error;
    const what = `use the lock "${dir}/${name}"`;
    // A collector's directory may be another installation's, but a replay is always for this one.
    const isReplay = name === REPLAY_LOCK_NAME && errnoOf(error) === 'EACCES';
    const command = isReplay ? await asOwnerOf(dir, options.asOwner) : undefined;
    throw command === undefined
      ? cannotOpen(`${dir}/${name}`, error, what)
      : new Fatal(EXIT.cannotCreate, `Can't ${what}: permission denied; ${command}`);
  }
  return lock;
}

/**
 * Asks which process writes to the directory; `unknown` if this user isn't allowed to ask.
 * @throws {Fatal} exit 73 if no lock is possible there.
 */
export const askHolder = async (dir: string): Promise<HolderReply | 'unknown'> =>
  askLock(lockPath(dir, LOCK_NAME)).catch(() => 'unknown' as const);

/** Returns how the viewlog of this directory runs or last ran; `undefined` if that is unknown. */
export async function lastKnownStart(dir: string): Promise<Announced | undefined> {
  const holder = await askHolder(dir).catch(() => undefined);
  return typeof holder === 'object' ? holder : lastStart(dir);
}

/**
 * Returns a path of the lock that is short enough for a socket. Node 20 would cut off a longer path
 * without an error and listen at another path.
 * @throws {Fatal} exit 73 if neither the path nor the one from the working directory is short
 *   enough.
 */
function lockPath(dir: string, name: string): string {
  const bytesMax = PATH_BYTES_MAX - DRAFT_BYTES;
  const fits = (text: string): boolean => Buffer.byteLength(text) <= bytesMax;
  const given = absolute(`${dir}/${name}`);
  const short = fits(given) ? given : relative('', given);
  if (fits(short)) return short;
  throw new Fatal(
    EXIT.cannotCreate,
    `Can't lock "${dir}": the path of its lock, "${given}", is longer than ${bytesMax} bytes, ` +
      'the limit for its socket; start viewlog in that directory or choose a shorter path',
  );
}

/** The right of this process to be the only writer in a directory. */
export class Lock {
  readonly #dir: string;
  readonly #name: string;
  readonly #path: string;
  readonly #options: LockOptions;
  readonly #self: Holder;
  /** The directory that was there at the start. */
  #directory!: Stats;
  #socket!: LockSocket;
  /** Resolves once the start and the projects file are stored. */
  #stored = Promise.resolve();
  /** True: lost or released. */
  #isOver = false;

  constructor(dir: string, name: string, options: LockOptions) {
    this.#dir = dir;
    this.#name = name;
    this.#path = lockPath(dir, name);
    this.#options = options;
    const sinceMs = Math.round(performance.timeOrigin);
    this.#self = { pid: process.pid, sinceMs, ...options.self };
  }

  /**
   * Acquires the lock, then keeps checking it.
   * @throws {Fatal} in the same cases as `acquireLock`.
   */
  async acquire(): Promise<void> {
    this.#directory = await stat(this.#dir);
    const isMissing = (await ifPresent(lstat(this.#path))) === undefined;
    // Listed in any case, because a start needs the right to read the directory.
    const days = await daysIn(systemFiles, this.#dir, 'views');
    // If there are files, their writer may be alive and about to restore its lock.
    if (isMissing && days.length > 0) await sleep(NOTICED_MS);
    while (!(await this.#tryToAcquire()));
    this.#checkLater();
  }

  /** Returns whether this process held the lock at its last check. */
  isHeld(): boolean {
    return !this.#isOver;
  }

  /**
   * Makes the addresses of this process and of its status server known to processes that ask the
   * lock and to a doctor that finds no process.
   */
  announce({ address, status }: Pick<Announced, 'address' | 'status'>): void {
    Object.assign(this.#self, { address, status });
    this.#store(() => rememberStart(this.#dir, this.#self));
  }

  /** Stores the text of a valid projects file, so that a lost file can be restored. */
  readonly storeProjects = (text: string): void =>
    this.#store(() => rememberProjects(this.#dir, text));

  /** Starts a write without awaiting it, because a disk that hangs must not delay a start. */
  #store(write: () => Promise<void>): void {
    if (!this.#isOver) this.#stored = Promise.all([this.#stored, write()]).then(() => {});
  }

  /** Stops listening; the lock's file stays. */
  async release(): Promise<void> {
    this.#isOver = true;
    await within(STORING_MS, this.#stored);
    await this.#socket.close();
  }

  /** Returns false if another starter was faster or if another program removed the draft. */
  async #tryToAcquire(): Promise<boolean> {
    const { onStep = async () => {} } = this.#options;
    const begunMs = performance.now();
    const holder = await askLock(this.#path);
    if (holder !== undefined) throw new Fatal(EXIT.cannotCreate, await this.#heldBy(holder));
    await onStep('asked');
    const socket = new LockSocket(this.#path, this.#self);
    this.#socket = socket;
    let isWon = false;
    try {
      const file = await socket.listen();
      await onStep('listening');
      refuseRoot(this.#dir, file, this.#directory, this.#options.asOwner);
      await socket.takePath();
      await onStep('renamed');
      const isFast = performance.now() - begunMs <= FAST_START_MS;
      await sleep(isFast ? STABLE_MS : NOTICED_MS);
      await onStep('waited');
      isWon = await socket.hasPath();
    } catch (error) {
      if (errnoOf(error) !== 'ENOENT') throw error;
    } finally {
      if (!isWon) await socket.close();
    }
    return isWon;
  }

  /**
   * Starts each check after the last one has ended, so that a file system that hangs gets only one.
   */
  #checkLater(): void {
    const check = async (): Promise<void> => {
      if (this.#isOver) return;
      // The next check reports an error.
      await this.#checkLock().catch(() => {});
      this.#checkLater();
    };
    setTimeout(() => void check(), CHECK_MS).unref();
  }

  async #checkLock(): Promise<void> {
    const isOwn = await this.#socket.hasPath();
    const found = await ifPresent(stat(this.#dir));
    if (!isSame(found, this.#directory)) {
      const why =
        found === undefined
          ? 'is gone: it was moved or removed, or its disk was unmounted. viewlog is stopping; move the directory back or mount its disk, then start viewlog again.'
          : 'is now a different one: its disk was unmounted or mounted over, or it was moved or replaced. viewlog is stopping; put the original back, or start viewlog again to use the new one.';
      return this.#lose(EXIT.ioError, `The data directory "${this.#dir}" ${why}`);
    }
    if (isOwn) return;
    const holder = await askLock(this.#path);
    if (holder !== undefined)
      return this.#lose(EXIT.cannotCreate, await this.#heldBy(holder, true));
    const socket = new LockSocket(this.#path, this.#self);
    await socket.listen();
    await this.#socket.close();
    this.#socket = socket;
    await socket.takePath();
    this.#options.log?.warn(
      `The lock "${this.#path}" was removed by another program; viewlog has created it again`,
    );
  }

  #lose(exitCode: ExitCode, message: string): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#options.onLost?.(new Fatal(exitCode, message));
  }

  /** @param isLost true: this process held the lock before. */
  async #heldBy(holder: NonNullable<HolderReply>, isLost = false): Promise<string> {
    const dir = `"${printable(this.#dir, Infinity)}"`;
    if (holder === 'unresponsive') {
      return `${dir} is locked by a process that doesn't answer; to find it: ${findHolder(this.#path)}`;
    }
    const writer = holder.role === 'archive' ? 'An archive' : 'Another viewlog';
    const [what, wait] =
      this.#name === LOCK_NAME
        ? [`${writer} ${isLost ? 'has taken over' : 'is writing to'}`, 'use the running one']
        : ['Another replay is running in', 'wait for it'];
    const where = `${what} ${dir}`;
    const { pid, sinceMs, version, address } = holder;
    const { wanted } = this.#options;
    const isElsewhere = !isLost && wanted !== undefined && wanted !== address;
    const wantedAt = isElsewhere ? ` (the one that you are starting would be at ${wanted})` : '';
    const parts = [
      `process ${pid}`,
      version && `viewlog ${version}`,
      `running since ${timeOf(sinceMs)}`,
      address && `at ${address}`,
    ];
    // Root may have asked a process of another user.
    const who = printable(parts.filter(Boolean).join(', '));
    const end = await killCommand(holder, this.#path);
    const next = isLost ? 'to end the other one' : `${wait} or end it`;
    const how = end === undefined ? (isLost ? '' : `; ${next}`) : `; ${next}: ${end}`;
    return `${where}${isLost ? ', so this one is stopping' : ''}: ${who}${wantedAt}${how}`;
  }
}
