import { Archive } from '../../src/archive/archive.ts';
import { Fatal } from '../../src/base/exit.ts';
import type { ArchiveWorld } from './archive-world.ts';
import { DATA } from './disk.ts';
import { SimulatedProcess } from './simulated-process.ts';
import { WEATHERS } from './syscalls.ts';

const STOP_MS = 10_000;
/**
 * The time to check a stream that doesn't match, to wait between attempts, and to read all
 * batches.
 */
const CATCH_UP_MS = 7_000;

/** One process that archives a stream. */
export class ArchiveProcess extends SimulatedProcess {
  declare protected readonly world: ArchiveWorld;
  readonly #stopping = new AbortController();
  #archive!: Archive;
  /** A day that the operator restores. */
  readonly #restore: string | undefined;
  #isRestored = false;

  constructor(world: ArchiveWorld, restore?: string) {
    super(world);
    this.#restore = restore;
  }

  protected async run(): Promise<boolean> {
    const { time, ledger, settings, stream } = this.world;
    const { syscalls } = this;
    const removing = syscalls.files('retention');
    this.#archive = new Archive({
      source: stream,
      dir: DATA,
      files: {
        ...syscalls.files('views'),
        list: (dir) => removing.list(dir),
        unlink: (path) => removing.unlink(path),
      },
      minFreeBytes: settings.minFreeBytes,
      keepDays: settings.keepDays.views,
      isLocked: () => true,
      once: this.#restore !== undefined,
      restore: this.#restore,
      now: time.wallMs,
      log: { ...this.log, info: (message) => this.#noteInfo(message) },
      waitMsMax: 1_000,
      stop: this.#stopping.signal,
    });
    this.#archive.run().then(
      () => {
        this.outcome = 'stopped';
        const isAsked = this.#stopping.signal.aborted || this.#restore !== undefined;
        ledger.check(isAsked, 'it stopped without a signal');
        if (this.#isRestored && !this.syscalls.isDead) this.world.checkRestored(this.#restore!);
      },
      (error: unknown) => this.#failed(error),
    );
    return true;
  }

  #noteInfo(message: string): void {
    this.log.info(message);
    if (!message.startsWith('Restored ')) return;
    this.#isRestored = true;
    // The day counts as restored from here on, even if the process is killed before it ends.
    this.world.cutFiles.delete(`views-${this.#restore!}.ndjson`);
  }

  check(): void {
    if (this.hasEnded) return;
    const { ledger, stream, disk, publishedMs } = this.world;
    const { lines, sequence, path, shortened } = this.#archive.state();
    ledger.check(lines <= ledger.life.lines.views, `it says that it has written ${lines} lines`);
    if (!this.#isCalm()) return;
    const where = `the archive is at ${sequence}, but the stream ends at ${stream.last}`;
    ledger.check(sequence === stream.last, where);
    for (const [name, inode] of this.world.cutFiles) {
      if (disk.find(`${DATA}/${name}`) !== inode) continue;
      ledger.check(shortened.includes(name), `${name} was cut short, but isn't reported`);
    }
    // The archive examines files after each new message, and otherwise each minute.
    const isExamined = publishedMs >= Math.max(ledger.operatorMs, this.removals.removedMs);
    for (const name of isExamined ? shortened : []) {
      const isThere = disk.find(`${DATA}/${name}`) !== undefined;
      ledger.check(isThere, `${name} is gone, but is still reported as cut short`);
    }
    // If messages were lost, the record leaves out lines whose messages the archive still expects.
    const { hasLost } = this.world;
    this.world.checkArchived();
    const written = disk.find(path ?? '');
    if (written === undefined || !ledger.life.written.has(written)) return;
    const { record } = this.world;
    const recorded = record?.files[written.name];
    const isRecorded = recorded === written.size || !record || hasLost || !stream.has(stream.last);
    ledger.check(isRecorded, `${path} has ${written.size} bytes, but ${recorded} are recorded`);
  }

  async stop(): Promise<void> {
    const { time, ledger } = this.world;
    const isCalm = this.#isCalm();
    this.#stopping.abort();
    await time.runUntil(() => this.outcome !== undefined, STOP_MS);
    ledger.note(this.outcome ?? "didn't stop");
    // The next process repeats the work that isn't recorded.
    const hasFailed = this.syscalls.hasFailed && this.syscalls.failedName.startsWith('views-');
    const isTruth = this.outcome !== 'stopped' || !hasFailed;
    ledger.check(isTruth, 'a write failed, and it stopped as if nothing had happened');
    ledger.check(!isCalm || this.outcome === 'stopped', `${this.outcome} at SIGTERM`);
    if (isCalm) await this.checkClosed();
    this.kill();
  }

  #failed(error: unknown): void {
    const { ledger } = this.world;
    if (this.syscalls.isDead) return;
    this.outcome = String(error);
    ledger.note(`fatal: ${this.outcome}`);
    const isCompressed = this.#restore !== undefined && this.outcome.includes('.gz" is compressed');
    const isOfDisk = error instanceof Fatal && error.exitCode === 74 && this.syscalls.errors > 0;
    const isMeant = isCompressed || isOfDisk;
    ledger.check(isMeant, `it ended for no reason: ${this.outcome}`);
  }

  /** Returns whether nothing has been wrong for a while, so that everything must be archived. */
  #isCalm(): boolean {
    const { time, disk, settings, quietSinceMs } = this.world;
    if (!this.isQuiet(CATCH_UP_MS) || time.nowMs - quietSinceMs <= CATCH_UP_MS) return false;
    if (this.syscalls.weather !== WEATHERS.calm) return false;
    if (disk.freeBytes < 1.125 * settings.minFreeBytes) return false;
    const isFile = (name: string): boolean => disk.find(`${DATA}/${name}`)!.kind === 'file';
    return disk.names().every(isFile);
  }
}
