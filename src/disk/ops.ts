import * as fs from 'node:fs';
import { readdir } from 'node:fs/promises';
import { errnoOf } from '../base/exit.ts';
import type { Log } from '../base/log.ts';
import { denoFiles, type DenoFiles } from './deno-ops.ts';

export interface FileStat {
  readonly dev: number;
  readonly ino: number;
  readonly size: number;
  /** Returns whether this is a regular file. */
  isFile(): boolean;
}

/**
 * File operations that can fail, one system call each: writes can be short, and errors are
 * Node-style (`code` is the errno's name). Tests pass their own.
 */
export interface FileOps {
  /** True: `ad` opens a file so that each write is durable when it returns (O_DSYNC). */
  readonly canDsync: boolean;
  open(path: string, flags: OpenFlags, mode?: number): Promise<number>;
  /**
   * Writes at the end (the file is open for append); resolves to the number of bytes written, at
   * least 0.
   */
  write(fd: number, bytes: Uint8Array, offset: number, length: number): Promise<number>;
  read(fd: number, bytes: Uint8Array, position: number): Promise<number>;
  fdatasync(fd: number): Promise<void>;
  fsync(fd: number): Promise<void>;
  chmod(path: string, mode: number): Promise<void>;
  fstat(fd: number): Promise<FileStat>;
  stat(path: string): Promise<FileStat>;
  /** The names of the regular files in a directory, in no particular order. */
  list(dir: string): Promise<string[]>;
  close(fd: number): Promise<void>;
  rename(from: string, to: string): Promise<void>;
  unlink(path: string): Promise<void>;
  /** Bytes that an unprivileged user may still write to the directory's file system. */
  freeBytes(dir: string): Promise<number>;
}

/**
 * Read; overwrite; read and append; append with O_DSYNC. Every mode except `r` creates the file.
 */
export type OpenFlags = 'r' | 'w' | 'a' | 'ad';

/** The parameters of code that works in a directory. */
export interface DirectoryOptions {
  /** The path of a directory that exists. */
  readonly dir: string;
  readonly files: FileOps;
  readonly log: Log;
}

type Callback<T> = (error: Error | null, value: T) => void;

// Not `util.promisify(fs.write)`, which resolves to an object, and not FileHandle's writeFile or
// appendFile, which have cut files short on Bun.
function fromCallback<T>(call: (done: Callback<T>) => void): Promise<T> {
  return new Promise((resolve, reject) => {
    call((error, value) => {
      if (error) reject(error);
      else resolve(value);
    });
  });
}

const { O_APPEND, O_CREAT, O_DSYNC, O_NONBLOCK, O_RDWR, O_TRUNC, O_WRONLY } = fs.constants;
// With O_NONBLOCK, opening a FIFO or a device never waits. It has no effect on a regular file.
const CREATE = O_CREAT | O_NONBLOCK;
const FLAGS = {
  r: 'r',
  w: CREATE | O_WRONLY | O_TRUNC,
  a: CREATE | O_RDWR | O_APPEND,
  ad: CREATE | O_RDWR | O_APPEND | O_DSYNC,
} as const;

const nodeFiles: FileOps = {
  // On other systems, such as macOS, O_DSYNC may do less than fdatasync does there.
  canDsync: process.platform === 'linux',
  open: (path, flags, mode) => fromCallback((done) => fs.open(path, FLAGS[flags], mode, done)),
  write: (fd, bytes, offset, length) =>
    fromCallback((done) => fs.write(fd, bytes, offset, length, null, done)),
  read: (fd, bytes, position) =>
    fromCallback((done) => fs.read(fd, bytes, 0, bytes.length, position, done)),
  fdatasync: (fd) => fromCallback<void>((done) => fs.fdatasync(fd, done)),
  fsync: (fd) => fromCallback<void>((done) => fs.fsync(fd, done)),
  chmod: (path, mode) => fromCallback<void>((done) => fs.chmod(path, mode, done)),
  fstat: (fd) => fromCallback<fs.Stats>((done) => fs.fstat(fd, done)),
  stat: (path) => fromCallback<fs.Stats>((done) => fs.stat(path, done)),
  async list(dir) {
    const found = await readdir(dir, { withFileTypes: true });
    return found.filter((entry) => entry.isFile()).map(({ name }) => name);
  },
  close: (fd) => fromCallback<void>((done) => fs.close(fd, done)),
  rename: (from, to) => fromCallback<void>((done) => fs.rename(from, to, done)),
  unlink: (path) => fromCallback<void>((done) => fs.unlink(path, done)),
  freeBytes: async (dir) => (await fileSystemOf(dir)).freeBytes,
};

/** Older runtimes don't have `frsize`. It differs from `bsize` on some network file systems. */
type StatsFs = fs.StatsFs & { readonly frsize?: number };

/** Async, so that it rejects if the runtime throws: Deno without --allow-sys=statfs does. */
export const fileSystemOf = async (dir: string) =>
  spaceIn(await fromCallback<StatsFs>((done) => fs.statfs(dir, done)));

/** Returns a file system's space; its blocks are counted in fragments. */
export function spaceIn({ type, blocks, bfree, bavail, bsize, frsize, files, ffree }: StatsFs) {
  const blockBytes = frsize || bsize;
  return {
    /** The kernel's number of the type. */
    type,
    /** The bytes that users may still write. */
    freeBytes: bavail * blockBytes,
    /** The bytes that users could write if the file system were empty. */
    sizeBytes: (blocks - (bfree - bavail)) * blockBytes,
    /** False: no file can be created. Some file systems have no limit and report 0 of 0. */
    hasInodes: ffree > 0 || files === 0,
  };
}

const { Deno: deno } = globalThis as { Deno?: DenoFiles };

/** The operations of this runtime. */
export const systemFiles: FileOps = deno === undefined ? nodeFiles : denoFiles(deno, nodeFiles);

/** Resolves to `undefined` if the call fails because there is no such file. */
export async function ifPresent<T>(call: Promise<T>): Promise<T | undefined> {
  try {
    return await call;
  } catch (error) {
    if (errnoOf(error) === 'ENOENT' || errnoOf(error) === 'ENOTDIR') return undefined;
    throw error;
  }
}
