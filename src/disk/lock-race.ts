// How one process of many comes to hold a lock; `lock.ts` says why it is one.
import * as fs from 'node:fs';
import { EXIT, errnoOf, Fatal, reasonOf } from '../base/exit.ts';
import { sleep } from '../base/time.ts';
import {
  askListener,
  directoryAt,
  type Hold,
  type Listener,
  numbersIn,
  removeNumber,
  removeSuperseded,
  takeNumber,
} from './lock-socket.ts';
import type { Warn } from './owner.ts';

/** What is held once a directory. */
export interface LockKind {
  /** The start of its sockets' names. */
  readonly prefix: string;
  /** What a late starter is told. */
  readonly heldBy: (dir: string, holder: string) => string;
  /** Whether a holder leaves files of this name. */
  readonly isLeft: (name: string) => boolean;
  /** Why its holder ends where the path names another directory; without it, it goes on there. */
  readonly moved?: (dir: string) => string;
}

/** What is raced for. */
export interface Race {
  readonly dir: string;
  readonly kind: LockKind;
  readonly warn: Warn;
}

/** Another process lives that holds the lock, or is about to. */
export class HeldByOther extends Fatal {}

/** A holder writes for so long after it has seen its socket in its place. */
export const LEASE_MS = 1_000;
const GRACE_MS = 2 * LEASE_MS;
/** Each failed attempt means that another process got further; then one lives. */
const ATTEMPTS_MAX = 100;

/**
 * @throws {HeldByOther} exit 73.
 * @throws {Fatal} exit 73 where there can't be a lock.
 */
export async function winLock(race: Race): Promise<Hold> {
  const { dir, kind } = race;
  try {
    for (let attempt = 0; attempt < ATTEMPTS_MAX; attempt++) {
      const begunMs = performance.now();
      const place = { dir, prefix: kind.prefix, directory: directoryAt(dir) };
      const dead = await deadNumbers(race, () => false);
      if (dead === undefined) continue;
      const highest = dead.at(-1) ?? 0;
      const hold = await takeNumber(place, highest + 1, race.warn);
      if (hold === undefined) continue;
      if (isHighest(race, hold)) {
        const isNext = highest > 0 ? removeNumber(dir, kind.prefix, highest) : !wasHeld(race);
        removeSuperseded(dir, kind.prefix, hold.number);
        if (!isNext || performance.now() - begunMs > LEASE_MS) await sleep(GRACE_MS);
        if (hasBegun(race, hold)) return hold;
      }
      await withdraw(race, hold);
    }
  } catch (error) {
    if (error instanceof Fatal) throw error;
    throw cannotLock(dir, reasonOf(error));
  }
  throw cannotLock(dir, 'others keep taking it');
}

/**
 * Takes another number for a holder whose socket was removed while its lease runs: no other
 * process can hold the lock before it has waited for longer than that.
 * @returns nothing where the lease has ended meanwhile.
 */
export async function retakeLock(
  race: Race,
  lost: Hold,
  hasLease: () => boolean,
): Promise<Hold | undefined> {
  const { dir, kind, warn } = race;
  const others = await deadNumbers(race, ({ isWaiting }) => isWaiting);
  if (others === undefined) return undefined;
  // A number that no other process can have asked for.
  const number = Math.max(lost.number, ...others) + 1;
  const place = { dir, prefix: kind.prefix, directory: lost.directory };
  const hold = await takeNumber(place, number, warn);
  if (hold === undefined) return undefined;
  if (hasBegun(race, hold) && hasLease()) {
    removeSuperseded(dir, kind.prefix, number);
    return hold;
  }
  await hold.close();
  return undefined;
}

function hasBegun(race: Race, hold: Hold): boolean {
  hold.begin();
  return isHighest(race, hold);
}

const isHighest = ({ dir, kind }: Race, hold: Hold): boolean =>
  hold.look() === 'here' && numbersIn(dir, kind.prefix).at(-1) === hold.number;

/** Below a higher number the own one counts for nothing; the highest stays, though dead. */
async function withdraw(race: Race, hold: Hold): Promise<void> {
  const { dir, kind } = race;
  if (hold.look() === 'here' && !isHighest(race, hold)) {
    removeNumber(dir, kind.prefix, hold.number);
  }
  await hold.close();
}

/**
 * The numbers in the directory, ascending, where all are dead beyond doubt; nothing where one may
 * be dying: look again.
 * @param isPassedOver whether one that lives does not count.
 * @throws {HeldByOther} where one lives.
 */
async function deadNumbers(
  { dir, kind }: Race,
  isPassedOver: (listener: Listener) => boolean,
): Promise<number[] | undefined> {
  const numbers = numbersIn(dir, kind.prefix);
  // Not only the highest: somebody may have put a higher one there than the living one's.
  for (const number of numbers.toReversed()) {
    const name = `${kind.prefix}${number}`;
    const listener = await listenerAt(dir, kind, name);
    if (listener === 'unknown') return undefined;
    if (listener === 'dead' || isPassedOver(listener)) continue;
    throw new HeldByOther(EXIT.cannotCreate, kind.heldBy(dir, `process ${listener.pid}`));
  }
  return numbers;
}

async function listenerAt(
  dir: string,
  kind: LockKind,
  name: string,
): Promise<Listener | 'dead' | 'unknown'> {
  try {
    return (await askListener(dir, name)) ?? 'unknown';
  } catch (error) {
    const errno = errnoOf(error) ?? '';
    // ENOENT: superseded since, so dead. What superseded it is found by the next look.
    if (errno === 'ECONNREFUSED' || errno === 'ENOENT') return 'dead';
    if (errno === 'ECONNRESET' || errno === 'EPIPE') return 'unknown';
    if (error instanceof Fatal) throw error;
    if (errno === 'EACCES' || errno === 'EPERM') throw cannotAsk(dir, name);
    // A holder that is stopped (SIGSTOP), or too busy to answer, is one.
    const holder = `a process that does not answer (${name}: ${reasonOf(error)})`;
    throw new HeldByOther(EXIT.cannotCreate, kind.heldBy(dir, holder));
  }
}

/** Whether a process that held the lock has left anything: then one may hold it still. */
const wasHeld = ({ dir, kind }: Race): boolean => fs.readdirSync(dir).some(kind.isLeft);

function cannotAsk(dir: string, name: string): Fatal {
  const path = `${dir}/${name}`;
  const { uid } = fs.lstatSync(path);
  return cannotLock(
    dir,
    `"${path}" belongs to user ${uid}, and this one may not ask whether its process still runs; ` +
      `stop that if it does, then remove it: rm '${path}'`,
  );
}

const cannotLock = (dir: string, reason: string): Fatal =>
  new Fatal(EXIT.cannotCreate, `Cannot lock "${dir}": ${reason}`);
