import { DAY_MS, dayOf, HOUR_MS } from '../../src/base/time.ts';
import { DATA, type Inode } from './disk.ts';
import type { FilePart, Part } from './ledger.ts';
import type { World } from './world.ts';

const FILE = /^(views|refused)-(\d{4}-\d\d-\d\d)\.ndjson$/;

/** Checks what retention removes while one process runs. */
export class Removals {
  readonly #world: World;
  readonly #startedMs: number;
  /** When retention last listed the directory, and when it last did so to remove each kind. */
  #listedMs = 0;
  readonly #removedMs: Partial<Record<FilePart, number>> = {};

  constructor(world: World) {
    this.#world = world;
    this.#startedMs = world.time.nowMs;
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
    if (/^refused-.*\.replayed$/.test(name)) return;
    const [, kind, day] = (FILE.exec(name) ?? []) as unknown as [string, FilePart?, string?];
    if (part !== 'retention' || inode.kind !== 'file' || kind === undefined || !day) {
      return ledger.fail(`${part}: removed ${name}, which is foreign`);
    }
    const lastMs = this.#removedMs[kind] ?? this.#startedMs;
    this.#removedMs[kind] = this.#listedMs;
    const sinceMs = Math.round(this.#listedMs - lastMs);
    ledger.check(sinceMs >= HOUR_MS, `retention: removed ${name} within an hour`);
    // The operator can change everything after retention has looked.
    if (this.#listedMs <= ledger.operatorMs) return;
    const mayGo = this.#overdue(kind, (file) => ledger.life.written.has(file)).includes(day);
    ledger.check(mayGo, `retention: removed ${name}, which it must keep`);
    const [oldest] = this.#removable(kind);
    ledger.check(!(oldest! < day), `retention: removed ${name} before that of ${oldest}`);
  }

  /** Expects that retention removes one overdue file of each kind within an hour. */
  async check(): Promise<void> {
    const { ledger, time } = this.#world;
    const due = (['views', 'refused'] as const).filter((kind) => this.#removable(kind).length > 0);
    await time.suspend(HOUR_MS);
    await time.advance(5_000);
    for (const kind of due) {
      ledger.check(this.#removedMs[kind] !== undefined, `retention: removed none of ${kind}`);
    }
  }

  /**
   * Returns the days with files that must be removed, oldest first. A file that was opened may be
   * about to be written. If the operator replaced such a file, retention leaves the new one too.
   */
  #removable(kind: FilePart): string[] {
    return this.#overdue(kind, ({ name }) => this.#world.ledger.life.names.has(name));
  }

  /** Returns the days with files that may be removed now, oldest first, without those in use. */
  #overdue(kind: FilePart, isInUse: (file: Inode) => boolean): string[] {
    const { time, settings } = this.#world;
    const today = Date.parse(dayOf(time.wallMs()));
    const keepMs = settings.keepDays[kind] * DAY_MS;
    const isOld = (day: string): boolean => keepMs > 0 && today - Date.parse(day) > keepMs;
    return this.filesOf(kind)
      .slice(0, -1)
      .filter(({ day, inode }) => isOld(day) && !isInUse(inode))
      .map(({ day }) => day);
  }

  /** Returns the daily files, oldest first. */
  filesOf(kind: FilePart): { readonly day: string; readonly inode: Inode }[] {
    const { disk } = this.#world;
    return disk
      .names()
      .filter((name) => name.startsWith(kind) && FILE.test(name))
      .map((name) => ({ day: FILE.exec(name)![2]!, inode: disk.find(`${DATA}/${name}`)! }))
      .filter(({ inode }) => inode.kind === 'file')
      .sort((a, b) => (a.day < b.day ? -1 : 1));
  }
}
