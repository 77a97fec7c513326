import { DAY_MS, dayOf, HOUR_MS } from '../../src/base/time.ts';
import { DATA, Disk } from './disk.ts';
import { Ledger } from './ledger.ts';
import { Random } from './random.ts';
import type { SimulatedProcess } from './simulated-process.ts';
import { WEATHERS } from './syscalls.ts';
import { SimulatedTime } from './time.ts';

const LIVES_MAX = 5;
const STEPS_MAX = 60;
const NOON = Date.parse('2026-03-01T12:00:00Z');
const UNLIMITED = Number.POSITIVE_INFINITY;
const CLOCK_STEPS_MS = [1_000, 5 * 60_000, DAY_MS, 2 * DAY_MS, 365 * DAY_MS];

/** An event while a process runs: its frequency, its name, and the function. */
export type Event = readonly [number, string, () => Promise<void> | void];

type Settings = ReturnType<typeof settingsFrom>;

const settingsFrom = (random: Random, isArchive: boolean) =>
  ({
    durability: isArchive || random.chance(0.75) ? 'disk' : 'os',
    minFreeBytes: random.pick([0, 1_000_000]),
    refusedBytesMax: random.pick([0, 3_000, 10_000, 1_000_000]),
    keepDays: {
      views: random.pick([0, 1, 3]),
      refused: isArchive ? 0 : random.pick([0, 1, 3]),
    },
  }) as const;

/** One data directory, its operator, and the processes that live on it one after the other. */
export abstract class World<P extends SimulatedProcess = SimulatedProcess> {
  readonly random: Random;
  /** True: its processes archive a stream. False: they collect views. */
  readonly isArchive: boolean;
  readonly settings: Settings;
  readonly time: SimulatedTime;
  readonly disk: Disk;
  readonly ledger: Ledger;
  process!: P;

  constructor(seed: number, isArchive = false) {
    const random = new Random(seed);
    this.random = random;
    this.isArchive = isArchive;
    this.settings = settingsFrom(random, isArchive);
    this.time = new SimulatedTime(NOON + random.below(DAY_MS));
    this.disk = new Disk(random);
    this.ledger = new Ledger(this);
    this.ledger.note(`seed ${seed}, ${JSON.stringify(this.settings)}`);
    this.#putOldFiles();
  }

  async run(): Promise<void> {
    for (let life = 0; life < LIVES_MAX && this.ledger.violation === undefined; life++) {
      await this.#live();
    }
    if (this.ledger.violation === undefined) await this.#liveInPeace();
  }

  /** Lets events happen until the process ends. */
  async #live(): Promise<void> {
    this.process = this.newProcess();
    if (this.random.chance(0.5)) this.#setWeather();
    const hasStarted = await this.process.start();
    for (let step = this.random.below(STEPS_MAX); hasStarted && step > 0; step--) {
      await this.#happen();
      this.process.check();
      if (this.process.hasEnded || this.ledger.violation !== undefined) break;
    }
    await this.process.end();
    this.#cutPower();
  }

  /** Without any trouble: torn lines are ended, views are stored, and an old file is removed. */
  async #liveInPeace(): Promise<void> {
    this.process = this.newProcess();
    this.clear(UNLIMITED);
    const hasStarted = await this.process.start();
    this.ledger.check(hasStarted, 'it did not start, though all is well');
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

  protected abstract newProcess(): P;
  /** A few views arrive. */
  protected abstract sendFew(): void;
  /** Any number of views arrive, and time passes. */
  protected abstract burst(): Promise<void>;

  /** Everything that can happen to a process. */
  protected events(): readonly Event[] {
    const { time, random } = this;
    return [
      [30, 'views arrive', () => this.burst()],
      [12, 'nothing', () => time.advance(random.between(1, 3_000))],
      [3, 'nothing for long', () => time.advance(random.between(10_000, 60_000))],
      [4, 'a pause', () => time.suspend(random.between(0.1, 3) * HOUR_MS)],
      [6, 'another weather', () => this.#setWeather()],
      [6, 'all is well', () => this.#calm(UNLIMITED)],
      [2, 'the disk is nearly full', () => this.#calm(random.pick([500_000, 1_500_000]))],
      [4, 'the disk fills up', () => this.#fill()],
      [4, 'the disk is freed', () => this.#setSpace(UNLIMITED)],
      [4, 'midnight', () => this.#setClock(this.#nearMidnight())],
      [2, 'the clock is wrong for a while', () => this.mistime()],
      [3, 'the clock is set', () => this.#setClock(this.#anotherTime())],
      [3, 'a file is moved', () => this.take(this.todaysFile(), 'moved')],
      [2, 'a file is removed', () => this.take(this.todaysFile(), 'removed')],
      [1, 'an old file is removed', () => this.take(this.disk.names()[0] ?? '', 'removed')],
      [2, 'something is in the way', () => this.#obstruct()],
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
    this.sendFew();
    await this.process.stop();
  }

  #setWeather(): void {
    const name = this.random.pick(['calm', 'rough', 'failing', 'slow'] as const);
    this.ledger.note(`the disk is ${name}`);
    this.process.syscalls.weather = WEATHERS[name];
  }

  /** Removes all trouble for a while, and then sends views. */
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
    this.#setSpace(spaceBytes);
  }

  #fill(): void {
    this.disk.fullErrno = this.random.pick(['ENOSPC', 'EDQUOT', 'EFBIG'] as const);
    this.#setSpace(this.random.pick([0, this.random.below(3000), 1_500_000]));
  }

  #setSpace(bytes: number): void {
    this.disk.spaceBytes = bytes;
    this.noteChange(`${bytes} bytes are free`);
  }

  #setClock(wallMs: number): void {
    this.time.setWall(wallMs);
    this.noteChange(`it is ${new Date(this.time.wallMs()).toISOString()}`);
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

  protected take(name: string, how: 'moved' | 'removed'): void {
    this.disk.detach(name, how, this.time.nowMs);
    this.noteChange(`${name} is ${how}`);
  }

  /** Puts another file, a directory or a FIFO in the place of one of viewlog's files. */
  #obstruct(): void {
    const name = this.todaysFile();
    const kind = this.random.pick(['directory', 'fifo', 'file'] as const);
    this.take(name, 'moved');
    if (kind === 'file') this.#putFile(name);
    else this.disk.create(name, kind);
    this.noteChange(`${name} is a ${kind}`);
  }

  protected todaysFile(): string {
    const kind = this.isArchive || this.random.chance(0.8) ? 'views' : 'refused';
    return `${kind}-${dayOf(this.time.wallMs())}.ndjson`;
  }

  protected noteChange(text: string): void {
    this.ledger.note(text);
    this.ledger.operatorMs = this.time.nowMs;
  }

  /** Creates files of earlier days, some of them torn, and files of other programs. */
  #putOldFiles(): void {
    const { random, disk } = this;
    for (let n = random.below(6); n > 0; n--) {
      const day = dayOf(this.time.wallMs() - random.below(8) * DAY_MS);
      const ending = random.pick(['', '', '', '.gz', '.replayed']);
      const name = `${random.pick(['views', 'refused'])}-${day}.ndjson${ending}`;
      if (disk.names().includes(name)) continue;
      this.#putFile(name);
    }
    disk.syncNames();
  }

  #putFile(name: string): void {
    const inode = this.disk.create(name);
    const text = this.random.pick(['', '{"old":true}\n', '{"old":true}\n{"old":']);
    inode.append(Buffer.from(text));
    if (this.random.chance(0.5)) inode.makeDurable();
    this.ledger.adopt(inode);
  }
}
