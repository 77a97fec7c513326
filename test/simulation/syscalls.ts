import type { FileOps, FileStat } from '../../src/disk/ops.ts';
import { DATA, type Inode } from './disk.ts';
import type { Room } from './ledger.ts';
import type { Removals } from './removals.ts';
import type { World } from './world.ts';

/** How often, from 0 to 1, something befalls an operation. */
export interface Weather {
  /** A write takes only a part. */
  readonly short: number;
  /** A write gets EINTR or EAGAIN. */
  readonly busy: number;
  /** An operation fails in a way that passes. */
  readonly errors: number;
  /** A write or a sync fails for good. */
  readonly failures: number;
  /** An operation takes up to 40 seconds. */
  readonly hangs: number;
}

const CALM: Weather = { short: 0, busy: 0, errors: 0, failures: 0, hangs: 0 };
export const WEATHERS = {
  calm: CALM,
  rough: { ...CALM, short: 0.3, busy: 0.1, errors: 0.05 },
  failing: { ...CALM, short: 0.1, failures: 0.05 },
  slow: { ...CALM, hangs: 0.02, errors: 0.01 },
} as const;

interface Descriptor {
  readonly inode: Inode;
  readonly isSynchronous: boolean;
}

type Operation = Exclude<keyof FileOps, 'canDsync'>;

const TRANSIENT: Partial<Record<Operation, readonly string[]>> = {
  open: ['EMFILE', 'EIO', 'ENOSPC', 'EACCES'],
  write: ['ENOSPC', 'EDQUOT'],
  read: ['EIO'],
  stat: ['EIO'],
  lstat: ['EIO'],
  list: ['EIO', 'EMFILE'],
  unlink: ['EIO', 'EACCES'],
  fchmod: ['EPERM'],
  freeBytes: ['EIO'],
};

const isNoRoom = (error: unknown): boolean =>
  ['ENOSPC', 'EDQUOT'].includes((error as { code: string }).code);

const errnoError = (code: string, operation: string): Error =>
  Object.assign(new Error(`${code}: simulated, ${operation}`), { code });

/**
 * The file operations of one process. Each takes a little time and takes effect somewhere within
 * it. What a killed process has under way happens or not, and never ends.
 */
export class Syscalls {
  weather: Weather = CALM;
  /** When the last fault, or the last operation that hung, ended. */
  troubleMs = 0;
  isDead = false;
  /** A write or a sync has failed for good; the view store knows. */
  hasFailed = false;
  /** The same, before the view store knows. */
  isFailing = false;
  /** Errors that were passed to the process, EINTR and EAGAIN aside. */
  errors = 0;
  readonly #world: World;
  readonly #removals: Removals;
  readonly #open = new Map<number, Descriptor>();
  readonly #underWay = new Set<() => void>();

  constructor(world: World, removals: Removals) {
    this.#world = world;
    this.#removals = removals;
  }

