import { DAY_MS, dayOf } from '../../src/base/time.ts';
import { DATA } from './disk.ts';
import type { World } from './world.ts';

/** The changes that people and other programs make to the files in the data directory. */
export class Operator {
  readonly #world: World;

  constructor(world: World) {
    this.#world = world;
  }

  /** Creates files of earlier days, some with a fragment, and files of other programs. */
  putOldFiles(): void {
    const { random, disk, time } = this.#world;
    const endings = ['', '', '', '.gz', '.replayed', '.bak', '.gz.tmp', '~'];
    for (let n = random.below(7); n > 0; n--) {
      const day = dayOf(time.wallMs() - random.below(8) * DAY_MS);
      const name = `${random.pick(['views', 'refused'])}-${day}.ndjson${random.pick(endings)}`;
      if (disk.names().includes(name)) continue;
      if (!this.#world.isArchive && random.chance(0.1)) disk.create(name, 'directory');
      else this.#putFile(name);
    }
    disk.syncNames();
  }

  take(name: string, how: 'moved' | 'removed'): void {
    this.#world.disk.detach(name, how, this.#world.time.nowMs);
    this.note(`${name} is ${how}`);
  }

  /** Removes a file, old or new. */
  takeAny(): void {
    const names = this.#world.disk.names().filter((name) => name.includes('.ndjson'));
    this.take(this.#world.random.pick(names) ?? '', 'removed');
  }

  /** Replaces one of viewlog's files with another file, a directory or a FIFO. */
  obstruct(): void {
    const { disk, random } = this.#world;
    const name = this.todaysFile();
    const kind = random.pick(['directory', 'fifo', 'file'] as const);
    this.take(name, 'moved');
    if (kind === 'file') this.#putFile(name);
    else disk.create(name, kind);
    this.note(`${name} is a ${kind}`);
  }

  /** Compresses a past day. Half of the time the file stays, as with `gzip -k`. */
  compress(): void {
    const { disk, random, time } = this.#world;
    const today = dayOf(time.wallMs());
    const isPast = (name: string): boolean => name.endsWith('.ndjson') && !name.includes(today);
    const name = random.pick(disk.names().filter(isPast));
    if (name === undefined || disk.find(`${DATA}/${name}`)!.kind !== 'file') return;
    if (disk.find(`${DATA}/${name}.gz`) === undefined) this.#putFile(`${name}.gz`);
    if (random.chance(0.5)) this.take(name, 'removed');
    this.note(`${name} is compressed`);
  }

  /** Replays the refused views of a day. */
  replay(): void {
    const { disk, random } = this.#world;
    const isRefused = (name: string): boolean => /^refused-.*ndjson(\.gz)?$/.test(name);
    const name = random.pick(disk.names().filter(isRefused))?.replace(/\.gz$/, '.replayed');
    if (name === undefined || disk.find(`${DATA}/${name}`) !== undefined) return;
    this.#putFile(name.replace(/ndjson$/, 'ndjson.replayed'));
    this.note(`${name} is there`);
  }

  todaysFile(): string {
    const { isArchive, random, time } = this.#world;
    const kind = isArchive || random.chance(0.8) ? 'views' : 'refused';
    return `${kind}-${dayOf(time.wallMs())}.ndjson`;
  }

  note(text: string): void {
    const { ledger, time } = this.#world;
    ledger.note(text);
    ledger.operatorMs = time.nowMs;
  }

  #putFile(name: string): void {
    const { disk, random, ledger } = this.#world;
    const inode = disk.create(name);
    const text = random.pick(['', '{"old":true}\n', '{"old":true}\n{"old":']);
    inode.append(Buffer.from(text));
    if (random.chance(0.5)) inode.makeDurable();
    ledger.adopt(inode);
  }
}
