import { EXIT, Fatal, reasonOf } from '../base/exit.ts';
import { MiB, plural } from '../base/format.ts';
import { isJson } from '../base/json.ts';
import { NEWLINE } from '../base/text.ts';
import { sleep } from '../base/time.ts';
import { type Blocked, DayWriter, NOTHING } from '../disk/day-writer.ts';
import { replaceFile } from '../disk/durable.ts';
import { FreeSpace } from '../disk/free-space.ts';
import { archiveRecordOf, fileNameOf } from '../disk/names.ts';
import { type DirectoryOptions, type FileOps, ifPresent } from '../disk/ops.ts';
import { readHead } from '../view/line.ts';
import type { ArchiveLine } from './archive-batch.ts';
import { type ArchiveRecord, readRecord, recordText } from './archive-record.ts';

export interface ArchiveFilesOptions extends DirectoryOptions {
  /** The archive waits below this much free disk space; 0: until the disk is full. */
  readonly minFreeBytes: number;
  readonly stop: AbortSignal;
  /** The longest wait between two attempts; the first is a tenth of it, and they double. */
  readonly waitMsMax: number;
  /** The most ids in memory, of lines that the record does not cover. */
  readonly idsMax?: number;
}

/** A day with a file that this process has written to. */
interface Day {
  /** The recorded size when the file was opened; `undefined` once the archive has caught up. */
  start: number | undefined;
  /** The ids of later lines, as long as their messages have not come. */
  readonly ids: Set<string>;
  size: number;
}

const LOOK_MS = 1_000;
/** About 300 MiB. */
const IDS_MAX = 3_000_000;
const LINE_END = Uint8Array.of(NEWLINE);

/**
 * The view files, one of which is open, and the record of what is in them. Every call waits while
 * the disk is full; it throws if the process is stopped meanwhile. Calls must not overlap.
 */
export class ArchiveFiles {
  readonly #options: ArchiveFilesOptions;
  readonly writer: DayWriter;
  readonly space: FreeSpace;
  readonly #days = new Map<string, Day>();
  #openDay = '';
  #lookedMs = 0;
  /** `undefined` if nothing has been archived. */
  record: ArchiveRecord | undefined;
  /** Why it waits now: a full disk, or a file that cannot be opened. */
  blocked: Blocked | undefined;
  /** Counts of the views written since the start. */
  lines = 0;
  bytes = 0;

  constructor(options: ArchiveFilesOptions) {
    this.#options = options;
    this.writer = new DayWriter({ ...options, kind: 'views', durability: 'disk' });
    this.space = new FreeSpace({ ...options, effect: 'archiving waits' });
  }

  /** @throws {Fatal} exit 65 or 74 if the record cannot be read. */
  async start(): Promise<void> {
    this.record = await readRecord(this.#options.files, this.#options.dir);
    await this.space.poll();
  }

  /** Records that nothing after this message is archived, and trusts no recorded size. */
  restart(stream: string, created: string, sequence: number): Promise<void> {
    this.#days.clear();
    return this.#save({ stream, created, sequence, files: {} });
  }

  /**
   * Appends the lines that the file does not have yet; they are durable when it resolves.
   * @throws {Fatal} exit 65 if the file has too many lines that the record does not cover.
   */
  async append(day: string, lines: readonly ArchiveLine[]): Promise<void> {
    await this.#repeat(this.#options.dir, () => this.#enoughFree());
    let known: Day | undefined;
    while (known === undefined) {
      await this.#write(day, NOTHING);
      const before = this.#days.get(day);
      // A different size shows that this is another file, or one that was begun anew.
      known = before?.size === this.writer.fileBytes ? before : await this.#begin(day);
    }
    const fresh = lines.filter(({ id }) => !known.ids.delete(id));
    const bytes = Buffer.concat(fresh.flatMap(({ data }) => [data, LINE_END]));
    await this.#write(day, bytes);
    known.size = this.writer.fileBytes;
    this.lines += fresh.length;
    this.bytes += bytes.length;
  }

  /**
   * Called when no message that is still to come should be in the files.
   * @param isCertain false: some may be, so this process continues to look for them.
   */
  caughtUp(isCertain: boolean): void {
    for (const day of this.#days.values()) {
      day.start = undefined;
      if (isCertain) day.ids.clear();
    }
  }

  /**
   * Records that every message up to this one is in the files.
   * @param id the id of its view, if it is one.
   */
  advance(sequence: number, id: string | undefined): Promise<void> {
    const { stream, created, files } = this.record!;
    const sizes = { ...files };
    for (const [day, { start, ids, size }] of this.#days) {
      // A file with lines from messages that may still come keeps its former size: if the present
      // size were recorded, the next process would write these views again.
      sizes[fileNameOf('views', day)] = ids.size === 0 ? size : (start ?? size);
    }
    const view = id === undefined ? {} : { id };
    return this.#save({ stream, created, sequence, ...view, files: sizes });
  }

  /** Checks free space, and opens the file again if another program has moved or emptied it. */
  async look(): Promise<void> {
    this.#lookedMs = performance.now();
    await this.space.poll();
    // If the file cannot be opened, the next write reports it.
    await this.writer.look(this.#openDay);
  }

  /**
   * Collects the ids in a file, now open and sealed, that the record does not cover.
   * @returns `undefined` if another program has just moved the file.
   */
  async #begin(day: string): Promise<Day | undefined> {
    const name = fileNameOf('views', day);
    const size = this.writer.fileBytes;
    const { [name]: recorded = 0, ...others } = this.record!.files;
    const isShorter = recorded > size;
    const start = isShorter ? 0 : recorded;
    let ids: Set<string> | undefined;
    await this.#repeat(name, async () => {
      ids = await ifPresent(this.#collect(name, start, size));
    });
    if (ids === undefined) {
      await this.look();
      return undefined;
    }
    // The record has the size of another file, and this one could grow to that size before a crash.
    if (isShorter) await this.#save({ ...this.record!, files: others });
    const begun = { start, ids, size };
    this.#days.set(day, begun);
    return begun;
  }

