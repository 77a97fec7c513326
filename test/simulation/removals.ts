import { DAY_MS, HOUR_MS } from '../../src/base/time.ts';
import { DATA, type Inode } from './disk.ts';
import type { FilePart, Part } from './ledger.ts';
import type { World } from './world.ts';

const KINDS = ['views', 'refused'] as const;
const FILE = /^(views|refused)-(\d{4}-\d\d-\d\d)\.ndjson(?:\.gz|(?<=^refused.*)\.replayed)?$/;

/** For each kind of file, a day and the time of its last event. */
type Dated = Record<FilePart, { readonly day: string; readonly atMs: number }>;

/**
 * Checks what retention promises the site's owner while one process runs: it removes no view too
 * early, and in each hour without faults one overdue day.
 */
export class Removals {
  readonly #world: World;
  /** The files that are open for writing, and when each was opened. */
  readonly #open = new Map<Inode, number>();
  readonly #closed: Dated;
  readonly #removed: Dated;
  /** The hour in which the process last did anything with a file, by the file's name. */
  readonly #used = new Map<string, number>();
  /** When retention last listed the directory. */
  #listedMs = 0;
  /**
   * The hour and the time of the last check, and the oldest day of each kind that was overdue then.
   */
  #checked = { hour: -1, atMs: 0, due: {} as Partial<Record<FilePart, string | undefined>> };

  constructor(world: World) {
    const atMs = world.time.nowMs;
    this.#world = world;
    this.#closed = { views: { day: '', atMs }, refused: { day: '', atMs } };
    this.#removed = { ...this.#closed };
  }

  /** When a view file was last removed; at first, when the process started. */
  get removedMs(): number {
    return this.#removed.views.atMs;
  }

  opened(inode: Inode): void {
    this.#open.set(inode, this.#world.time.nowMs);
  }

  closed(inode: Inode): void {
    const [, kind, day = ''] = FILE.exec(inode.name) ?? [];
    this.used(inode.name);
    if (this.#open.delete(inode) && kind !== undefined) {
      this.#closed[kind as FilePart] = { day, atMs: this.#world.time.nowMs };
    }
  }

  used(name: string): void {
    this.#used.set(name, this.#world.time.hours);
  }

  /** Records that retention lists the directory. */
  listing(): void {
    this.#listedMs = this.#world.time.nowMs;
  }

  /** Checks that retention may remove the file. */
  removing(part: Part, inode: Inode, path: string): void {
    const { ledger, time } = this.#world;
    const name = path.slice(DATA.length + 1);
    ledger.note(`${part}: removed ${name}`);
    const [, kind, day = ''] = (FILE.exec(name) ?? []) as unknown as [string, FilePart?, string?];
    if (part !== 'retention' || inode.kind !== 'file' || kind === undefined) {
      return ledger.fail(`${part}: removed ${name}, which it must not remove`);
    }
    const check = (holds: boolean, why: string): void =>
      ledger.check(holds, `retention: removed ${name}, ${why}`);
    const hasPassed = (since: Dated): boolean => time.nowMs - since[kind].atMs >= HOUR_MS;
    check(
      this.#removed[kind].day === day || hasPassed(this.#removed),
      'within an hour of another day',
    );
    this.#removed[kind] = { day, atMs: time.nowMs };
    // The operator can change everything after retention has listed the directory.
    if (this.#listedMs <= ledger.operatorMs) return;
    check(this.#ageMs(kind, day) >= 0, 'which is younger than promised');
    check(day !== this.daysOf(kind).at(-1), 'the newest');
    // A file that couldn't be opened, and wasn't written, may still have to be closed.
    const isOpen = (this.#open.get(inode) ?? Infinity) <= this.#listedMs;
    check(!isOpen || !ledger.life.written.has(inode), 'which is open');
    const wasOpen = this.#closed[kind].day === day && !hasPassed(this.#closed);
    check(!wasOpen, 'which was open less than an hour ago');
  }

  /** Checks that retention has removed a day since the last check, if one was overdue. */
  checkHour(): void {
    const { ledger, time, process } = this.#world;
    const { hour, atMs, due } = this.#checked;
    if (time.hours === hour) return;
    const isCalm = Math.max(ledger.operatorMs, process.syscalls.troubleMs) < atMs;
    for (const kind of KINDS) {
      const day = due[kind];
      if (day === undefined || !isCalm || process.hasEnded) continue;
      const removed = this.#removed[kind];
      const isOlderGone =
        removed.atMs > atMs && removed.day < day && !this.#isThere(kind, removed.day);
      const mayStay = !this.#isThere(kind, day) || isOlderGone || this.#isUsed(kind, day);
      ledger.check(mayStay, `retention: ${kind} of ${day} still exist`);
    }
    const oldest = (kind: FilePart) => this.#overdue(kind).find((day) => !this.#isUsed(kind, day));
    const nowDue = { views: oldest('views'), refused: oldest('refused') };
    this.#checked = { hour: time.hours, atMs: time.nowMs, due: nowDue };
  }

  /** Expects retention to remove the days that are overdue now, one per hour. */
  async check(): Promise<void> {
    const { ledger, time } = this.#world;
    const overdue = KINDS.map((kind) => [kind, this.#overdue(kind)] as const);
    // Adds two hours for a day that was in use.
    for (let hours = 2 + Math.max(...overdue.map(([, days]) => days.length)); hours > 0; hours--) {
      await time.suspend(1.02 * HOUR_MS);
      await time.advance(50);
      this.checkHour();
    }
    for (const [kind, days] of overdue) {
      const left = days.filter((day) => this.#isThere(kind, day) && !this.#isOpen(kind, day));
      ledger.check(
        left.length === 0,
        `retention: in the end, ${kind} of ${left.join()} still exist`,
      );
    }
    await time.advance(5_000);
  }

  /** Returns how much older the views of a day are than promised; negative: they must stay. */
  #ageMs(kind: FilePart, day: string): number {
    const { time, settings } = this.#world;
    const keepMs = settings.keepDays[kind] * DAY_MS || Infinity;
    return time.wallMs() - (Date.parse(day) + DAY_MS) - keepMs;
  }

  /** Returns the days that are older than promised, oldest first; the newest day may stay. */
  #overdue(kind: FilePart): string[] {
    const days = this.daysOf(kind).slice(0, -1);
    return days.filter((day) => this.#ageMs(kind, day) >= 0);
  }

  #isThere(kind: FilePart, day: string): boolean {
    return this.daysOf(kind).includes(day);
  }

  #isOpen(kind: FilePart, day: string): boolean {
    return [...this.#open.keys()].some(({ name }) => name === `${kind}-${day}.ndjson`);
  }

  /** Returns whether the day's file is open, or was used less than a whole hour ago. */
  #isUsed(kind: FilePart, day: string): boolean {
    const hour = this.#used.get(`${kind}-${day}.ndjson`) ?? -Infinity;
    return this.#world.time.hours - hour < 2 || this.#isOpen(kind, day);
  }

  /** Returns the days that have files of any form, oldest first. */
  daysOf(kind: FilePart): string[] {
    const days = new Set<string>();
    for (const name of this.#world.disk.files()) {
      const [, found, day] = FILE.exec(name) ?? [];
      if (found === kind) days.add(day!);
    }
    return [...days].sort();
  }

  /** Returns the daily files, oldest first, without compressed ones. */
  filesOf(kind: FilePart): Inode[] {
    const { disk } = this.#world;
    return this.daysOf(kind)
      .map((day) => disk.find(`${DATA}/${kind}-${day}.ndjson`))
      .filter((inode) => inode?.kind === 'file') as Inode[];
  }
}
