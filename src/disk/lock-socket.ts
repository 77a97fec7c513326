// A lock's socket: a Unix socket in the directory that says its process's pid to whoever connects.
import { randomUUID } from 'node:crypto';
import * as fs from 'node:fs';
import * as net from 'node:net';
import { errnoOf } from '../base/exit.ts';
import { giveToOwnerOf, type Warn } from './owner.ts';
import { socketDir } from './socket-dir.ts';

const ANSWER_TIMEOUT_MS = 2_000;
const WAITING = ' waiting';

/** A number that this process has taken in a directory. */
export interface Hold {
  readonly number: number;
  /** Its identity. */
  readonly directory: string;
  /** Says from now on that it holds the lock; before, that it waits for it. */
  begin(): void;
  /** Whether the path still names that directory, and the socket still stands there. */
  look(): 'here' | 'removed' | 'moved';
  /** Leaves a dead socket. */
  close(): Promise<void>;
}

/** What tells a file from every other one that is there at the same time. */
export const identityOf = ({ dev, ino }: fs.Stats): string => `${dev}:${ino}`;

/** The numbers in the directory, ascending. */
export function numbersIn(dir: string, prefix: string): number[] {
  return fs
    .readdirSync(dir)
    .filter((name) => name.startsWith(prefix) && /^[1-9]\d{0,14}$/.test(name.slice(prefix.length)))
    .map((name) => Number(name.slice(prefix.length)))
    .sort((a, b) => a - b);
}

/** Which directory the path names now. */
export const directoryAt = (dir: string): string => identityOf(fs.statSync(dir));

/** Where a number is free. */
interface Place {
  readonly dir: string;
  readonly prefix: string;
  /** The identity of the one in which it was looked for: by now the path may name another. */
  readonly directory: string;
}

/**
 * Listens, then takes the number; `undefined` where another process was faster, or where the path
 * names another directory by now.
 */
export async function takeNumber(
  { dir, prefix, directory }: Place,
  number: number,
  warn: Warn,
): Promise<Hold | undefined> {
  const sockets = socketDir(dir);
  // Never a number itself.
  const draft = `${prefix}new-${randomUUID().slice(0, 8)}`;
  let answer = `${process.pid}${WAITING}`;
  const server = await listen(sockets.pathOf(draft), () => answer).catch((error: unknown) => {
    sockets.close();
    throw error;
  });
  const close = async (): Promise<void> => {
    await new Promise<void>((resolve) => server.close(() => resolve()));
    sockets.close();
  };
  const path = `${dir}/${prefix}${number}`;
  try {
    // Before it has a number: whoever is refused by it must be able to ask it.
    giveToOwnerOf(dir, `${dir}/${draft}`, warn);
    const isSame = identityAt(dir, fs.statSync) === directory;
    const socket = isSame ? linked(`${dir}/${draft}`, path) : undefined;
    remove(`${dir}/${draft}`);
    if (socket === undefined) {
      await close();
      return undefined;
    }
    return {
      number,
      directory,
      begin: () => void (answer = String(process.pid)),
      look: () => look(dir, directory, path, socket),
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}

function look(dir: string, directory: string, path: string, socket: string) {
  if (![directory, UNKNOWN].includes(identityAt(dir, fs.statSync))) return 'moved';
  return [socket, UNKNOWN].includes(identityAt(path, fs.lstatSync)) ? 'here' : 'removed';
}

const UNKNOWN = 'unknown';

function identityAt(path: string, stat: (path: string) => fs.Stats): string {
  try {
    return identityOf(stat(path));
  } catch (error) {
    if (errnoOf(error) === 'ENOENT' || errnoOf(error) === 'ENOTDIR') return 'none';
    // Where this process may not look, others may not take anything away.
    return UNKNOWN;
  }
}

/** @returns what was linked, or nothing where the number or the draft is gone. */
function linked(draft: string, path: string): string | undefined {
  try {
    const socket = identityOf(fs.lstatSync(draft));
    fs.linkSync(draft, path);
    return socket;
  } catch (error) {
    // The number is taken, or a winner has cleaned up this draft.
    if (errnoOf(error) === 'EEXIST' || errnoOf(error) === 'ENOENT') return undefined;
    throw error;
  }
}

function remove(path: string): void {
  fs.rmSync(path, { force: true });
}

/** @returns whether this process has removed it: of several that try, one has. */
export function removeNumber(dir: string, prefix: string, number: number): boolean {
  try {
    fs.unlinkSync(`${dir}/${prefix}${number}`);
    return true;
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return false;
    throw error;
  }
}

/** Removes what the number has superseded, and drafts; a living draft finds its link refused. */
export function removeSuperseded(dir: string, prefix: string, number: number): void {
  for (const name of fs.readdirSync(dir)) {
    if (name.startsWith(`${prefix}new-`)) remove(`${dir}/${name}`);
  }
  for (const lower of numbersIn(dir, prefix)) {
    if (lower < number) remove(`${dir}/${prefix}${lower}`);
  }
}

async function listen(path: string, answer: () => string): Promise<net.Server> {
  const server = net.createServer((connection) => {
    connection.on('error', () => {});
    connection.end(answer());
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(path, resolve);
  });
  server.on('error', () => {});
  // The lock alone is no reason to go on living.
  server.unref();
  return server;
}

/** Who listens at a lock's socket. */
export interface Listener {
  readonly pid: string;
  /** Whether it does not hold the lock yet. */
  readonly isWaiting: boolean;
}

/** Undefined if it hung up without an answer. Rejects with the system's error. */
export async function askListener(dir: string, name: string): Promise<Listener | undefined> {
  const sockets = socketDir(dir);
  try {
    const answer = await ask(sockets.pathOf(name));
    const [, pid, rest] = /^(\d{1,10})(.*)$/.exec(answer) ?? [];
    return pid === undefined ? undefined : { pid, isWaiting: rest === WAITING };
  } finally {
    sockets.close();
  }
}

function ask(path: string): Promise<string> {
  return new Promise((resolve, reject) => {
    let answer = '';
    const connection = net.connect(path);
    const timer = setTimeout(() => {
      connection.destroy(new Error(`no answer in ${ANSWER_TIMEOUT_MS / 1000} seconds`));
    }, ANSWER_TIMEOUT_MS);
    connection.setEncoding('latin1');
    connection.on('data', (chunk: string) => (answer += chunk));
    connection.on('error', reject);
    connection.on('close', () => {
      clearTimeout(timer);
      resolve(answer);
    });
  });
}
