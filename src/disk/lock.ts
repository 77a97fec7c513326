// One writer per data directory, by a Unix socket in it. A socket answers for as long as its process
// lives, and refuses from then on, whatever ended the process and whoever has its pid since. It
// works on Node, Deno and Bun alike, and needs no permission beyond the directory.
//
// A starter
// 1. connects to the lock. Anything but "refused" or "no such file" means that a process holds it.
// 2. listens on a draft beside the lock, and renames the draft to the lock.
// 3. waits, and looks whether the lock is still its own. Only then does it hold the lock, and may
//    open, seal or write anything.
//
// Of two that start together, the last to rename wins: the other one looks after 150 ms, and a
// starter that takes more than 100 ms from step 1 to its rename waits for longer. Such a slow starter
// may have replaced a holder, which looks every 0.8 s, and ends if another process has the lock.
//
// viewlog never unlinks a lock. An operator might, so the holder of a missing lock takes it back, and
// a starter that finds files but no lock gives it the time to.
//
// This works on one machine. Machines that share a directory (NFS) do not see each other's sockets.
import { lstat, readdir, stat } from 'node:fs/promises';
import type { Stats } from 'node:fs';
import { EXIT, type ExitCode, errnoOf, Fatal, reasonOf } from '../base/exit.ts';
import { LIMITS } from '../base/limits.ts';
import type { Log } from '../base/log.ts';
import { atMultiplesOf, sleep, within } from '../base/time.ts';
import { cannotOpen, prepareDirectory } from './directory.ts';
import {
  type Answer,
  askSocket,
  type Holder,
  identityOf,
  lockPath,
  LockSocket,
} from './lock-socket.ts';
import { dayOfFileName } from './names.ts';
import { ifPresent, systemFiles } from './ops.ts';
import { refuseRoot } from './root.ts';

export const LOCK_NAME = 'viewlog.lock';
export const REPLAY_LOCK_NAME = 'viewlog.replay.lock';

export interface Lock {
  /** Whether the lock was this process's own when it last looked. */
  isHeld(): boolean;
  /** Tells whoever asks the lock where this process listens, and where its status server does. */
  announce(address: string, status?: string): void;
  /** Leaves a file that nobody listens on. */
  release(): Promise<void>;
}

interface LockOptions {
  readonly name?: typeof LOCK_NAME | typeof REPLAY_LOCK_NAME;
  readonly log?: Log;
  /** Called at most once: this process has to end, with exit 73 or 74. */
  readonly onLost?: (fatal: Fatal) => void;
  /** Called after each step of a start. Tests stop it there. */
  readonly onStep?: (step: Step) => Promise<void>;
}

/** Asked whether a process holds the lock; listening on a draft; renamed that; waited. */
export type Step = 'asked' | 'listening' | 'renamed' | 'waited';

const LOOK_MS = 800;
const FAST_START_MS = 100;
const STABLE_MS = 150;
const STABLE_AFTER_SLOW_START_MS = 2_000;
const ATTEMPTS_MAX = 20;
const QUIET: Log = { info() {}, warn() {}, error() {} };

/**
 * Makes this process the only writer in the directory (or the only replay), which is made if it is
 * missing.
 * @throws {Fatal} exit 73 if another process is, if root runs this in another user's directory, or
 * if there can be no lock.
 */
export async function acquireLock(dir: string, options: LockOptions = {}): Promise<Lock> {
  await prepareDirectory(dir, systemFiles);
  const { name = LOCK_NAME, log = QUIET, onLost = () => {}, onStep = async () => {} } = options;
  try {
    const place = { dir, name, path: lockPath(dir, name), directory: await stat(dir) };
    const self = { pid: process.pid, sinceMs: Math.round(performance.timeOrigin) };
    const socket = await winLock(place, () => self, onStep);
    return new HeldLock(socket, self, { ...place, log, onLost });
  } catch (error) {
    throw error instanceof Fatal ? error : cannotOpen(`${dir}/${name}`, error);
  }
}

/**
 * Asks who writes to the directory.
 * @throws the system's error if this user may not ask.
 */
export const askHolder = async (dir: string): Promise<Answer> =>
  askSocket(lockPath(dir, LOCK_NAME));

interface Place {
  readonly dir: string;
  readonly name: string;
  /** The lock's. */
  readonly path: string;
  /** The one that was at `dir` at the start. */
  readonly directory: Stats;
}

type OnStep = (step: Step) => Promise<void>;

async function winLock(place: Place, self: () => Holder, onStep: OnStep): Promise<LockSocket> {
  if (await mayHaveLostLock(place)) await sleep(LOOK_MS + STABLE_MS);
  for (let attempt = 0; attempt < ATTEMPTS_MAX; attempt++) {
    const socket = await tryLock(place, self, onStep);
    if (socket !== undefined) return socket;
  }
  throw new Error('other processes keep taking it');
}

