import type { ArchiveRecord } from '../../src/archive/archive-record.ts';
import { MINUTE_MS } from '../../src/base/time.ts';
import { ARCHIVE_RECORD, archiveRecordOf } from '../../src/disk/names.ts';
import { SimulatedStream } from '../support/stream.ts';
import { ArchiveProcess } from './archive-process.ts';
import { DATA, type Inode } from './disk.ts';
import { WEATHERS } from './syscalls.ts';
import { type Event, World } from './world.ts';

/** A read of a stream without new messages ends after this time. */
const IDLE_MS = 1_000;
const NUMBER = /"n":(\d+)/;

/** A stream on servers that may lose messages, and archives of it in one data directory. */
export class ArchiveWorld extends World<ArchiveProcess> {
  readonly stream = new SimulatedStream();
  #changedMs = 0;
  publishedMs = 0;
  /** True: the servers don't answer. */
  #isDown = false;
  /** True: a server that is behind may leave out the message next to removed messages. */
  #omitsNext = false;
  /** True: the servers have lost messages, and the archive may not have noticed yet. */
  hasLost = false;
  /** The file that the last process was to restore. */
  restoring: string | undefined;
  /** Files that were cut short and not restored. */
  readonly cutFiles = new Map<string, Inode>();
  /** An earlier record that still fits the stream, and the files of that time. */
  #backup: { readonly bytes: Buffer; readonly files: readonly Inode[] } | undefined;

  constructor(seed: number) {
    super(seed, true);
    this.stream.omits = (isLast) => {
      const omits = this.#omitsNext || this.random.chance(isLast ? 0.2 : 0.05);
      this.#omitsNext = false;
      if (!omits || this.process.syscalls.weather === WEATHERS.calm) return false;
      this.#touch();
      return true;
    };
    this.stream.answering = async (isIdle) => {
      const ms = isIdle ? IDLE_MS : this.random.between(0.1, 5);
      await new Promise((resolve) => setTimeout(resolve, ms));
      if (this.#isDown) throw new Error('no quorum');
    };
  }

  /** When the stream last changed; infinite while part of it can't be read. */
  get quietSinceMs(): number {
    return this.#isDown || this.stream.hidden.size > 0 ? Infinity : this.#changedMs;
  }

  #touch(ms = this.time.nowMs): void {
    this.#changedMs = Math.max(this.#changedMs, ms);
  }

  protected newProcess(isAtPeace: boolean): ArchiveProcess {
    const change = this.random.next();
    if (change < 0.2) this.#changeRecord();
    else if (change < 0.36) this.#cutFile();
    // A new process asks the leader as soon as it has read everything.
    this.#changedMs = this.time.nowMs;
    // A process that was killed before it logged `Restored` may have recorded the day as restored.
    const { restoring = '' } = this;
    if (this.record?.shortened.includes(restoring) === false) this.cutFiles.delete(restoring);
    const [cut] = this.cutFiles.keys();
    this.restoring = isAtPeace || this.random.chance(0.5) ? undefined : cut;
    return new ArchiveProcess(this, this.restoring?.slice(6, 16));
  }

