import { archiveRecordOf } from '../../src/disk/names.ts';
import type { FileOps, FileStat } from '../../src/disk/ops.ts';
import { DATA, type Inode } from './disk.ts';
import type { Part } from './ledger.ts';
import type { Removals } from './removals.ts';
import type { World } from './world.ts';

/** The probability of each kind of fault, from 0 to 1. */
type Weather = typeof CALM;

const CALM = {
  /** A write stores only a part of its bytes. */
  short: 0,
  /** A write gets EINTR or EAGAIN. */
  busy: 0,
  /** An operation fails for a while. */
  errors: 0,
  /** A write or a sync fails permanently. */
  failures: 0,
  /** An operation takes up to a minute. */
  hangs: 0,
};
export const WEATHERS = {
  calm: CALM,
  rough: { ...CALM, short: 0.3, busy: 0.1, errors: 0.05 },
  failing: { ...CALM, short: 0.1, failures: 0.05 },
  broken: { ...CALM, failures: 0.5 },
  slow: { ...CALM, hangs: 0.04, errors: 0.01 },
};

type Operation = Exclude<keyof FileOps, 'canDsync'>;

const TRANSIENT: Partial<Record<Operation, readonly string[]>> = {
  open: ['EMFILE', 'EIO', 'ENOSPC', 'EACCES'],
  write: ['ENOSPC', 'EDQUOT'],
  read: ['EIO'],
  stat: ['EIO'],
  list: ['EIO', 'EMFILE'],
  unlink: ['EIO', 'EACCES'],
  chmod: ['EPERM'],
  freeBytes: ['EIO'],
};

function errnoError(code: string, operation: string): Error {
  const { stackTraceLimit } = Error;
  // Creating a stack trace would take longer than everything else.
  Error.stackTraceLimit = 0;
  const error = Object.assign(new Error(`${code}: simulated, ${operation}`), { code });
  Error.stackTraceLimit = stackTraceLimit;
  return error;
}

/**
 * The file operations of one process. Each takes a little time and takes effect at some moment
 * within that time. After the process is killed, no operation returns.
 */
export class Syscalls {
  weather: Weather = CALM;
  /** When the last fault or hang ended. */
  troubleMs = 0;
  isDead = false;
  /** True: the storage code has received the error of a write or a sync that failed permanently. */
  hasFailed = false;
  /** True: a write or a sync has failed permanently; its error may not have been returned yet. */
  isFailing = false;
  /** The file of the last write or sync that failed permanently. */
  failedName = '';
  /** Errors returned to the process, except EINTR and EAGAIN. */
  errors = 0;
  /** The number of operations after which the process is killed. */
  operationsLeft = Infinity;
  readonly #world: World;
  readonly #removals: Removals;
  readonly #open = new Map<number, { inode: Inode; isSynchronous: boolean; isWritable: boolean }>();
  readonly #underWay = new Set<() => void>();
  /** Operations that haven't returned. */
  #calls = 0;

  constructor(world: World, removals: Removals) {
    this.#world = world;
    this.#removals = removals;
  }

