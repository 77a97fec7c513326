// The socket of a lock. The process that listens on the socket holds the lock and answers each
// connection with one line of JSON that identifies the process. The kernel refuses connections once
// the process is gone.
import { randomBytes } from 'node:crypto';
import type { Stats } from 'node:fs';
import { lstat, rename, rm } from 'node:fs/promises';
import * as net from 'node:net';
import { errnoOf } from '../base/exit.ts';
import { sleep } from '../base/time.ts';
import {
  ANNOUNCED_BYTES_MAX,
  type Announced,
  readAnnounced,
} from '../installation/installation.ts';
import { ifPresent } from './ops.ts';

/** A lock's holder, as it describes itself; a replay gives only `pid` and `sinceMs`. */
export type Holder = Pick<Announced, 'pid' | 'sinceMs'> & Partial<Announced>;

/** The process that listens at a lock's path; `undefined` if there is none. */
export type HolderReply = Announced | 'unresponsive' | undefined;

const DRAFT = '.new-';
export const DRAFT_BYTES = DRAFT.length + 8;
const ANSWER_TIMEOUT_MS = 2_000;
const HANG_UP_POLL_MS = 100;

/** Returns whether both exist and are the same file. */
export const isSame = (a: Stats | undefined, b: Stats | undefined): boolean =>
  a !== undefined && a.dev === b?.dev && a.ino === b.ino;

/** A socket that this process listens on. */
export class LockSocket {
  readonly #lock: string;
  readonly #draft: string;
  readonly #server: net.Server;
  #file: Stats | undefined;

  /** @param lock the lock's path. */
  constructor(lock: string, self: Holder) {
    this.#lock = lock;
    this.#draft = `${lock}${DRAFT}${randomBytes(4).toString('hex')}`;
    this.#server = net.createServer((connection) => {
      connection.on('error', () => {});
      // Destroys the connection: a client that doesn't hang up must not keep this process alive.
      connection.end(`${JSON.stringify(self)}\n`, () => connection.destroy());
    });
  }

  /**
   * Listens on a draft beside the lock.
   * @returns the draft's file, which belongs to the user that this process runs as.
   */
  async listen(): Promise<Stats> {
    await new Promise<void>((resolve, reject) => {
      this.#server.once('error', reject).listen(this.#draft, resolve);
    });
    // The lock must not keep the process alive.
    this.#server.on('error', () => {}).unref();
    return (this.#file = await lstat(this.#draft));
  }

  /** Takes over the lock's path, whatever file is there. */
  takePath(): Promise<void> {
    return rename(this.#draft, this.#lock);
  }

  /** Returns whether the lock's path names this socket. */
  async hasPath(): Promise<boolean> {
    return isSame(await ifPresent(lstat(this.#lock)), this.#file);
  }

  /** Stops listening. A file at the lock's path stays there. */
  async close(): Promise<void> {
    await new Promise<void>((resolve) => void this.#server.close(() => resolve()));
    // The directory may no longer permit this user to remove files.
    await rm(this.#draft, { force: true }).catch(() => {});
  }
}

/**
 * Asks which process listens at the path.
 * @throws the system's error if this user isn't allowed to ask.
 */
export async function askLock(lock: string): Promise<HolderReply> {
  const endMs = performance.now() + ANSWER_TIMEOUT_MS;
  do {
    // Seen on Deno 2.5: a connection to a path that doesn't exist ends without an error.
    if ((await ifPresent(lstat(lock))) === undefined) return undefined;
    try {
      const connection = net.connect(lock);
      connection.setTimeout(ANSWER_TIMEOUT_MS, () => connection.destroy());
      const holder = readAnnounced(await boundedText(connection));
      if (holder !== undefined) return holder;
    } catch (error) {
      const errno = errnoOf(error);
      if (errno === 'ECONNREFUSED' || errno === 'ENOENT') return undefined;
      if (errno === undefined || errno === 'EACCES' || errno === 'EPERM') throw error;
    }
    // A process that is being killed hangs up without an answer and is gone in a moment.
    await sleep(HANG_UP_POLL_MS);
  } while (performance.now() < endMs);
  return 'unresponsive';
}

/** Reads a bounded text, because the other process may be another user's and send any amount. */
async function boundedText(connection: net.Socket): Promise<string> {
  const parts: Buffer[] = [];
  let bytes = 0;
  for await (const part of connection as AsyncIterable<Buffer>) {
    parts.push(part);
    bytes += part.length;
    if (bytes > ANNOUNCED_BYTES_MAX) break;
  }
  return Buffer.concat(parts).toString();
}
