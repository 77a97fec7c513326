import type { Fatal } from '../../src/base/exit.ts';
import { dayOf } from '../../src/base/time.ts';
import { startRetention } from '../../src/disk/retention.ts';
import { RefusedFiles } from '../../src/store/refused/refused-files.ts';
import { LocalViewStore } from '../../src/store/files/view-store.ts';
import { DATA, type Inode } from './disk.ts';
import { SimulatedProcess } from './simulated-process.ts';
import { WEATHERS } from './syscalls.ts';

/** A view may wait 10 s for the current step of the store, and 10 s for the step that writes it. */
const STUCK_MS = 9_999;
const ANSWER_MS_MAX = 21_500;
/** How long after the last fault or change everything must work again. */
const CALM_MS = 5_000;
const CLOSE_MS = 5_000;
const LISTED = '1';
const UNLISTED = '2';

/** One process that stores views. */
export class Process extends SimulatedProcess {
  #store!: LocalViewStore;
  #refused!: RefusedFiles;
  /** The unanswered views, and when each was sent. */
  readonly #pending = new Map<number, number>();
  #keeps = 0;
  #lastKeepMs = 0;
  #isClosing = false;
  /** When the free space fell below --min-free. */
  #lowSinceMs = Infinity;

  protected async run(): Promise<boolean> {
    const { time, ledger, settings } = this.world;
    const { syscalls } = this;
    const { durability, minFreeBytes, refusedBytesMax } = settings;
    const common = { dir: DATA, minFreeBytes, now: time.wallMs, log: this.log };
    const onFatal = (fatal: Fatal): void => this.#onFatal(fatal);
    const files = syscalls.files('views');
    this.#store = new LocalViewStore({ ...common, durability, onFatal, files });
    const outcome = await time.outcomeOf(this.#store.start(), 120_000);
    ledger.note(`start: ${outcome ?? 'the disk hangs'}`);
    if (outcome !== 'done') {
      ledger.check(outcome === undefined || syscalls.errors > 0, `didn't start: ${outcome}`);
      return false;
    }
    const newest = this.removals.filesOf('views').at(-1);
    const isWhole = newest === undefined || newest.size === 0 || newest.bytes.at(-1) === 0x0a;
    const isBlocked = this.#store.state().unavailable !== undefined;
    ledger.check(isWhole || isBlocked, `${newest?.name} ends in a fragment after the start`);
    this.#refused = new RefusedFiles({
      ...common,
      maxBytesPerDay: refusedBytesMax,
      freeBytes: () => this.#store.state().freeBytes,
      isListed: (id) => id === LISTED,
      files: syscalls.files('refused'),
    });
    startRetention({
      ...common,
      keepDays: settings.keepDays,
      isInUse: (kind, day) => (kind === 'views' ? this.#store : this.#refused).isInUse(day),
      isLocked: () => true,
      files: syscalls.files('retention'),
    });
    return true;
  }

  /** The view file that is open, even if its path now names another file. */
  get viewFile(): Inode | undefined {
    return this.syscalls.openFiles.find(({ name }) => name.startsWith('views-'));
  }

  /** Returns whether every view has its answer, so that nothing is being written. */
  get isIdle(): boolean {
    return this.#pending.size === 0;
  }