  /** As one part of the storage code gets them. */
  files(room: Room): FileOps {
    const forbidden = (operation: Operation) => async (path: string) => {
      this.#world.ledger.fail(`${room}: ${operation} of ${path}`);
    };
    const call =
      <A extends [string | number, ...unknown[]], R>(
        operation: Operation,
        act: (inode: Inode, ...args: A) => R,
      ) =>
      (...args: A): Promise<R> =>
        this.#call(room, operation, args[0], () => act(this.#inode(args[0], operation), ...args));
    const stat = (inode: Inode): FileStat => statOf(inode);
    return {
      canDsync: this.#world.disk.canDsync,
      open: (path, flags) => {
        if (flags === 'w') this.#world.ledger.fail(`${room}: ${path} was opened to be overwritten`);
        return this.#call(room, 'open', path, () => this.#openNow(room, path, flags));
      },
      write: (fd, bytes, offset, length) => {
        const inode = this.#inode(fd, 'write');
        this.#world.ledger.writing(
          room,
          inode,
          Math.max(this.troubleMs, this.#world.time.resumedMs),
        );
        const data = Uint8Array.from(bytes.subarray(offset, offset + length));
        return this.#call(room, 'write', fd, () => this.#write(room, fd, data));
      },
      read: call('read', (inode, _fd: number, bytes: Uint8Array, position: number) =>
        inode.bytes.copy(bytes, 0, position),
      ),
      fdatasync: call('fdatasync', (inode, _fd: number) => this.#sync(room, inode)),
      fsync: call('fsync', (inode, _fd: number) => this.#sync(room, inode)),
      fchmod: call('fchmod', (_inode, _fd: number, _mode: number) => {}),
      fchown: call('fchown', (_inode, _fd: number, _uid: number, _gid: number) => {}),
      fstat: call('fstat', (inode, _fd: number) => stat(inode)),
      stat: call('stat', (inode, _path: string) => stat(inode)),
      lstat: call('lstat', (inode, _path: string) => stat(inode)),
      close: (fd) => this.#call(room, 'close', fd, () => void this.#open.delete(fd)),
      list: (path) => {
        if (room === 'retention') this.#removals.listing();
        return this.#call(room, 'list', path, () => this.#world.disk.names());
      },
      unlink: call('unlink', (inode, path: string) => {
        this.#removals.removing(room, inode, path);
        this.#world.disk.detach(path.slice(DATA.length + 1), 'removed', this.#world.time.nowMs);
      }),
      rename: forbidden('rename'),
      freeBytes: (dir) => this.#call(room, 'freeBytes', dir, () => this.#world.disk.freeBytes),
    };
  }

  get openFiles(): string[] {
    return [...this.#open.values()].map(({ inode }) => inode.name);
  }

  /** kill -9: of what is under way, any part happens. */
  kill(): void {
    this.isDead = true;
    for (const effect of this.#underWay) if (this.#world.random.chance(0.5)) effect();
    this.#underWay.clear();
    for (const inode of this.#world.disk.inodes) inode.isPoisoned = false;
  }

  #call<T>(room: Room, operation: Operation, on: string | number, act: () => T): Promise<T> {
    const random = this.#world.random;
    const hangMs = random.chance(this.weather.hangs) ? random.between(500, 40_000) : 0;
    const [beforeMs, afterMs] = random.chance(0.5) ? [hangMs, 0] : [0, hangMs];
    if (hangMs > 0) {
      this.#world.ledger.note(`${room}: ${operation} of ${on} hangs for ${Math.round(hangMs)} ms`);
      this.troubleMs = Math.max(this.troubleMs, this.#world.time.nowMs + hangMs + 5);
    }
    return new Promise((resolve, reject) => {
      const effect = (): void => {
        this.#underWay.delete(effect);
        let settle: () => void;
        try {
          this.#passingError(operation);
          const value = act();
          settle = () => resolve(value);
        } catch (error) {
          this.#world.ledger.note(`${room}: ${operation} of ${on}: ${String(error)}`);
          if (operation === 'write' && isNoRoom(error)) this.#world.ledger.noRoom(room);
          settle = () => {
            this.#noteError(error);
            reject(error);
          };
        }
        this.#world.time.after(random.between(0.01, 1) + afterMs, () => {
          if (!this.isDead) settle();
        });
      };
      this.#underWay.add(effect);
      this.#world.time.after(random.between(0.01, 1) + beforeMs, () => {
        if (!this.isDead) effect();
      });
    });
  }

  #noteError(error: unknown): void {
    const { code } = error as { code: string };
    if (code === 'ENOENT' || code === 'EEXIST') return;
    this.troubleMs = Math.max(this.troubleMs, this.#world.time.nowMs);
    if (code !== 'EINTR' && code !== 'EAGAIN') this.errors += 1;
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

  #openNow(room: Room, path: string, flags: string): number {
    let inode = this.#world.disk.find(path);
    if (flags.includes('x') && inode !== undefined) throw errnoError('EEXIST', 'open');
    if (flags !== 'r') {
      if (inode?.kind === 'directory') throw errnoError('EISDIR', 'open');
      if (inode === undefined) {
        if (this.#world.disk.roomBytes === 0) throw errnoError(this.#world.disk.fullErrno, 'open');
        inode = this.#world.disk.create(path.slice(DATA.length + 1));
        this.#world.ledger.note(`${room}: made ${inode.name}`);
      }
    }
    if (inode === undefined) throw errnoError('ENOENT', 'open');
    if (flags !== 'r') this.#world.ledger.life.opened.add(inode);
    let fd = 3;
    while (this.#open.has(fd)) fd += 1;
    this.#open.set(fd, { inode, isSynchronous: flags.includes('d') });
    return fd;
  }

  #write(room: Room, fd: number, bytes: Uint8Array): number {
    const { inode, isSynchronous } = this.#open.get(fd)!;
    // Such a write syncs its own bytes, not what an earlier process has left before them.
    const syncs = isSynchronous && inode.durableBytes === inode.size;
    const random = this.#world.random;
    const disk = this.#world.disk;
    if (random.chance(this.weather.busy)) {
      throw errnoError(random.pick(['EINTR', 'EAGAIN']), 'write');
    }
    if (random.chance(this.weather.failures)) throw this.#failure(room, 'write', ['EIO']);
    const isShort = bytes.length > 1 && random.chance(this.weather.short);
    const wanted = isShort ? 1 + random.below(bytes.length - 1) : bytes.length;
    const count = Math.min(wanted, disk.roomBytes);
    if (count === 0) {
      throw errnoError(disk.fullErrno, 'write');
    }
    disk.roomBytes -= count;
    inode.append(bytes.subarray(0, count));
    this.#world.ledger.wrote(room, inode, bytes, count);
    if (syncs) this.#sync(room, inode);
    return count;
  }

  #sync(room: Room, inode: Inode): void {
    if (this.#world.random.chance(this.weather.failures)) {
      inode.isPoisoned = true;
      throw this.#failure(room, 'sync', ['EIO', 'ENOSPC', 'EDQUOT']);
    }
    if (inode === this.#world.disk.root) this.#world.disk.syncNames();
    else inode.makeDurable();
  }

  #failure(room: Room, operation: string, codes: readonly string[]): Error {
    if (room === 'views') this.isFailing = true;
    return errnoError(this.#world.random.pick(codes), operation);
  }
}

const statOf = ({ number, size, kind }: Inode): FileStat => ({
  dev: 1,
  ino: number,
  size,
  uid: 1000,
  gid: 1000,
  isFile: () => kind === 'file',
});