  async #collect(name: string, start: number, end: number): Promise<Set<string>> {
    const { files, dir, idsMax = IDS_MAX } = this.#options;
    const ids = new Set<string>();
    let count = [...this.#days.values()].reduce((sum, day) => sum + day.ids.size, 0);
    for await (const line of linesOf(files, `${dir}/${name}`, start, end)) {
      const id = readHead(line)?.id;
      // A crash leaves half a line, which has an id too.
      if (id === undefined || !isJson(line)) continue;
      // A copy, because a part of a line would keep all of it in memory.
      ids.add(Buffer.from(id).toString('latin1'));
      if (++count > idsMax) throw tooMany(name, idsMax);
    }
    return ids;
  }

  /** Opens the day's file, ends a torn last line, and writes whole lines. */
  async #write(day: string, lines: Uint8Array): Promise<void> {
    this.#openDay = day;
    let left = lines;
    await this.#repeat(fileNameOf('views', day), async () => {
      // There may have been a wait for space, or for the stream. Later, a part of the lines may be
      // written.
      const isLookDue = lines.length === 0 && performance.now() - this.#lookedMs >= LOOK_MS;
      if (isLookDue) await this.look();
      const { blocked: unopened } = await this.writer.write(day, NOTHING);
      if (unopened !== undefined || left.length === 0) return unopened;
      const { lineBytes, blocked } = await this.writer.write(day, left);
      // The writer itself completes the line that it could not finish.
      left = left.subarray(left.indexOf(NEWLINE, lineBytes) + 1);
      return blocked;
    });
  }

  async #save(record: ArchiveRecord): Promise<void> {
    const { dir, files } = this.#options;
    const path = archiveRecordOf(dir);
    // If the record cannot be replaced, the old one is still there, and still true.
    await this.#repeat(path, () => replaceFile(files, path, recordText(record)));
    this.record = record;
  }

  /**
   * Repeats what a full disk, or a file that cannot be opened, prevents until it succeeds.
   * @param path the file that is read or written, for the log.
   * @param attempt may resolve to what blocks it, or throw; a Fatal is not retried.
   * @throws if the attempt is blocked and the process is stopped.
   */
  async #repeat(path: string, attempt: () => Promise<Blocked | void>): Promise<void> {
    const { log, waitMsMax: most, stop } = this.#options;
    for (let waitMs = most / 10; ; waitMs = Math.min(2 * waitMs, most)) {
      const before = this.blocked;
      const blocked = await attempt().catch((error: unknown) => blockedBy(error, path));
      this.blocked = blocked ?? undefined;
      if (this.blocked === undefined) {
        if (before !== undefined) log.info('The archive writes again');
        return;
      }
      const { message } = this.blocked;
      // Low space has been logged.
      const isNew = message !== '' && message !== before?.message;
      if (isNew) log.error(`${message}; retrying`);
      stop.throwIfAborted();
      await sleep(waitMs, stop);
    }
  }

  async #enoughFree(): Promise<Blocked | undefined> {
    if (this.space.isLow) await this.look();
    return this.space.isLow ? { reason: 'too little free disk space', message: '' } : undefined;
  }
}

/** @throws {Fatal} the error, if it must end the process. */
function blockedBy(error: unknown, path: string): Blocked {
  if (error instanceof Fatal) throw error;
  const message = `Cannot read or write "${path}": ${reasonOf(error)}`;
  return { reason: message, message };
}

function tooMany(name: string, idsMax: number): Fatal {
  return new Fatal(
    EXIT.badData,
    `"${name}" and other files have more than ${plural(idsMax, 'line')} that "archive.json" does ` +
      'not cover; move away the view files of days that the stream still has: the archive writes ' +
      'them again',
  );
}

/** Yields the lines from byte `start` to byte `end`, with a character for each byte. */
async function* linesOf(files: FileOps, path: string, start: number, end: number) {
  if (start === end) return;
  const fd = await files.open(path, 'r');
  try {
    let rest = '';
    for (let at = start; at < end;) {
      const chunk = Buffer.alloc(Math.min(MiB, end - at));
      const count = await files.read(fd, chunk, at);
      // Another program has cut the file short.
      if (count === 0) return;
      at += count;
      const lines = (rest + chunk.toString('latin1', 0, count)).split('\n');
      rest = lines.pop()!;
      yield* lines;
    }
  } finally {
    await files.close(fd).catch(() => {});
  }
}