/** Whether a holder may live whose lock was removed: then it takes the lock back soon. */
async function mayHaveLostLock({ dir, name, path }: Place): Promise<boolean> {
  if (name !== LOCK_NAME || (await ifPresent(lstat(path))) !== undefined) return false;
  return (await readdir(dir)).some((file) => dayOfFileName('views', file) !== undefined);
}

/** @returns undefined if another starter was faster. */
async function tryLock(
  place: Place,
  self: () => Holder,
  onStep: OnStep,
): Promise<LockSocket | undefined> {
  const { dir, path, directory } = place;
  const begunMs = performance.now();
  const holder = await askSocket(path);
  if (holder !== undefined) throw new Fatal(EXIT.cannotCreate, heldBy(holder, place));
  await onStep('asked');
  const socket = await LockSocket.open(path, self);
  let isWon = false;
  try {
    await onStep('listening');
    refuseRoot(dir, socket.file, directory);
    await socket.takePath(path);
    await onStep('renamed');
    const isFast = performance.now() - begunMs <= FAST_START_MS;
    await sleep(isFast ? STABLE_MS : STABLE_AFTER_SLOW_START_MS);
    await onStep('waited');
    isWon = await socket.isAt(path);
    return isWon ? socket : undefined;
  } catch (error) {
    // Someone has removed the draft.
    if (errnoOf(error) === 'ENOENT') return undefined;
    throw error;
  } finally {
    if (!isWon) await socket.close();
  }
}

interface HeldOptions extends Place, Required<Pick<LockOptions, 'log' | 'onLost'>> {}

class HeldLock implements Lock {
  readonly #options: HeldOptions;
  readonly #self: Holder & { address?: string; status?: string };
  readonly #endLooks: () => void;
  #socket: LockSocket;
  #look: Promise<void> | undefined;
  #isLost = false;
  #trouble = '';

  constructor(socket: LockSocket, self: Holder, options: HeldOptions) {
    this.#socket = socket;
    this.#self = self;
    this.#options = options;
    this.#endLooks = atMultiplesOf(LOOK_MS, () => {
      // A file system that hangs holds up one look, not a pile of them.
      this.#look ??= this.#lookAfter().finally(() => (this.#look = undefined));
    });
  }

  isHeld(): boolean {
    return !this.#isLost;
  }

  announce(address: string, status?: string): void {
    Object.assign(this.#self, { address, status });
  }

  async release(): Promise<void> {
    this.#endLooks();
    if (this.#look !== undefined) await within(LIMITS.closeTimeoutMs, this.#look);
    await this.#socket.close();
  }

  async #lookAfter(): Promise<void> {
    try {
      await this.#checkPath();
      this.#trouble = '';
    } catch (error) {
      const trouble = `Cannot check the lock "${this.#options.path}": ${reasonOf(error)}`;
      if (trouble !== this.#trouble) this.#options.log.warn(trouble);
      this.#trouble = trouble;
    }
  }

  async #checkPath(): Promise<void> {
    const { dir, path, directory, log } = this.#options;
    const isOwn = await this.#socket.isAt(path);
    const now = await ifPresent(stat(dir));
    if (now === undefined || identityOf(now) !== identityOf(directory)) {
      const what = now === undefined ? 'is missing' : 'is another directory';
      const message = `"${dir}" ${what} now: it was moved, replaced or mounted over`;
      return this.#lose(EXIT.ioError, `${message}; start viewlog again to use what is there`);
    }
    if (isOwn) return;
    const holder = await askSocket(path);
    if (holder !== undefined) return this.#lose(EXIT.cannotCreate, heldBy(holder, this.#options));
    const removed = this.#socket;
    this.#socket = await LockSocket.open(path, () => this.#self);
    await removed.close();
    await this.#socket.takePath(path);
    log.warn(`The lock "${path}" was removed, not by viewlog; it is back`);
  }

  #lose(exitCode: ExitCode, message: string): void {
    this.#isLost = true;
    this.#endLooks();
    this.#options.onLost(new Fatal(exitCode, message));
  }
}

function heldBy(holder: Holder | 'unresponsive', { dir, name }: Place): string {
  const who = describe(holder, name);
  return name === LOCK_NAME
    ? `Another viewlog writes to "${dir}": ${who}; leave it running, or stop it first`
    : `Another replay runs in "${dir}": ${who}; wait for it, or stop it`;
}

function describe(holder: Holder | 'unresponsive', name: string): string {
  if (holder === 'unresponsive') {
    return `a process that does not answer (find it with: ss -xlp | grep ${name})`;
  }
  const since = new Date(holder.sinceMs).toISOString().replace(/\.\d+/, '');
  const where = holder.address === undefined ? '' : `, at ${holder.address}`;
  return `process ${holder.pid}, running since ${since}${where}`;
}
