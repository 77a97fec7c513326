// The views that were sent, acknowledged and written, and the checks on them. Every check is made
// as soon as it can fail, so that the trace ends there.
import { ARCHIVE_RECORD } from '../../src/disk/names.ts';
import type { Inode } from './disk.ts';
import type { Random } from './random.ts';
import type { Life } from './simulated-process.ts';
import type { World } from './world.ts';

export type Part = 'views' | 'refused' | 'retention';
export type FilePart = 'views' | 'refused';

interface Sent {
  readonly part: FilePart;
  /** The end of the view's line, from the view's own text on. */
  readonly text: string;
  readonly ts: string;
  readonly isListed: boolean;
  id?: string;
  /**
   * True: the view was in a file that the operator moved away, so an archive may write it again.
   */
  wasMoved?: boolean;
  place?: { readonly inode: Inode; readonly start: number; readonly end: number };
  isAcknowledged?: boolean;
  isForbidden?: boolean;
}

/** The known content of a file. */
interface Content {
  lineStart: number;
  /** The numbers of its lines, in order. */
  readonly lines: number[];
  /** Offsets at which crashes cut the file off within a line. */
  readonly tornAt: Set<number>;
  /** Bytes that are still to be written after a short write. */
  restBytes: number;
}

const HEAD = /^\{"ts":"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z)","id":"([0-9a-f-]{36})",(.*)$/s;
const NEWLINE = 0x0a;

export class Ledger {
  readonly trace: string[] = [];
  violation: string | undefined;
  /** The life of the process that runs, or ran last. */
  life!: Life;
  /** When the operator last changed files or the clock. */
  operatorMs = 0;
  readonly #world: World;
  readonly #isDurable: boolean;
  readonly #sent: Sent[] = [];
  readonly #contents = new Map<Inode, Content>();
  readonly #ids = new Set<string>();

  constructor(world: World) {
    this.#world = world;
    this.#isDurable = world.settings.durability === 'disk';
  }

  note(text: string): void {
    this.trace.push(`${this.#world.time.nowMs.toFixed(3).padStart(14)} ${text}`);
  }

  fail(text: string): void {
    this.note(`VIOLATION ${text}`);
    this.violation ??= text;
  }

  check(holds: boolean, text: string): void {
    if (!holds) this.fail(text);
  }

  get stored(): number {
    return this.#sent.filter((sent) => sent.place !== undefined).length;
  }

  get sent(): number {
    return this.#sent.length;
  }

  /** Records that a view was passed to the storage code. Returns its number. */
  send(part: FilePart, text: string, isListed = true): number {
    const ts = new Date(this.#world.time.wallMs()).toISOString();
    return this.#sent.push({ part, text, ts, isListed }) - 1;
  }

  /** Returns the line of a view that a collector has stored in a stream. */
  lineOf(n: number): string {
    const sent = this.#sent[n]!;
    sent.id = `019ca6b1-dc00-7000-8000-${String(n).padStart(12, '0')}`;
    return `{"ts":"${sent.ts}","id":"${sent.id}",${sent.text}`;
  }

  /** Returns whether the view is in a file, or was in a file that the operator moved away. */
  isArchived(n: number): boolean {
    const { place, wasMoved } = this.#sent[n]!;
    return place !== undefined || wasMoved === true;
  }

  /** Records that the operator cut a file short. Its views may be missing until it is restored. */
  cut(inode: Inode): void {
    const content = this.#contentOf(inode);
    for (let n = content.lines.at(-1); n !== undefined; n = content.lines.at(-1)) {
      const sent = this.#sent[n]!;
      const { inode: where, end } = sent.place ?? { end: 0 };
      if (where === inode && end <= inode.size) break;
      content.lines.pop();
      // An archive has written the view again, to another file.
      if (where !== inode) continue;
      delete sent.place;
      sent.wasMoved = true;
    }
    content.lineStart = inode.bytes.lastIndexOf(NEWLINE) + 1;
    for (const at of content.tornAt) if (at > inode.size) content.tornAt.delete(at);
    if (inode.size > content.lineStart) content.tornAt.add(inode.size);
  }

  /** Returns whether the view is in the file that has its day's name. */
  isInFile(n: number, day: string): boolean {
    const { place, ts } = this.#sent[n]!;
    return !ts.startsWith(day) || (place !== undefined && place.inode.gone === undefined);
  }

  /** Records that the view must not be stored. */
  forbid(n: number): void {
    this.#sent[n]!.isForbidden = true;
  }

  acknowledge(n: number, id: string): void {
    const sent = this.#sent[n]!;
    this.check(!sent.isAcknowledged, `view ${n} was acknowledged twice`);
    sent.isAcknowledged = true;
    const { place } = sent;
    if (place === undefined) return this.fail(`view ${n} was acknowledged, but isn't in a file`);
    this.check(sent.id === id, `view ${n} was acknowledged as ${id}, but is stored as ${sent.id}`);
    if (!this.#isDurable) return;
    const { inode, end } = place;
    this.check(end <= inode.durableBytes, `view ${n} was acknowledged before it was synced`);
    const isNamed = inode.gone !== undefined || this.#world.disk.isNameDurable(inode);
    this.check(isNamed, `view ${n} was acknowledged before its file's name was synced`);
  }

  /** Returns whether the view is in a file, as durable as promised. */
  isStored(n: number): boolean {
    const { place } = this.#sent[n]!;
    if (place === undefined || !this.#isDurable) return place !== undefined;
    return place.end <= place.inode.durableBytes;
  }

  /** @param sinceMs the end of the last fault. */
  writing(part: Part, inode: Inode, sinceMs: number): void {
    this.check(inode.kind === 'file', `${part}: wrote to ${inode.name}, a ${inode.kind}`);
    if (part !== 'views' || inode.gone === undefined) return;
    // An archive that waits for the servers looks at the file later and then seals a fragment.
    if (this.#world.isArchive && this.#contentOf(inode).tornAt.has(inode.size)) return;
    const lateMs =
      Math.round(this.#world.time.nowMs - Math.max(inode.gone.sinceMs, sinceMs)) - 1000;
    this.check(
      lateMs < (this.#world.isArchive ? 2_000 : 100),
      `views: wrote to ${inode.name} ${lateMs} ms too late after the file was moved or removed`,
    );
  }

  failed(part: Part, operation: string, on: string | number, error: unknown): void {
    this.note(`${part}: ${operation} of ${on}: ${String(error)}`);
    const isFull = /ENOSPC|EDQUOT|EFBIG/.test(String(error));
    if (part === 'views' && operation === 'write' && isFull) this.life.diskFull += 1;
  }

  /** @param attempted the bytes to write, of which `count` were written. */
  wrote(part: Part, inode: Inode, attempted: Uint8Array, count: number): void {
    if (this.#world.isArchive && inode.name.startsWith(ARCHIVE_RECORD)) return;
    if (part === 'retention' || !inode.name.startsWith(`${part}-`)) {
      return this.fail(`${part}: wrote to ${inode.name}`);
    }
    const content = this.#contentOf(inode);
    const { life } = this;
    const before = inode.size - count;
    life.written.add(inode);
    if (content.tornAt.has(before) && content.lineStart < before) {
      this.check(attempted[0] === NEWLINE, `${inode.name}: a fragment wasn't sealed`);
      if (part === 'views') life.seals += 1;
    } else if (before === content.lineStart && attempted.length !== content.restBytes) {
      this.check(attempted.at(-1) === NEWLINE, `${inode.name}: a write that isn't whole lines`);
      if (part === 'views') life.batches += 1;
    }
    content.restBytes = attempted.length - count;
    this.note(`${part}: wrote ${count} of ${attempted.length} to ${inode.name} at ${before}`);
    this.#readLines(part, inode, content, before);
    if (part === 'refused') this.#checkCap(inode, content);
  }

  /** Records the end of the process. The next process must seal its fragments. */
  processEnded(): void {
    for (const [inode, content] of this.#contents) {
      if (inode.size > content.lineStart) content.tornAt.add(inode.size);
      content.restBytes = 0;
    }
  }

  /** Records a power cut: files may be shorter or gone. */
  powerCut(): void {
    for (const [inode, content] of this.#contents) {
      const size = inode.gone?.how === 'lost' ? 0 : inode.size;
      for (let n = content.lines.at(-1); n !== undefined; n = content.lines.at(-1)) {
        const sent = this.#sent[n]!;
        const { inode: where, end } = sent.place ?? { end: 0 };
        // NULs may have replaced a line that wasn't synced.
        if (where === inode && end <= size && inode.bytes[end - 1] === NEWLINE) break;
        content.lines.pop();
        // An archive has written the view again, to another file.
        if (where !== inode) continue;
        delete sent.place;
        this.check(!sent.isAcknowledged, `view ${n} was acknowledged, but a power cut lost it`);
      }
      content.lineStart = inode.bytes.subarray(0, size).lastIndexOf(NEWLINE) + 1;
      for (const at of content.tornAt) if (at > size) content.tornAt.delete(at);
    }
    this.processEnded();
  }

  /** Cuts a file off at the end of any of its lines or empties it. */
  truncate(inode: Inode, random: Random): void {
    const content = this.#contentOf(inode);
    const ends = content.lines.map((n) => this.#sent[n]!.place?.end ?? 0);
    const size = random.pick([0, ...ends]);
    inode.truncate(size);
    content.lineStart = size;
    content.restBytes = 0;
    const gone = content.lines.splice(ends.filter((end) => end <= size && end > 0).length);
    for (const n of gone) delete this.#sent[n]!.place;
    for (const at of content.tornAt) if (at > size) content.tornAt.delete(at);
  }

  /** Records a file that the operator created. Its lines don't count as views. */
  adopt(inode: Inode): void {
    const content = this.#contentOf(inode);
    content.lineStart = inode.bytes.lastIndexOf(NEWLINE) + 1;
    if (inode.size > content.lineStart) content.tornAt.add(inode.size);
  }

  #contentOf(inode: Inode): Content {
    const known = this.#contents.get(inode);
    if (known !== undefined) return known;
    const content = { lineStart: 0, lines: [], tornAt: new Set<number>(), restBytes: 0 };
    this.#contents.set(inode, content);
    return content;
  }

  #readLines(part: FilePart, inode: Inode, content: Content, from: number): void {
    const { bytes } = inode;
    for (let at = bytes.indexOf(NEWLINE, from); at >= 0; at = bytes.indexOf(NEWLINE, at + 1)) {
      const line = bytes.toString('utf8', content.lineStart, at);
      const fault = this.#readLine(part, inode, content, line, at + 1);
      if (fault !== undefined && !content.tornAt.has(at)) {
        this.fail(`${inode.name}: ${fault}: ${JSON.stringify(line)}`);
      }
      content.lineStart = at + 1;
    }
  }

  /** Checks a line that ends at `end`. Returns why its text isn't that of a sent view, if so. */
  #readLine(
    part: FilePart,
    inode: Inode,
    content: Content,
    line: string,
    end: number,
  ): string | undefined {
    const [, ts, id, rest] = HEAD.exec(line) ?? [];
    const n = Number(/"n":(\d+)/.exec(rest ?? '')?.[1] ?? -1);
    const sent = this.#sent[n];
    if (ts === undefined || id === undefined || sent === undefined) return 'no line that was sent';
    const isWhole = part === 'views' ? rest === sent.text : rest!.endsWith(sent.text);
    if (sent.part !== part || !isWhole) return 'not the line that was sent';
    // An archive that reads a stream again doesn't look for views in files that were moved away.
    const isAgain = this.#world.isArchive && sent.place?.inode.gone !== undefined;
    if (isAgain) sent.wasMoved = true;
    this.check(sent.place === undefined || isAgain, `view ${n} was written twice`);
    this.check(!this.#ids.has(id) || sent.id === id, `the id of view ${n} was used before`);
    this.check(ts === sent.ts, `view ${n} was sent at ${sent.ts}, but its ts is ${ts}`);
    this.check(inode.name === `${part}-${ts.slice(0, 10)}.ndjson`, `view ${n} is in ${inode.name}`);
    this.check(!sent.isForbidden, `view ${n} was stored, although the disk is nearly full`);
    this.#ids.add(id);
    // A line that lacks only its newline after a crash belongs to the last process.
    if (!content.tornAt.has(end - 1)) this.#countLine(part, n, id, end - content.lineStart);
    sent.id = id;
    sent.place = { inode, start: content.lineStart, end };
    content.lines.push(n);
    return undefined;
  }

  #countLine(part: FilePart, n: number, id: string, bytes: number): void {
    const { lines, last } = this.life;
    const isAscending = n > last[part].n && id > last[part].id;
    // A stream that lost messages may get them again in another order.
    this.check(isAscending || this.#world.isArchive, `view ${n} came after ${last[part].n}`);
    last[part] = { n, id };
    lines[part] += 1;
    this.life.bytes[part] += bytes;
  }

  #checkCap(inode: Inode, { tornAt, lines }: Content): void {
    const { refusedBytesMax } = this.#world.settings;
    // The newline that seals a fragment isn't counted.
    const isWithin = inode.size <= refusedBytesMax + tornAt.size;
    this.check(isWithin, `${inode.name} has ${inode.size} bytes, above its cap`);
    const unlisted = lines.map((n) => this.#sent[n]!).filter(({ isListed }) => !isListed);
    const unlistedBytes = unlisted.reduce((sum, { place }) => sum + place!.end - place!.start, 0);
    const isAtMostHalf = unlistedBytes <= refusedBytesMax / 2;
    this.check(isAtMostHalf, `${inode.name}: unlisted ids fill more than half of its cap`);
  }
}