  protected override events(): readonly Event[] {
    const { stream } = this;
    return [
      ...super.events(),
      [4, 'kill -9 at a file operation', () => this.#killAtOperation()],
      [2, 'a file is removed before many views arrive', () => this.#rotate()],
      [4, "the servers don't answer", () => this.#setDown(true)],
      [4, 'the servers answer', () => this.#setDown(false)],
      [2, 'the connection is lost', () => this.#changeStream(() => stream.disconnect())],
      [6, 'messages expire', () => this.#expire()],
      [2, 'messages are removed', () => this.#removeSome()],
      [4, 'a deposed leader answers', () => this.#depose()],
      [4, 'the deposed leader steps down', () => this.#stepDown()],
      [3, 'views are published twice', () => this.#publishAgain()],
      [4, 'the servers lose messages', () => this.#lose()],
      [1, 'the stream is created again', () => this.#recreate()],
    ];
  }

  protected sendFew(): void {
    this.#publish(3);
    // Otherwise the stream would grow for months and couldn't be read again in seconds.
    if (this.isQuietSite && this.random.chance(0.3)) this.#expire();
  }

  protected override clear(spaceBytes: number): void {
    this.#setDown(false);
    this.#stepDown();
    super.clear(spaceBytes);
  }

  protected async burst(): Promise<void> {
    const { random } = this;
    this.stream.batch = random.pick([2, 7, 50]);
    this.#publish(1 + random.below(12));
    await this.time.advance(random.pick([0, 1, 10, 50, 500, 5_000]));
  }

  /**
   * Checks that every view in the stream is in a file, or was in a file that the operator moved
   * away.
   */
  checkArchived(): void {
    for (const line of this.stream.lines()) {
      const n = Number(NUMBER.exec(line)![1]);
      this.ledger.check(this.ledger.isArchived(n), `view ${n} is in the stream, but in no file`);
    }
    this.hasLost = false;
    const recordFile = this.#recordFile;
    if (recordFile === undefined) return;
    const files = this.process.removals.filesOf('views');
    // The record still names files that the operator has removed, until new ones replace them.
    const sizes = Object.entries(this.record!.files);
    const isThere = ([name, size]: [string, number]): boolean =>
      files.some((file) => file.name === name && file.size >= size);
    if (!sizes.every(isThere)) return;
    this.#backup ??= { bytes: Buffer.from(recordFile.bytes), files };
  }

  /** Checks that the file of a day has every view of that day in the stream. */
  checkRestored(day: string): void {
    // The archive asks later for messages that a deposed leader lacked.
    if (this.quietSinceMs > this.time.nowMs || this.hasLost) return;
    // The operator may have moved the file while it was being written.
    if (this.time.nowMs - this.ledger.operatorMs < 1_000) return;
    const position = this.record?.sequence ?? 0;
    for (const line of this.stream.lines(position)) {
      const n = Number(NUMBER.exec(line)![1]);
      this.ledger.check(this.ledger.isInFile(n, day), `view ${n} of ${day} isn't restored`);
    }
  }

  async #killAtOperation(operations = 60): Promise<void> {
    this.process.syscalls.operationsLeft = this.random.below(operations);
    await this.time.advance(3_000);
  }

  async #rotate(): Promise<void> {
    // The archive may have another day's file open.
    if (this.random.chance(0.5)) await this.mistime();
    this.operator.take(this.operator.todaysFile(), 'removed');
    await this.time.advance(1_500);
    this.stream.batch = 50;
    this.#publish(50);
    await this.#killAtOperation(20);
  }

  #publish(count: number): void {
    const lines = Array.from({ length: count }, () => this.#newLine());
    this.publishedMs = this.time.nowMs;
    this.#changeStream(() => this.stream.publish(lines));
  }

  #newLine(): string {
    const { ledger, random } = this;
    const filler = 'ü'.repeat(random.chance(0.05) ? random.below(1_500) : random.below(30));
    return ledger.lineOf(ledger.send('views', `"p":"1","n":${ledger.sent},"pn":"${filler}"}`));
  }

  #setDown(isDown: boolean): void {
    this.#isDown = isDown;
    this.#touch();
  }

  #changeStream(change: () => void): void {
    change();
    this.#touch();
    this.ledger.note(`the stream ends at ${this.stream.last}`);
  }

  /**
   * Removes the oldest messages. Without the message at its position, an archive couldn't know that
   * others were lost.
   */
  #expire(): void {
    const { stream, random } = this;
    if (this.hasLost) return;
    this.#backup = undefined;
    this.#omitsNext = true;
    const count = random.below(stream.last - stream.first + 2);
    this.#changeStream(() => stream.expire(stream.first + count));
  }

  /** Removes a message, or every second one of several. */
  #removeSome(): void {
    const { stream, random } = this;
    if (this.hasLost) return;
    const from = stream.first + random.below(20);
    const to = Math.min(stream.last, from + random.pick([0, 0, 8]));
    this.#changeStream(() => {
      for (let sequence = from; sequence <= to; sequence += 2) stream.remove(sequence);
    });
  }

  /** Makes the leader a server that was paused and so lacks some messages in the middle. */
  #depose(): void {
    const { stream, random, record } = this;
    if (this.hasLost || stream.last - stream.first < 3) return;
    const position = random.chance(0.8) ? (record?.sequence ?? 0) : stream.first;
    const from = Math.max(stream.first, position + 1) + random.below(3);
    for (let at = from; at < Math.min(stream.last, from + 1 + random.below(9)); at++) {
      if (at !== record?.sequence) stream.hidden.add(at);
    }
    this.ledger.note(`${stream.hidden.size} messages are hidden`);
  }

  #stepDown(): void {
    const { stream, time } = this;
    if (stream.hidden.size === 0) return;
    stream.hidden.clear();
    // The archive asks for the hidden messages within a minute.
    this.#touch(time.nowMs + MINUTE_MS);
  }

  #publishAgain(): void {
    const { stream, random } = this;
    if (this.hasLost) return;
    const lines = stream.lines(stream.last).slice(-20);
    this.#changeStream(() => stream.publish(lines.filter(() => random.chance(0.2))));
  }

