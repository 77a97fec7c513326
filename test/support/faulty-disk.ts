import * as fs from 'node:fs';
import { basename, dirname } from 'node:path';
import { systemFiles, type FileOps } from '../../src/disk/ops.ts';

/** What befalls one operation; `wait`: it takes place, and ends when that does. */
export type Fault =
  | { readonly errno: string }
  | { readonly shortBytes: number; readonly wait?: Promise<void> }
  | { readonly wait: Promise<void> }
  | undefined;

export type Operation = Exclude<keyof FileOps, 'canDsync'>;

export function errnoError(errno: string, operation: string): Error {
  return Object.assign(new Error(`${errno}: made up by the test, ${operation}`), { code: errno });
}

interface Medium {
  content: Buffer;
  /** What a power cut leaves. */
  syncedBytes: number;
  /** Whether its name is on the medium. */
  named: boolean;
}

/** A file that took another's name, which a power cut undoes until the directory is synced. */
interface Renamed {
  readonly to: string;
  readonly replaced: Medium | undefined;
}

/**
 * A disk with faults on top of real files. It knows what was written to each file and what of it
 * was synced; `check` compares that with the file: nothing truncated, nothing overwritten.
 */
export class FaultyDisk {
  /** Whether it opens files of which each write is durable when it returns. */
  readonly canDsync: boolean;
  /** Bytes until ENOSPC. */
  roomBytes = Number.POSITIVE_INFINITY;
  fault: (operation: Operation, path: string) => Fault = () => undefined;
  readonly #files = new Map<string, Medium>();
  readonly #open = new Set<number>();
  #renamed: Renamed[] = [];

  constructor({ canDsync = false } = {}) {
    this.canDsync = canDsync;
  }

