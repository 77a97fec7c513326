import { DAY_MS, HOUR_MS } from '../../src/base/time.ts';
import { DATA, Disk } from './disk.ts';
import { Ledger } from './ledger.ts';
import { Operator } from './operator.ts';
import { Random } from './random.ts';
import type { SimulatedProcess } from './simulated-process.ts';
import { WEATHERS } from './syscalls.ts';
import { SimulatedTime } from './time.ts';

const NOON = Date.parse('2026-03-01T12:00:00Z');
export const UNLIMITED = Number.POSITIVE_INFINITY;
const CLOCK_STEPS_MS = [1_000, 5 * 60_000, DAY_MS, 2 * DAY_MS, 365 * DAY_MS];

/** An event while a process runs: its frequency, its name, and the function. */
export type Event = readonly [number, string, () => Promise<void> | void];

type Settings = ReturnType<typeof settingsFrom>;

const settingsFrom = (random: Random, isArchive: boolean, isQuietSite: boolean) => {
  const days = isQuietSite ? [1, 3, 10] : [0, 1, 3];
  return {
    durability: isArchive || random.chance(0.75) ? 'disk' : 'os',
    minFreeBytes: random.pick([0, 1_000_000]),
    refusedBytesMax: random.pick([0, 3_000, 10_000, 1_000_000]),
    keepDays: {
      views: random.pick(days),
      refused: isArchive ? 0 : random.pick(days),
    },
  } as const;
};

/** One data directory, its operator, and the processes that use it one after the other. */
export abstract class World<P extends SimulatedProcess = SimulatedProcess> {
  readonly random: Random;
  /** True: its processes archive a stream. False: they collect views. */
  readonly isArchive: boolean;
  /** True: its processes live for months, and views are few. */
  readonly isQuietSite: boolean;
  readonly settings: Settings;
  readonly time: SimulatedTime;
  readonly disk: Disk;
  readonly ledger: Ledger;
  readonly operator: Operator;
  process!: P;

  constructor(seed: number, isArchive = false) {
    const random = new Random(seed);
    this.random = random;
    this.isArchive = isArchive;
    this.isQuietSite = random.chance(0.1);
    this.settings = settingsFrom(random, isArchive, this.isQuietSite);
    this.time = new SimulatedTime(NOON + random.below(DAY_MS));
    this.disk = new Disk(random);
    this.ledger = new Ledger(this);
    this.ledger.note(`seed ${seed}, ${JSON.stringify(this.settings)}`);
    this.operator = new Operator(this);
    this.operator.putOldFiles();
  }

  async run(): Promise<void> {
    for (let life = 0; life < this.#pace.lives && this.ledger.violation === undefined; life++) {
      await this.#live();
    }
    if (this.ledger.violation === undefined) await this.#liveInPeace();
  }

  /** Lets events happen until the process ends. */
  async #live(): Promise<void> {
    this.process = this.newProcess(false);
    if (this.random.chance(0.5)) this.#setWeather();
    const hasStarted = await this.process.start();
    for (let step = this.random.below(this.#pace.steps); hasStarted && step > 0; step--) {
      if (this.isQuietSite) await this.#passDays();
      if (!this.#isOver) await this.#happen();
      this.process.check();
      if (this.#isOver) break;
    }
    await this.process.end();
    this.#cutPower();
  }

  get #pace() {
    return this.isQuietSite ? { lives: 2, steps: 20 } : { lives: 5, steps: 60 };
  }

  get #isOver(): boolean {
    return this.process.hasEnded || this.ledger.violation !== undefined;
  }

