import { DAY_MS, HOUR_MS } from '../../src/base/time.ts';
import { DATA, type Inode } from './disk.ts';
import type { FilePart, Part } from './ledger.ts';
import type { World } from './world.ts';

const KINDS = ['views', 'refused'] as const;
const FILE = /^(views|refused)-(\d{4}-\d\d-\d\d)\.ndjson(?:\.gz|(?<=^refused.*)\.replayed)?$/;
const dayIn = (kind: FilePart, name: string): string | undefined => {
  const [, found, day] = FILE.exec(name) ?? [];
  return found === kind ? day : undefined;
};

/** The machine sleeps for half a day at a time, so a removal may come this much late. */
const LATE_MS = 25 * HOUR_MS;

/**
 * Checks the promises about old views while one process runs: none is older than --keep-days plus a
 * day, and no younger view is removed.
 */
export class Removals {
  readonly #world: World;
  readonly #startedMs: number;
  /** When retention last listed the directory. */
  #listedMs = 0;
  /** The day of each kind that was removed last, and that listing. */
  readonly #removed: Partial<Record<FilePart, { readonly day: string; readonly atMs: number }>> =
    {};
  /** The files that are open for writing, with the time at which each was opened. */
  readonly #open = new Map<Inode, number>();
  /** When the file of each day was closed, the last one at the end. */
  readonly #closed: Record<FilePart, Map<string, number>> = {
    views: new Map(),
    refused: new Map(),
  };
  #checkedHours = -1;
  /** The newest day of each kind at the last check. */
  readonly #newest: Partial<Record<FilePart, string | undefined>> = {};
  /** The time since which nothing has been wrong, and the most days with files since then. */
  #calm = { sinceMs: -1, sinceHours: 0, mostDays: { views: 0, refused: 0 } };

  constructor(world: World) {
    this.#world = world;
    this.#startedMs = world.time.nowMs;
  }

  opened(inode: Inode): void {
    this.#open.set(inode, this.#world.time.nowMs);
    // An archive that reads its stream again writes old days again.
    const [, kind, day] = FILE.exec(inode.name) ?? [];
    if (day !== this.daysOf(kind as FilePart).at(-1)) this.#calm.sinceMs = -1;
  }

  closed(inode: Inode): void {
    const [, kind, day] = FILE.exec(inode.name) ?? [];
    const isOpen = this.#open.delete(inode);
    if (!isOpen || !day) return;
    const closed = this.#closed[kind as FilePart];
    closed.delete(day);
    closed.set(day, this.#world.time.nowMs);
  }

  /** Records that retention lists the directory. */
  listing(): void {
    this.#listedMs = this.#world.time.nowMs;
  }

  /** Checks that retention may remove the file. */
  removing(part: Part, inode: Inode, path: string): void {
    const { ledger } = this.#world;
    const name = path.slice(DATA.length + 1);
    ledger.note(`${part}: removed ${name}`);
    const [, kind, day] = (FILE.exec(name) ?? []) as unknown as [string, FilePart?, string?];
    if (part !== 'retention' || inode.kind !== 'file' || kind === undefined || !day) {
      return ledger.fail(`${part}: removed ${name}, which is foreign`);
    }
    const check = (holds: boolean, why: string): void =>
      ledger.check(holds, `retention: removed ${name}, ${why}`);
    const last = this.#removed[kind] ?? { day: '', atMs: this.#startedMs };
    const isSameDay = last.day === day && last.atMs === this.#listedMs;
    check(isSameDay || this.#listedMs - last.atMs >= HOUR_MS, 'within an hour');
    this.#removed[kind] = { day, atMs: this.#listedMs };
    // The operator can change everything after retention has looked.
    if (this.#listedMs <= ledger.operatorMs) return;
    check(this.#ageMs(kind, day) >= 0, 'which is younger than promised');
    check(day !== this.daysOf(kind).at(-1), 'the newest');
    check((this.#open.get(inode) ?? Infinity) > this.#listedMs, 'which is open');
    const [closedDay, closedMs = 0] = [...this.#closed[kind]].at(-1) ?? [];
    const isJustClosed = closedDay === day && this.#listedMs - closedMs < HOUR_MS - 60_000;
    check(!isJustClosed, 'which was open a moment ago');
    const [oldest = day] = this.#oldDays(kind, 0);
    check(oldest >= day, `before that of ${oldest}`);
  }

  /** Checks that no day is older than promised, after an hour for the removal of each. */
  checkAges(): void {
    const { ledger, time, process } = this.#world;
    if (time.hours === this.#checkedHours) return;
    this.#checkedHours = time.hours;
    const sinceMs = Math.max(ledger.operatorMs, process.syscalls.troubleMs, this.#startedMs);
    if (sinceMs !== this.#calm.sinceMs) {
      this.#calm = { sinceMs, sinceHours: time.hours, mostDays: { views: 0, refused: 0 } };
    }
    const { sinceHours, mostDays } = this.#calm;
    for (const kind of KINDS) {
      const days = this.daysOf(kind);
      const newestBefore = this.#newest[kind];
      this.#newest[kind] = days.at(-1);
      mostDays[kind] = Math.max(mostDays[kind], days.length);
      if (process.hasEnded || time.hours - sinceHours < mostDays[kind] + 2) continue;
      const late = this.#oldDays(kind, LATE_MS).filter((day) => day !== newestBefore);
      ledger.check(late.length === 0, `retention: there still are ${kind} of ${late.join()}`);
    }
  }

  /** Expects that retention removes an overdue day of each kind, all its files, within an hour. */
  async check(): Promise<void> {
    const { ledger, time } = this.#world;
    const due = KINDS.map((kind) => [kind, this.#oldDays(kind, 0)[0]] as const);
    await time.suspend(HOUR_MS);
    await time.advance(5_000);
    for (const [kind, day] of due) {
      // One that was in use before may be older.
      const removed = this.#removed[kind]?.day ?? '~';
      const isDone = day === undefined || (removed <= day && !this.daysOf(kind).includes(removed));
      ledger.check(isDone, `retention: there still are ${kind} of ${day}`);
    }
  }

  /** Returns how much older the views of a day are than promised; negative: they must stay. */
  #ageMs(kind: FilePart, day: string): number {
    const { time, settings } = this.#world;
    const keepMs = settings.keepDays[kind] * DAY_MS || Infinity;
    return time.wallMs() - (Date.parse(day) + DAY_MS) - keepMs;
  }

  /** Returns the days that must go, oldest first: not the newest, and none that was in use lately. */
  #oldDays(kind: FilePart, lateMs: number): string[] {
    const { nowMs } = this.#world.time;
    const inUse = [...this.#open.keys()].map(({ name }) => dayIn(kind, name));
    for (const [day, atMs] of this.#closed[kind]) {
      if (nowMs - atMs < HOUR_MS + 60_000) inUse.push(day);
    }
    return this.daysOf(kind)
      .slice(0, -1)
      .filter((day) => this.#ageMs(kind, day) >= lateMs && !inUse.includes(day));
  }

  /** Returns the days that have files of any form, oldest first. */
  daysOf(kind: FilePart): string[] {
    const { disk } = this.#world;
    const files = disk.names().filter((name) => disk.find(`${DATA}/${name}`)!.kind === 'file');
    return [...new Set(files.flatMap((name) => dayIn(kind, name) ?? []))].sort();
  }

  /** Returns the daily files, oldest first, without packed ones. */
  filesOf(kind: FilePart): Inode[] {
    const { disk } = this.#world;
    return this.daysOf(kind)
      .map((day) => disk.find(`${DATA}/${kind}-${day}.ndjson`))
      .filter((inode) => inode?.kind === 'file') as Inode[];
  }
}