  /** The operations for one life of a process; after `freeze` they never end and do nothing. */
  mount(): FileOps & { freeze(): void } {
    let frozen = false;
    const paths = new Map<number, string>();
    const synchronous = new Set<number>();

    const enter = async (operation: Operation, path: string): Promise<Fault> => {
      const never = (): Promise<never> => new Promise<never>(() => {});
      if (frozen) return never();
      await new Promise((resolve) => setImmediate(resolve));
      if (frozen) return never();
      const fault = this.fault(operation, path);
      if (fault !== undefined && 'errno' in fault) throw errnoError(fault.errno, operation);
      return fault;
    };
    const leave = async (fault: Fault): Promise<void> => {
      if (fault !== undefined && 'wait' in fault) await fault.wait;
      if (frozen) await new Promise<never>(() => {});
    };
    const around =
      <A extends [number, ...unknown[]], R>(
        operation: Operation,
        run: (path: string, ...args: A) => R | Promise<R>,
      ) =>
      async (...args: A): Promise<R> => {
        const path = paths.get(args[0])!;
        const fault = await enter(operation, path);
        const result = await run(path, ...args);
        await leave(fault);
        return result;
      };

    return {
      freeze: () => void (frozen = true),
      canDsync: this.canDsync,
      open: async (path, flags, mode) => {
        const fault = await enter('open', path);
        const fd = fs.openSync(path, flags.replace('d', ''), mode);
        if (flags.includes('d')) synchronous.add(fd);
        else synchronous.delete(fd);
        this.#open.add(fd);
        paths.set(fd, path);
        if (flags.startsWith('w')) {
          const named = this.#files.get(path)?.named ?? false;
          this.#files.set(path, { content: Buffer.alloc(0), syncedBytes: 0, named });
        } else if (flags !== 'r' && !this.#files.has(path)) {
          const content = fs.readFileSync(path);
          this.#files.set(path, {
            content,
            syncedBytes: content.length,
            named: content.length > 0,
          });
        }
        await leave(fault);
        return fd;
      },
      write: async (fd, bytes, offset, length) => {
        const path = paths.get(fd)!;
        const fault = await enter('write', path);
        const short = fault !== undefined && 'shortBytes' in fault ? fault.shortBytes : length;
        const count = Math.min(length, short, this.roomBytes);
        if (count === 0 && length > 0 && short > 0) throw errnoError('ENOSPC', 'write');
        fs.writeSync(fd, bytes, offset, count);
        this.roomBytes -= count;
        const medium = this.#files.get(path)!;
        medium.content = Buffer.concat([medium.content, bytes.subarray(offset, offset + count)]);
        // The write is done; now what it does beyond that can fail.
        if (synchronous.has(fd)) {
          await leave(await enter('fdatasync', path));
          medium.syncedBytes = medium.content.length;
        }
        await leave(fault);
        return count;
      },
      fdatasync: around('fdatasync', (path, _fd: number) => {
        const medium = this.#files.get(path)!;
        medium.syncedBytes = medium.content.length;
      }),
      fsync: around('fsync', (path, _fd: number) => {
        for (const [name, medium] of this.#files) if (dirname(name) === path) medium.named = true;
        this.#renamed = this.#renamed.filter(({ to }) => dirname(to) !== path);
      }),
      fchmod: around('fchmod', (_, fd: number, mode: number) => fs.fchmodSync(fd, mode)),
      fstat: around('fstat', (_, fd: number) => fs.fstatSync(fd)),
      read: around('read', (_, fd: number, bytes: Uint8Array, position: number) =>
        fs.readSync(fd, bytes, 0, bytes.length, position),
      ),
      close: around('close', (_, fd: number) => {
        this.#open.delete(fd);
        fs.closeSync(fd);
      }),
      rename: async (from, to) => {
        const fault = await enter('rename', from);
        fs.renameSync(from, to);
        this.#renamed.push({ to, replaced: this.#files.get(to) });
        this.#files.set(to, this.#files.get(from)!);
        this.#files.delete(from);
        await leave(fault);
      },
      stat: async (path) => {
        await leave(await enter('stat', path));
        return fs.statSync(path);
      },
      lstat: async (path) => {
        await leave(await enter('lstat', path));
        return fs.lstatSync(path);
      },
      list: async (dir) => {
        await leave(await enter('list', dir));
        return fs.readdirSync(dir);
      },
      unlink: async (path) => {
        await leave(await enter('unlink', path));
        fs.unlinkSync(path);
        this.#files.delete(path);
      },
      freeBytes: async (dir) => {
        await leave(await enter('freeBytes', dir));
        return this.roomBytes === Number.POSITIVE_INFINITY
          ? systemFiles.freeBytes(dir)
          : this.roomBytes;
      },
    };
  }

  /**
   * The unsynced is lost from some byte on; that and the rest may come back as NULs. The last of
   * the unsynced renames may not have happened.
   */
  cutPower(random: () => number): void {
    const kept = Math.floor(random() * (this.#renamed.length + 1));
    for (const { to, replaced } of this.#renamed.slice(kept).toReversed()) {
      if (replaced === undefined) this.#files.get(to)!.named = false;
      else this.#files.set(to, replaced);
    }
    for (const { to } of this.#renamed.slice(0, kept)) this.#files.get(to)!.named = true;
    this.#renamed = [];
    for (const [path, medium] of this.#files) {
      if (!medium.named) {
        fs.rmSync(path, { force: true });
        this.#files.delete(path);
        continue;
      }
      const { content, syncedBytes } = medium;
      const kept = syncedBytes + Math.floor(random() * (content.length - syncedBytes + 1));
      const nuls = random() < 0.3 ? Math.floor(random() * (content.length - kept + 1)) : 0;
      medium.content = Buffer.concat([content.subarray(0, kept), Buffer.alloc(nuls)]);
      medium.syncedBytes = medium.content.length;
      fs.writeFileSync(path, medium.content);
    }
  }

  /** Throws if a file holds anything but what was written to it, in order. */
  check(): void {
    for (const [path, { content }] of this.#files) {
      if (!fs.readFileSync(path).equals(content)) {
        throw new Error(`${basename(path)} was truncated or overwritten`);
      }
    }
  }

  /** Descriptors that dead processes have left open. */
  closeAll(): void {
    for (const fd of this.#open) fs.closeSync(fd);
    this.#open.clear();
  }
}

/** mulberry32: a small seeded generator of numbers from 0 to 1. */
export function seededRandom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296;
  };
}
