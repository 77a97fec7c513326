// The socket of a lock. The process that listens on it holds the lock, and answers each connection
// with one line of JSON that says who it is. The kernel refuses connections once the process is gone.
import { randomBytes } from 'node:crypto';
import type { Stats } from 'node:fs';
import { lstat, rename, rm } from 'node:fs/promises';
import * as net from 'node:net';
import * as path from 'node:path';
import { EXIT, errnoOf, Fatal } from '../base/exit.ts';
import { printable } from '../base/text.ts';
import { sleep } from '../base/time.ts';
import { ifPresent } from './ops.ts';

/** The process that holds a lock. */
export interface Holder {
  readonly pid: number;
  /** When the process started, in milliseconds since the epoch. */
  readonly sinceMs: number;
  /** The URL that it listens on, once it does. */
  readonly address?: string;
  /** The URL of its status server, if it has one. */
  readonly status?: string;
}

/** What listens at a lock's path; undefined if nothing does. */
export type Answer = Holder | 'unresponsive' | undefined;

/** Linux allows 108 bytes for the path of a socket, others 104, including the NUL at its end. */
const PATH_BYTES_MAX = process.platform === 'linux' ? 107 : 103;
const DRAFT = '.new-';
const DRAFT_BYTES = DRAFT.length + 8;
const ANSWER_TIMEOUT_MS = 2_000;
const HANG_UP_POLL_MS = 100;

/**
 * Returns a path of the lock that is short enough for a socket. Node 20 would cut a longer one off
 * without an error, and so listen at another path.
 * @throws {Fatal} exit 73 if neither the path nor the one from the working directory is.
 */
export function lockPath(dir: string, name: string): string {
  const fits = (text: string): boolean => Buffer.byteLength(text) + DRAFT_BYTES <= PATH_BYTES_MAX;
  const given = `${dir}/${name}`;
  const short = fits(given) ? given : path.relative('', given);
  if (fits(short)) return short;
  throw new Fatal(
    EXIT.cannotCreate,
    `Cannot lock "${dir}": a socket's path has at most ${PATH_BYTES_MAX} bytes, and that of its ` +
      'lock would be longer; start viewlog in that directory, or choose a shorter path',
  );
}

/** Tells a file from every other file that exists at the same time. */
export const identityOf = ({ dev, ino }: Stats): string => `${dev}:${ino}`;

/** A socket that this process listens on. */
export class LockSocket {
  /** The file of the socket, as it was made: with the user that this process runs as. */
  readonly file: Stats;
  readonly #server: net.Server;
  readonly #draft: string;

  private constructor(server: net.Server, draft: string, file: Stats) {
    this.#server = server;
    this.#draft = draft;
    this.file = file;
  }

  /**
   * Listens beside the lock, under a name of its own.
   * @param holder called for each answer.
   */
  static async open(lock: string, holder: () => Holder): Promise<LockSocket> {
    const draft = `${lock}${DRAFT}${randomBytes(4).toString('hex')}`;
    const server = net.createServer((connection) => {
      connection.on('error', () => {});
      // Destroyed, so that a client that does not hang up cannot keep this process alive.
      connection.end(`${JSON.stringify(holder())}\n`, () => connection.destroy());
    });
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      server.listen(draft, resolve);
    });
    server.on('error', () => {});
    // The lock alone must not keep the process alive either.
    server.unref();
    return new LockSocket(server, draft, await lstat(draft));
  }

  /** Takes the lock's path, whatever is there. */
  takePath(lock: string): Promise<void> {
    return rename(this.#draft, lock);
  }

  /** Whether the lock's path names this socket. */
  async isAt(lock: string): Promise<boolean> {
    const found = await ifPresent(lstat(lock));
    return found !== undefined && identityOf(found) === identityOf(this.file);
  }

  /** Stops listening. A file that has the lock's path stays there. */
  async close(): Promise<void> {
    await new Promise<void>((resolve) => void this.#server.close(() => resolve()));
    await rm(this.#draft, { force: true });
  }
}

/**
 * Asks who listens at the path.
 * @throws the system's error if this user may not ask.
 */
export async function askSocket(lock: string): Promise<Answer> {
  const endMs = performance.now() + ANSWER_TIMEOUT_MS;
  do {
    // Seen on Deno 2.5: a connection to a path that does not exist ends without an error.
    if ((await ifPresent(lstat(lock))) === undefined) return undefined;
    try {
      const holder = parseHolder(await readSocket(lock));
      if (holder !== undefined) return holder;
    } catch (error) {
      const errno = errnoOf(error);
      if (errno === 'ECONNREFUSED' || errno === 'ENOENT') return undefined;
      if (errno === undefined || errno === 'EACCES' || errno === 'EPERM') throw error;
    }
    // No answer and no time-out: a process that is being killed hangs up, and is gone in a moment.
    await sleep(HANG_UP_POLL_MS);
  } while (performance.now() < endMs);
  return 'unresponsive';
}

/** Reads until the other side hangs up, or time is over. */
function readSocket(lock: string): Promise<string> {
  return new Promise((resolve, reject) => {
    let text = '';
    const connection = net.connect(lock);
    connection.setTimeout(ANSWER_TIMEOUT_MS, () => connection.destroy());
    connection.setEncoding('utf8');
    connection.on('data', (chunk: string) => (text += chunk));
    connection.on('error', reject);
    connection.on('close', () => resolve(text));
  });
}

function parseHolder(text: string): Holder | undefined {
  try {
    const { pid, sinceMs, address, status } = JSON.parse(text) as Record<string, unknown>;
    if (typeof pid !== 'number' || typeof sinceMs !== 'number') return undefined;
    // Root may ask a process of another user.
    return {
      pid,
      sinceMs,
      ...(typeof address === 'string' && { address: printable(address) }),
      ...(typeof status === 'string' && { status: printable(status) }),
    };
  } catch {
    return undefined;
  }
}
