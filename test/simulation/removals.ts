import { DAY_MS, dayOf, HOUR_MS } from '../../src/base/time.ts';
import { DATA, type Inode } from './disk.ts';
import type { FileRoom, Room } from './ledger.ts';
import type { World } from './world.ts';

const FILE = /^(views|refused)-(\d{4}-\d\d-\d\d)\.ndjson$/;

/** What retention may remove while one process runs, and what it has. */
export class Removals {
  readonly #world: World;
  readonly #startedMs: number;
  /** When a file of each kind was last removed. */
  readonly #removedMs: Partial<Record<FileRoom, number>> = {};
  #listedMs = 0;

  constructor(world: World) {
    this.#world = world;
    this.#startedMs = world.time.nowMs;
  }

  /** Retention looks at the directory. */
  listing(): void {
    this.#listedMs = this.#world.time.nowMs;
  }

  /** The file is about to be removed, not by the operator. */
  removing(room: Room, inode: Inode, path: string): void {
    const { ledger, time } = this.#world;
    const { nowMs } = time;
    const name = path.slice(DATA.length + 1);
    ledger.note(`${room}: removed ${name}`);
    if (/^refused-.*\.replayed$/.test(name)) return;
    const [, kind, day] = (FILE.exec(name) ?? []) as unknown as [string, FileRoom?, string?];
    if (room !== 'retention' || inode.kind !== 'file' || kind === undefined || !day) {
      return ledger.fail(`${room}: removed ${name}, which is foreign`);
    }
    const lastMs = this.#removedMs[kind] ?? this.#startedMs;
    this.#removedMs[kind] = nowMs;
    ledger.check(nowMs - lastMs >= HOUR_MS, `retention: removed ${name} within an hour`);
    // The operator can change everything after retention has looked.
    if (this.#listedMs <= ledger.operatorMs) return;
    const overdue = this.overdue(kind);
    ledger.check(overdue.includes(day), `retention: removed ${name}, which it must keep`);
    ledger.check(overdue[0] === day, `retention: removed ${name} before that of ${overdue[0]}`);
  }

  hasRemoved(kind: FileRoom): boolean {
    return this.#removedMs[kind] !== undefined;
  }

  /** The days whose files may be removed now, oldest first; not those that are in use. */
  overdue(kind: FileRoom, inUse: ReadonlySet<Inode> = this.#world.ledger.life.written): string[] {
    const { disk, time, settings } = this.#world;
    const today = Date.parse(dayOf(time.wallMs()));
    const keepMs = settings.keepDays[kind] * DAY_MS;
    const files = disk
      .names()
      .filter((name) => name.startsWith(kind) && FILE.test(name))
      .map((name) => ({ day: FILE.exec(name)![2]!, inode: disk.find(`${DATA}/${name}`)! }))
      .filter(({ inode }) => inode.kind === 'file')
      .sort((a, b) => (a.day < b.day ? -1 : 1));
    const isOld = (day: string): boolean => keepMs > 0 && today - Date.parse(day) > keepMs;
    return files
      .slice(0, -1)
      .filter(({ day, inode }) => isOld(day) && !inUse.has(inode))
      .map(({ day }) => day);
  }
}
