// One writer a data directory, by a Unix socket in it. Neither Node nor Bun offers flock, and a pid
// in a file says nothing after a reboot; but a socket answers as long as its process lives, and
// refuses as soon as it does not, on Node, Bun and Deno alike, with nothing allowed but the
// directory.
//
// The sockets are `viewlog.lock.1`, `.2`, …; the highest number counts. Whoever finds that one dead
// takes the next number, and never by removing the dead one first: between looking and removing,
// another might have taken it. Three facts make the winner unique:
//   - A socket gets its number by link(), when it already listens. So a number goes to one process
//     only, and from its first instant on it is live; what refuses is dead for good.
//   - The highest number is never removed, only superseded: numbers grow. Who sees, after taking
//     one, that a higher one exists, was late, and looks again.
//   - Who holds the highest number cleans up the lower ones.
// A released lock is a dead socket, and stays.
//
// It holds on one machine: a directory that several machines mount (NFS) is not protected.
import { randomUUID } from 'node:crypto';
import * as fs from 'node:fs';
import * as net from 'node:net';
import { EXIT, errnoOf, Fatal, reasonOf } from '../base/exit.ts';
import { prepareDirectory } from './directory.ts';
import { systemFiles } from './ops.ts';
import { socketDir, type SocketDir } from './socket-dir.ts';

export interface Lock {
  release(): Promise<void>;
}

/** What is held once a directory: the start of its sockets' names, and what who comes late is told. */
export interface LockKind {
  readonly prefix: string;
  readonly heldBy: (dir: string, holder: string) => string;
}

const WRITER: LockKind = {
  prefix: 'viewlog.lock.',
  heldBy: (dir, holder) =>
    `Another viewlog writes to "${dir}": ${holder}; stop it, or choose another --data`,
};

const ANSWER_TIMEOUT_MS = 2_000;
/** Each failed attempt means that somebody else got further; then somebody lives. */
const ATTEMPTS_MAX = 100;

/**
 * Makes this process the only writer (or the only one of its kind) in the directory, made if
 * missing.
 * @throws {Fatal} exit 73: it has one, whose pid is named, or can't be written to.
 */
export async function acquireLock(dir: string, kind: LockKind = WRITER): Promise<Lock> {
  await prepareDirectory(dir, systemFiles);
  const sockets = socketDir(dir);
  try {
    for (let attempt = 0; attempt < ATTEMPTS_MAX; attempt++) {
      const highest = numbersIn(dir, kind).at(-1) ?? 0;
      if (highest > 0 && !(await isDead(dir, sockets, highest, kind))) continue;
      const lock = await take(dir, sockets, highest + 1, kind);
      if (lock !== undefined) return lock;
    }
  } catch (error) {
    sockets.close();
    if (error instanceof Fatal) throw error;
    throw cannotLock(dir, reasonOf(error));
  }
  sockets.close();
  throw cannotLock(dir, 'others keep taking it');
}

function numbersIn(dir: string, { prefix }: LockKind): number[] {
  return fs
    .readdirSync(dir)
    .filter((name) => name.startsWith(prefix) && /^[1-9]\d{0,14}$/.test(name.slice(prefix.length)))
    .map((name) => Number(name.slice(prefix.length)))
    .sort((a, b) => a - b);
}

/** Listens, then takes the number; `undefined` where somebody else was faster. */
async function take(
  dir: string,
  sockets: SocketDir,
  number: number,
  kind: LockKind,
): Promise<Lock | undefined> {
  const { prefix } = kind;
  const name = `${prefix}${number}`;
  // Never a number itself.
  const draft = `${prefix}new-${randomUUID().slice(0, 8)}`;
  const server = await listen(sockets.pathOf(draft));
  const won = linked(`${dir}/${draft}`, `${dir}/${name}`);
  remove(`${dir}/${draft}`);
  if (!won || numbersIn(dir, kind).at(-1) !== number) {
    if (won) remove(`${dir}/${name}`);
    await stopListening(server);
    return undefined;
  }
  // Drafts of the dead as well; one of the living finds its link refused, and looks again.
  for (const other of fs.readdirSync(dir)) {
    if (other.startsWith(prefix) && other !== name) remove(`${dir}/${other}`);
  }
  return {
    async release() {
      await stopListening(server);
      sockets.close();
    },
  };
}

function linked(from: string, to: string): boolean {
  try {
    fs.linkSync(from, to);
    return true;
  } catch (error) {
    // The number is taken, or a winner has cleaned up this draft.
    if (errnoOf(error) === 'EEXIST' || errnoOf(error) === 'ENOENT') return false;
    throw error;
  }
}

function remove(path: string): void {
  fs.rmSync(path, { force: true });
}

async function listen(path: string): Promise<net.Server> {
  const server = net.createServer((connection) => {
    connection.on('error', () => {});
    connection.end(String(process.pid));
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

const stopListening = (server: net.Server): Promise<void> =>
  new Promise((resolve) => server.close(() => resolve()));

/**
 * Whether what holds the number is dead beyond doubt; if not, it may be dying: look again.
 * @throws {Fatal} if it lives.
 */
async function isDead(
  dir: string,
  sockets: SocketDir,
  number: number,
  kind: LockKind,
): Promise<boolean> {
  const name = `${kind.prefix}${number}`;
  try {
    const pid = await ask(sockets.pathOf(name));
    if (pid === '') return false;
    throw heldBy(kind, dir, `process ${pid}`);
  } catch (error) {
    if (error instanceof Fatal) throw error;
    const errno = errnoOf(error) ?? '';
    // ENOENT: superseded since, so dead. What superseded it is found by the next look.
    if (errno === 'ECONNREFUSED' || errno === 'ENOENT') return true;
    if (errno === 'ECONNRESET' || errno === 'EPIPE') return false;
    if (errno === 'EACCES' || errno === 'EPERM') {
      throw cannotLock(dir, `${name} belongs to another user; start viewlog as that user`);
    }
    // A holder that is stopped (SIGSTOP), or too busy to answer, is one.
    throw heldBy(kind, dir, `a process that does not answer (${name}: ${reasonOf(error)})`);
  }
}

/** The holder's pid; '' if it hung up without an answer. Rejects with the system's error. */
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
      resolve(/^\d{1,10}$/.test(answer) ? answer : '');
    });
  });
}

const heldBy = (kind: LockKind, dir: string, holder: string): Fatal =>
  new Fatal(EXIT.cannotCreate, kind.heldBy(dir, holder));

const cannotLock = (dir: string, reason: string): Fatal =>
  new Fatal(EXIT.cannotCreate, `Cannot lock "${dir}": ${reason}`);