  /** Lets days pass with few views, on a machine that sleeps most of the time. */
  async #passDays(): Promise<void> {
    this.clear(UNLIMITED);
    for (let days = this.random.below(30); days > 0 && !this.#isOver; days--) {
      await this.time.suspend(this.random.between(0.5, 28) * HOUR_MS);
      if (this.random.chance(0.3)) this.sendFew();
      await this.time.advance(20);
      this.process.removals.checkHour();
    }
    await this.time.advance(8_000);
    this.process.check();
  }

  /** Runs without faults: fragments are sealed, views are stored, and an old file is removed. */
  async #liveInPeace(): Promise<void> {
    this.process = this.newProcess(true);
    this.clear(UNLIMITED);
    const hasStarted = await this.process.start();
    this.ledger.check(hasStarted, "it didn't start, though all is well");
    if (!hasStarted) return;
    for (const ms of [20_000, 1_000, 10_000]) {
      this.sendFew();
      await this.time.advance(ms);
      this.process.check();
    }
    await this.process.removals.check();
    await this.process.stop();
    this.#cutPower();
  }

  protected abstract newProcess(isAtPeace: boolean): P;
  /** Sends a few views. */
  protected abstract sendFew(): void;
  /** Sends any number of views and lets time pass. */
  protected abstract burst(): Promise<void>;

  /** The events that can happen to a process. */
  protected events(): readonly Event[] {
    const { time, random, operator } = this;
    return [
      [30, 'views arrive', () => this.burst()],
      [12, 'nothing', () => time.advance(random.between(1, 3_000))],
      [3, 'no views for a while', () => time.advance(random.between(10_000, 60_000))],
      [4, 'a pause', () => time.suspend(random.between(0.1, 3) * HOUR_MS)],
      [6, 'other faults become likely', () => this.#setWeather()],
      [6, 'all is well', () => this.#calm(UNLIMITED)],
      [2, 'the disk is nearly full', () => this.#calm(random.pick([500_000, 1_500_000]))],
      [4, 'the disk fills up', () => this.#fill()],
      [2, 'a few bytes are freed at a time', () => this.#dribble()],
      [4, 'the disk is freed', () => this.setSpace(UNLIMITED)],
      [4, 'midnight', () => this.#setClock(this.#nearMidnight())],
      [2, 'the clock is wrong for a while', () => this.mistime()],
      [3, 'the clock is set', () => this.#setClock(this.#anotherTime())],
      [3, 'a file is moved', () => operator.take(operator.todaysFile(), 'moved')],
      [2, 'a file is removed', () => operator.take(operator.todaysFile(), 'removed')],
      [1, 'an old file is removed', () => operator.takeAny()],
      [2, "something else is in a file's place", () => operator.obstruct()],
      [1, 'a past day is compressed', () => operator.compress()],
      [1, 'refused views are sent again', () => operator.replay()],
      [3, 'kill -9', () => this.process.kill()],
      [3, 'SIGTERM', () => this.#stop()],
    ];
  }

  async #happen(): Promise<void> {
    const events = this.events();
    let left = this.random.below(events.reduce((sum, [weight]) => sum + weight, 0));
    const [, name, happen] = events.find(([weight]) => (left -= weight) < 0)!;
    this.ledger.note(`- ${name}`);
    await happen();
  }

  #cutPower(): void {
    if (this.settings.durability === 'os' || this.random.chance(0.5)) return;
    this.ledger.note('- the power is cut');
    this.disk.cutPower(this.random, this.time.nowMs);
    this.ledger.powerCut();
  }

  async #stop(): Promise<void> {
    await this.burst();
    if (this.random.chance(0.3)) this.process.syscalls.weather = WEATHERS.broken;
    this.sendFew();
    await this.process.stop();
  }

  #setWeather(): void {
    const name = this.random.pick(['calm', 'rough', 'failing', 'slow'] as const);
    this.ledger.note(`the disk is ${name}`);
    this.process.syscalls.weather = WEATHERS[name];
  }

  /** Removes all faults for a while and then sends views. */
  async #calm(spaceBytes: number): Promise<void> {
    this.clear(spaceBytes);
    await this.time.advance(8_000);
    this.process.check();
    await this.burst();
  }

  protected clear(spaceBytes: number): void {
    const { disk, time } = this;
    this.process.syscalls.weather = WEATHERS.calm;
    disk.fullErrno = 'ENOSPC';
    for (const name of disk.names()) {
      if (disk.find(`${DATA}/${name}`)!.kind !== 'file') disk.detach(name, 'removed', time.nowMs);
    }
    this.setSpace(spaceBytes);
  }

  #fill(): void {
    this.disk.fullErrno = this.random.pick(['ENOSPC', 'EDQUOT', 'EFBIG'] as const);
    this.setSpace(this.random.pick([0, this.random.below(3000), 1_500_000]));
  }

  /** Frees a few bytes at a time, so that the rest of a cut line is written in several pieces. */
  async #dribble(): Promise<void> {
    this.clear(this.random.below(200));
    await this.burst();
    for (let piece = 4; piece > 0; piece--) {
      this.setSpace(1 + this.random.below(12));
      await this.time.advance(1_000);
    }
    await this.#calm(UNLIMITED);
  }

  protected setSpace(bytes: number): void {
    this.disk.spaceBytes = bytes;
    this.operator.note(`${bytes} bytes are free`);
  }

  #setClock(wallMs: number): void {
    this.time.setWall(wallMs);
    this.operator.note(`it is ${new Date(this.time.wallMs()).toISOString()}`);
  }

  protected async mistime(): Promise<void> {
    const offsetMs = this.random.pick([-4, -2, 2]) * DAY_MS;
    this.#setClock(this.time.wallMs() + offsetMs);
    await this.burst();
    this.#setClock(this.time.wallMs() - offsetMs);
  }

  #nearMidnight(): number {
    const nextDay = Math.ceil(this.time.wallMs() / DAY_MS) * DAY_MS;
    return nextDay - this.random.pick([1, 5, 500]);
  }

  #anotherTime(): number {
    return this.time.wallMs() + this.random.between(-1, 1) * this.random.pick(CLOCK_STEPS_MS);
  }
}