  #cutFile(): void {
    const { disk, random, ledger } = this;
    const names = Object.keys(this.record?.files ?? {});
    const name = names.length === 0 ? '' : random.pick(names);
    const inode = disk.find(`${DATA}/${name}`);
    const size = Math.min(inode?.size ?? 0, this.record?.files[name] ?? 0);
    // While a stream that doesn't match is read again, no size is recorded. A power cut could take
    // back a record whose name isn't synced.
    const isSynced = size > 0 && disk.isNameDurable(this.#recordFile!, ARCHIVE_RECORD);
    if (inode?.kind !== 'file' || !isSynced) return;
    inode.truncate(random.below(size));
    ledger.cut(inode);
    this.#backup = undefined;
    this.cutFiles.set(name, inode);
    ledger.note(`- ${name} is cut to ${inode.size} bytes`);
  }

  /** Loses the last messages. Some may be published again, and others may take their place. */
  #lose(): void {
    const { stream, random, ledger } = this;
    const last = stream.last - random.below(25);
    const { lastView } = this.record ?? {};
    // An archive can't notice the loss without a view that it has read.
    if (last < stream.first || lastView === undefined || !stream.has(lastView.sequence)) return;
    if (!stream.has(stream.last)) return;
    this.hasLost = true;
    this.#backup = undefined;
    this.#changeStream(() => {
      const lost = stream.lose(last);
      const again = lost.filter(() => random.chance(0.1));
      // An archive recognises its position by the id there, so no view gets its old sequence again.
      const least = again.length === 0 ? 0 : lost.length;
      const others = Array.from({ length: least + random.below(20) }, () => this.#newLine());
      stream.publish([...others, ...again]);
      ledger.note(`${lost.length} messages are lost; ${again.length} of them are published again`);
    });
  }

  #recreate(): void {
    this.#backup = undefined;
    this.#changeStream(() => this.stream.recreate());
  }

  /** The archive's record; `undefined` if there is none yet, or the operator has removed it. */
  get record(): ArchiveRecord | undefined {
    const file = this.#recordFile;
    return file && (JSON.parse(file.bytes.toString()) as ArchiveRecord);
  }

  get #recordFile(): Inode | undefined {
    return this.disk.find(archiveRecordOf(DATA));
  }

  /** Lets the operator restore an earlier record or remove the record. */
  #changeRecord(): void {
    const record = this.#recordFile;
    if (record === undefined) return;
    // Only the record shows how long the files were.
    this.cutFiles.clear();
    if (this.random.chance(0.5)) this.operator.take(ARCHIVE_RECORD, 'removed');
    else if (this.#backup?.files.every(({ gone }) => gone === undefined) === true) {
      record.truncate(0);
      record.append(this.#backup.bytes);
      record.makeDurable();
      this.ledger.note('- the record is put back');
    }
  }
}