  /** Returns the file operations for one part of the storage code. */
  files(part: Part): FileOps {
    const { disk, ledger, time } = this.#world;
    const call =
      <A extends [string | number, ...unknown[]], R>(
        operation: Operation,
        act: (inode: Inode, ...args: A) => R,
      ) =>
      (...args: A): Promise<R> =>
        this.#call(part, operation, args[0], () => act(this.#inode(args[0], operation), ...args));
    return {
      canDsync: disk.canDsync,
      open: (path, flags) => this.#call(part, 'open', path, () => this.#openNow(part, path, flags)),
      write: (fd, bytes, offset, length) => {
        const troubleMs = Math.max(this.troubleMs, time.resumedMs);
        ledger.writing(part, this.#inode(fd, 'write'), troubleMs);
        const data = new Uint8Array(bytes.subarray(offset, offset + length));
        return this.#call(part, 'write', fd, () => this.#write(part, fd, data));
      },
      read: call('read', (inode, _fd: number, bytes: Uint8Array, position: number) =>
        inode.bytes.copy(bytes, 0, position),
      ),
      fdatasync: call('fdatasync', (inode, _fd: number) => this.#sync(part, inode)),
      fsync: call('fsync', (inode, _fd: number) => this.#sync(part, inode)),
      chmod: call('chmod', (_inode, _path: string) => {}),
      fstat: call('fstat', (inode, _fd: number) => statOf(inode)),
      stat: call('stat', (inode, _path: string) => statOf(inode)),
      close: (fd) => {
        const { inode, isWritable } = this.#open.get(fd)!;
        return this.#call(part, 'close', fd, () => {
          this.#open.delete(fd);
          if (isWritable) this.#removals.closed(inode);
        });
      },
      list: (path) => {
        if (part === 'retention') this.#removals.listing();
        return this.#call(part, 'list', path, () => disk.files());
      },
      unlink: call('unlink', (inode, path: string) => {
        this.#removals.removing(part, inode, path);
        disk.detach(path.slice(DATA.length + 1), 'removed', time.nowMs);
      }),
      rename: call('rename', (_inode, from: string, to: string) => {
        ledger.check(this.#isDraft(from), `${part}: ${from} was renamed`);
        disk.rename(from.slice(DATA.length + 1), to.slice(DATA.length + 1), time.nowMs);
      }),
      freeBytes: call('freeBytes', (_inode, _dir: string) => disk.freeBytes),
    };
  }

  get openFiles(): Inode[] {
    return [...this.#open.values()].map(({ inode }) => inode);
  }

  /** Returns whether every operation has returned. */
  get isIdle(): boolean {
    return this.#calls === 0;
  }

  /** Kills the process. Each operation in progress takes effect or not. */
  kill(): void {
    this.isDead = true;
    for (const effect of this.#underWay) if (this.#world.random.chance(0.5)) effect();
    for (const inode of this.#world.disk.inodes) inode.isPoisoned = false;
  }

  #call<T>(part: Part, operation: Operation, on: string | number, act: () => T): Promise<T> {
    if (this.operationsLeft-- <= 0) this.#world.process.kill();
    if (part !== 'retention' && typeof on === 'string') {
      this.#removals.used(on.slice(DATA.length + 1));
    }
    const { ledger, random, time } = this.#world;
    const hangMs = random.chance(this.weather.hangs) ? random.between(500, 60_000) : 0;
    const [beforeMs, afterMs] = random.chance(0.5) ? [hangMs, 0] : [0, hangMs];
    if (hangMs > 0) {
      ledger.note(`${part}: ${operation} of ${on} hangs for ${Math.round(hangMs)} ms`);
    }
    const wait = (ms: number, run: () => void, isSilent: boolean): void => {
      if (ms > 0) this.troubleMs = Math.max(this.troubleMs, time.nowMs + ms + 5);
      const runIfAlive = (): void => {
        if (!this.isDead) run();
      };
      time.after(random.between(0.01, 1) + ms, runIfAlive, isSilent);
    };
    this.#calls += 1;
    return new Promise((resolve, reject) => {
      let settle: () => void;
      const end = (): void => {
        this.#calls -= 1;
        settle();
      };
      const effect = (): void => {
        this.#underWay.delete(effect);
        try {
          this.#passingError(operation);
          const value = act();
          settle = () => resolve(value);
        } catch (error) {
          ledger.failed(part, operation, on, error);
          settle = () => {
            this.#noteError(error);
            reject(error);
          };
        }
        wait(afterMs, end, false);
      };
      this.#underWay.add(effect);
      wait(beforeMs, effect, true);
    });
  }

  #noteError(error: unknown): void {
    const { code } = error as { code: string };
    if (['ENOENT', 'EEXIST', 'EINVAL'].includes(code)) return;
    this.troubleMs = Math.max(this.troubleMs, this.#world.time.nowMs);
    if (this.isFailing || (code !== 'EINTR' && code !== 'EAGAIN')) this.errors += 1;
    if (this.isFailing) this.hasFailed = true;
  }

  #passingError(operation: Operation): void {
    const codes = TRANSIENT[operation];
    if (codes === undefined || !this.#world.random.chance(this.weather.errors)) return;
    throw errnoError(this.#world.random.pick(codes), operation);
  }

  #inode(on: string | number, operation: Operation): Inode {
    const inode = typeof on === 'string' ? this.#world.disk.find(on) : this.#open.get(on)?.inode;
    if (inode !== undefined) return inode;
    throw errnoError(typeof on === 'string' ? 'ENOENT' : 'EBADF', operation);
  }

  /**
   * Returns whether this is the next record of an archive, the only file that the simulated code
   * replaces.
   */
  #isDraft(path: string): boolean {
    return this.#world.isArchive && path === `${archiveRecordOf(DATA)}.new`;
  }

  #openNow(part: Part, path: string, flags: string): number {
    const { disk, ledger } = this.#world;
    let inode = disk.find(path);
    if (flags === 'w' && !this.#isDraft(path)) {
      ledger.fail(`${part}: ${path} was opened to be overwritten`);
    }
    if (flags !== 'r') {
      if (inode?.kind === 'directory') throw errnoError('EISDIR', 'open');
      if (inode === undefined && disk.spaceBytes === 0) throw errnoError(disk.fullErrno, 'open');
      inode ??= disk.create(path.slice(DATA.length + 1));
      if (flags === 'w') inode.truncate(0);
      this.#removals.opened(inode);
    }
    if (inode === undefined) throw errnoError('ENOENT', 'open');
    let fd = 3;
    while (this.#open.has(fd)) fd += 1;
    this.#open.set(fd, { inode, isSynchronous: flags.includes('d'), isWritable: flags !== 'r' });
    return fd;
  }

  #write(part: Part, fd: number, bytes: Uint8Array): number {
    const { disk, ledger, random } = this.#world;
    const { inode, isSynchronous } = this.#open.get(fd)!;
    // A synchronous write syncs its own bytes, not those that another process left before.
    const syncs = isSynchronous && inode.durableBytes === inode.size;
    const { busy, failures, short } = this.weather;
    if (random.chance(busy)) throw errnoError(random.pick(['EINTR', 'EAGAIN']), 'write');
    if (random.chance(failures)) throw this.#failure(part, inode, 'write', ['EIO', 'EROFS']);
    const isShort = bytes.length > 1 && random.chance(short);
    const wanted = isShort ? 1 + random.below(bytes.length - 1) : bytes.length;
    const count = Math.min(wanted, disk.spaceBytes);
    if (count === 0) throw errnoError(disk.fullErrno, 'write');
    disk.spaceBytes -= count;
    inode.append(bytes.subarray(0, count));
    ledger.wrote(part, inode, bytes, count);
    if (syncs) this.#sync(part, inode);
    return count;
  }

  #sync(part: Part, inode: Inode): void {
    const { disk, random } = this.#world;
    const isRoot = inode === disk.root;
    if (isRoot && !disk.canSyncNames) throw errnoError('EINVAL', 'fsync');
    if (random.chance(this.weather.failures)) {
      inode.isPoisoned = true;
      throw this.#failure(part, inode, 'sync', ['EIO', 'ENOSPC', 'EDQUOT', 'EINTR']);
    }
    if (isRoot) disk.syncNames();
    else inode.makeDurable();
  }

  #failure(part: Part, { name }: Inode, operation: string, codes: readonly string[]): Error {
    if (part === 'views') this.isFailing = true;
    this.failedName = name;
    return errnoError(this.#world.random.pick(codes), operation);
  }
}

const statOf = ({ number, size, kind }: Inode): FileStat => ({
  dev: 1,
  ino: number,
  size,
  isFile: () => kind === 'file',
});