  append(filler: number): void {
    const { ledger, time, disk, settings } = this.world;
    const text = `"p":"1","n":${ledger.sent},"pn":"${'ü'.repeat(filler)}"}`;
    const n = ledger.send('views', text);
    const isRefused = this.#store.state().unavailable !== undefined;
    const isCalm = this.#isCalm();
    const isLow = isCalm && time.nowMs - this.#lowSinceMs > CALM_MS;
    const isScarce = disk.freeBytes < 1.125 * settings.minFreeBytes;
    ledger.check(!isRefused || !isCalm || isScarce, `view ${n} is refused without a cause`);
    this.#pending.set(n, time.nowMs);
    void this.#store.append(Buffer.from(`{${text}`)).then((appended) => {
      if (this.syscalls.isDead) return;
      const waitedMs = time.nowMs - this.#pending.get(n)!;
      this.#checkWait(n);
      this.#pending.delete(n);
      if ('id' in appended) {
        ledger.check(!this.syscalls.hasFailed, `view ${n} was acknowledged after a failure`);
        ledger.check(!isLow, `view ${n} was accepted below --min-free`);
        ledger.acknowledge(n, appended.id);
      } else {
        const mayBeStored = waitedMs > STUCK_MS || this.#isClosing || this.syscalls.isFailing;
        ledger.note(`view ${n} was refused: ${appended.unavailable}`);
        ledger.check(mayBeStored || !ledger.isStored(n), `view ${n} was refused, but is stored`);
      }
    });
  }

  keep(filler: number): void {
    const { ledger, random, time, settings } = this.world;
    const isListed = random.chance(0.5);
    const text = `{"n":${ledger.sent},"pn":"${'x'.repeat(filler)}"}`;
    const n = ledger.send('refused', `"view":${text}}`, isListed);
    if ((this.#store.state().freeBytes ?? Infinity) < 2 * settings.minFreeBytes) ledger.forbid(n);
    this.#keeps += 1;
    this.#lastKeepMs = time.nowMs;
    this.#refused.keep({ code: 'invalid-view', project: isListed ? LISTED : UNLISTED, text });
  }

  check(): void {
    if (this.syscalls.isDead) return;
    const { time, ledger, disk, settings } = this.world;
    const { life } = ledger;
    if (disk.freeBytes >= settings.minFreeBytes) this.#lowSinceMs = Infinity;
    else this.#lowSinceMs = Math.min(this.#lowSinceMs, time.nowMs);
    for (const n of this.#pending.keys()) this.#checkWait(n);
    if (this.outcome !== undefined) return;
    const failedMs = this.syscalls.hasFailed ? time.nowMs - this.syscalls.troubleMs : 0;
    ledger.check(failedMs < 1000, 'a write or a sync failed, but viewlog continued');
    const state = this.#store.state();
    const verify = (field: keyof typeof state, holds: boolean): void =>
      ledger.check(holds, `${field} is ${state[field]}`);
    verify('queuedLines', state.queuedLines === this.#pending.size);
    verify('lines', state.lines <= life.lines.views);
    if (!this.#isCalm() || this.#pending.size > 0) return;
    // The rest of a line that a full disk cut off is written later, without being counted.
    verify('lines', state.lines >= life.lines.views - life.diskFull);
    verify('bytes', state.bytes === life.bytes.views || state.lines < life.lines.views);
    verify('batches', state.batches >= life.batches || life.diskFull > 0);
    verify('sealedFragments', state.sealedFragments === life.seals);
    verify('fileBytes', state.fileBytes === (state.path ? disk.find(state.path)?.size : 0));
    if (time.nowMs - this.#lastKeepMs < CALM_MS) return;
    const { storedLines, storedBytes, droppedLines } = this.#refused.state();
    ledger.check(storedLines + droppedLines === this.#keeps, `droppedLines is ${droppedLines}`);
    ledger.check(storedLines <= life.lines.refused, `storedLines is ${storedLines}`);
    ledger.check(storedBytes <= life.bytes.refused, `storedBytes is ${storedBytes}`);
  }

  #checkWait(n: number): void {
    const { time, ledger } = this.world;
    const waitedMs = time.nowMs - Math.max(this.#pending.get(n)!, time.resumedMs);
    ledger.check(waitedMs < ANSWER_MS_MAX, `view ${n} got no answer for ${waitedMs} ms`);
  }

  async stop(): Promise<void> {
    const { time, ledger } = this.world;
    const isCalm = this.#isCalm() && this.syscalls.weather === WEATHERS.calm;
    this.#isClosing = true;
    void this.#refused.close(CLOSE_MS);
    const outcome = await time.outcomeOf(this.#store.close(CLOSE_MS), CLOSE_MS + 200);
    ledger.note(`close: ${outcome}`);
    ledger.check(outcome !== undefined, "close() didn't end in time");
    const isTruth = outcome === 'done' ? !this.syscalls.hasFailed : /^74: .*"\/data/.test(outcome!);
    ledger.check(isTruth, `after a failure during the stop, close() ended with: ${outcome}`);
    ledger.check(this.#pending.size === 0, 'a view has no answer after close()');
    ledger.check(!isCalm || outcome === 'done', `close() failed: ${outcome}`);
    if (outcome === 'done' && !this.syscalls.isFailing) await this.#checkStopped(isCalm);
    this.kill();
  }

  async #checkStopped(isCalm: boolean): Promise<void> {
    const { ledger } = this.world;
    if (isCalm) await this.checkClosed();
    for (const inode of ledger.life.written) {
      if (!inode.name.startsWith('views-')) continue;
      const isEnded = inode.size === 0 || inode.bytes.at(-1) === 0x0a;
      const isWhole = inode.durableBytes === inode.size && isEnded;
      ledger.check(isWhole || inode.gone !== undefined, `${inode.name} wasn't synced by close()`);
    }
  }

  /** Ends the process. After a fatal error, the process first gets a view, which it must refuse. */
  override async end(): Promise<void> {
    if (this.outcome !== undefined && !this.syscalls.isDead) {
      this.append(1);
      await this.world.time.advance(100);
      const { ledger } = this.world;
      ledger.check(this.#pending.size === 0, 'a view has no answer after a fatal error');
      const outcome = await this.world.time.outcomeOf(this.#store.close(CLOSE_MS), CLOSE_MS);
      ledger.check(outcome === this.outcome, `it failed: ${this.outcome}; close(): ${outcome}`);
    }
    this.kill();
  }

  #onFatal(fatal: Fatal): void {
    const { ledger } = this.world;
    if (this.syscalls.isDead) return;
    ledger.note(`fatal: ${fatal.message}`);
    ledger.check(this.outcome === undefined, 'onFatal was called twice');
    ledger.check(fatal.exitCode === 74, `the exit code is ${fatal.exitCode}`);
    ledger.check(this.syscalls.hasFailed, `it ended for no reason: ${fatal.message}`);
    this.outcome = `${fatal.exitCode}: ${fatal.message}`;
  }

  /** Returns whether nothing has been wrong for a while, so that no view may be refused. */
  #isCalm(): boolean {
    const { time, disk } = this.world;
    const today = disk.find(`${DATA}/views-${dayOf(time.wallMs())}.ndjson`);
    return (today === undefined || today.kind === 'file') && this.isQuiet(CALM_MS);
  }
}
