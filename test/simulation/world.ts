import { DAY_MS, dayOf, HOUR_MS } from '../../src/base/time.ts';
import { DATA, Disk, type Kind } from './disk.ts';
import { Ledger } from './ledger.ts';
import { Process, type Settings } from './process.ts';
import { Random } from './random.ts';
import { type Weather, WEATHERS } from './syscalls.ts';
import { SimulatedTime } from './time.ts';

export interface Outcome {
  readonly trace: readonly string[];
  /** What did not hold. */
  readonly violation: string | undefined;
  readonly sent: number;
  readonly acknowledged: number;
}

const LIVES = 4;
const NOON = Date.parse('2026-03-01T12:00:00Z');

/** What can happen while a process runs, and how often. */
const EVENTS = {
  burst: 30,
  wait: 12,
  waitLong: 3,
  weather: 6,
  calmDown: 6,
  midnight: 4,
  stepClock: 3,
  move: 3,
  remove: 2,
  fill: 4,
  nearlyFill: 2,
  free: 4,
  obstruct: 1,
  removeOld: 1,
  suspend: 2,
  kill: 2,
  stop: 2,
} as const;

type Event = keyof typeof EVENTS;

/** One data directory, the processes that live on it one after the other, and its operator. */
class World {
  readonly random: Random;
  readonly settings: Settings;
  readonly time: SimulatedTime;
  readonly disk: Disk;
  readonly ledger: Ledger;
  process: Process;

  constructor(seed: number) {
    const random = new Random(seed);
    this.random = random;
    this.settings = {
      durability: random.chance(0.75) ? 'disk' : 'os',
      minFreeBytes: random.pick([0, 0, 1_000_000]),
      refusedBytesMax: random.pick([0, 3_000, 10_000, 1_000_000]),
      keepDays: { views: random.pick([0, 1, 3]), refused: random.pick([0, 1, 3]) },
    };
    this.time = new SimulatedTime(NOON + random.below(DAY_MS));
    this.disk = new Disk(random.chance(0.5));
    this.ledger = new Ledger({
      disk: this.disk,
      time: this.time,
      isDurable: this.settings.durability === 'disk',
      refusedBytesMax: this.settings.refusedBytesMax,
    });
    this.ledger.note(`seed ${seed}, ${JSON.stringify(this.settings)}`);
    this.#plantOldFiles();
    this.process = this.#newProcess();
  }

  async run(): Promise<void> {
    for (let life = 0; life < LIVES && this.ledger.violation === undefined; life++) {
      await this.#live();
    }
    if (this.ledger.violation === undefined) await this.#liveInPeace();
  }

  #newProcess(): Process {
    return new Process(this);
  }

  /** Whatever happens, until the process ends by it. */
  async #live(): Promise<void> {
    this.process = this.#newProcess();
    if (this.random.chance(0.5)) this.#setWeather();
    const hasStarted = await this.process.start();
    for (let step = this.random.below(60); hasStarted && step > 0; step--) {
      await this.#happen(this.random.weighted<Event>(EVENTS));
      this.process.check();
      if (this.process.hasEnded || this.ledger.violation !== undefined) break;
    }
    this.#end();
  }

  /** At the end all is well: what is torn gets sealed, and a view is accepted. */
  async #liveInPeace(): Promise<void> {
    this.#clear();
    this.process = this.#newProcess();
    const hasStarted = await this.process.start();
    this.ledger.check(hasStarted, 'it did not start, though all is well');
    if (!hasStarted) return;
    for (const ms of [10_000, 1_000, 10_000]) {
      this.process.append(3);
      this.process.keep(3);
      await this.time.advance(ms);
      this.process.check();
    }
    await this.process.checkRetention();
    await this.process.close();
    this.#end();
  }

  #end(): void {
    const { disk, ledger, random, time } = this;
    this.process.kill();
    if (this.settings.durability === 'disk' && random.chance(0.5)) {
      ledger.note('the power is cut');
      disk.cutPower(random, time.nowMs);
      ledger.powerCut();
    }
  }

  async #happen(event: Event): Promise<void> {
    const { random, time, disk, ledger, process } = this;
    if (event !== 'burst' && event !== 'wait') ledger.note(event);
    switch (event) {
      case 'burst':
        for (let n = random.below(12); n >= 0; n--) {
          process.append(random.chance(0.05) ? random.below(3000) : random.below(30));
          if (random.chance(0.15)) process.keep(random.below(400));
        }
        return time.advance(random.pick([0, 1, 3, 10, 50]));
      case 'wait':
        return time.advance(random.between(1, 3_000));
      case 'waitLong':
        return time.advance(random.between(10_000, 60_000));
      case 'weather':
        return this.#setWeather();
      case 'calmDown':
        this.#clear();
        await time.advance(random.between(5_000, 8_000));
        process.check();
        return this.#happen('burst');
      case 'midnight':
        return this.#setWall(Math.ceil(time.wallMs() / DAY_MS) * DAY_MS - random.pick([1, 5, 500]));
      case 'stepClock':
        return this.#setWall(time.wallMs() + random.between(-1, 1) * random.pick(STEPS_MS));
      case 'move':
        return this.#take('moved');
      case 'remove':
        return this.#take('removed');
      case 'fill':
        disk.roomBytes = random.pick([
          0,
          random.below(3000),
          random.below(3000),
          500_000,
          1_500_000,
        ]);
        disk.fullErrno = random.pick(['ENOSPC', 'EDQUOT']);
        return this.#touch();
      case 'nearlyFill':
        this.#clear();
        disk.roomBytes = 500_000;
        disk.fullErrno = 'ENOSPC';
        await time.advance(random.between(5_000, 8_000));
        process.check();
        return this.#happen('burst');
      case 'free':
        disk.roomBytes = Number.POSITIVE_INFINITY;
        return this.#touch();
      case 'obstruct':
        return this.#obstruct(random.pick(['directory', 'fifo'] as const));
      case 'removeOld':
        return this.#removeOld();
      case 'suspend':
        return time.suspend(random.between(0.1, 3) * HOUR_MS);
      case 'kill':
        return process.kill();
      case 'stop':
        await process.close();
        return process.kill();
    }
  }

  #setWeather(): void {
    const name = this.random.pick(Object.keys(WEATHERS) as (keyof typeof WEATHERS)[]);
    const weather: Weather = WEATHERS[name];
    this.ledger.note(`the disk is ${name}`);
    this.process.syscalls.weather = weather;
  }

  /** The operator puts everything right. */
  #clear(): void {
    const { disk } = this;
    this.process.syscalls.weather = WEATHERS.calm;
    disk.roomBytes = Number.POSITIVE_INFINITY;
    for (const name of disk.names()) {
      const isInTheWay = name.endsWith('.ndjson') && disk.find(`${DATA}/${name}`)?.kind !== 'file';
      if (isInTheWay) disk.detach(name, 'removed', this.time.nowMs);
    }
    this.#touch();
  }

  #touch(): void {
    this.ledger.operatorMs = this.time.nowMs;
  }

  #setWall(wallMs: number): void {
    this.time.setWall(wallMs);
    this.ledger.note(`the clock is set to ${new Date(this.time.wallMs()).toISOString()}`);
    this.#touch();
  }

  #today(): string {
    const kind = this.random.chance(0.8) ? 'views' : 'refused';
    return `${kind}-${dayOf(this.time.wallMs())}.ndjson`;
  }

  #take(how: 'moved' | 'removed'): void {
    const name = this.#today();
    this.ledger.note(`${name} is ${how}`);
    this.disk.detach(name, how, this.time.nowMs);
    this.#touch();
  }

  #obstruct(kind: Kind): void {
    const name = this.#today();
    this.disk.detach(name, 'moved', this.time.nowMs);
    this.disk.create(name, kind);
    this.ledger.note(`${name} is a ${kind}`);
    this.#touch();
  }

  #removeOld(): void {
    const [oldest] = this.disk
      .names()
      .filter((name) => /^(views|refused)-/.test(name))
      .sort();
    if (oldest !== undefined) this.disk.detach(oldest, 'removed', this.time.nowMs);
    this.#touch();
  }

  /** What earlier versions, other programs and the operator have left there. */
  #plantOldFiles(): void {
    const { random, disk, ledger, time } = this;
    const today = time.wallMs();
    for (let n = random.below(6); n > 0; n--) {
      const day = dayOf(today - random.below(8) * DAY_MS);
      const name = `${random.pick(['views', 'refused'])}-${day}.ndjson${random.pick(ENDINGS)}`;
      if (disk.find(`${DATA}/${name}`) !== undefined) continue;
      const inode = disk.create(name);
      inode.append(Buffer.from(random.pick(['', '{"old":true}\n', '{"old":true}\n{"old":'])));
      inode.makeDurable();
      ledger.adopt(inode);
    }
    disk.syncNames();
  }
}

const STEPS_MS = [1_000, 5 * 60_000, DAY_MS, 2 * DAY_MS, 365 * DAY_MS];
const ENDINGS = ['', '', '', '.gz', '.replayed'];

/** Runs the simulation of a seed. */
export async function simulate(seed: number): Promise<Outcome> {
  const world = new World(seed);
  world.time.install();
  try {
    await world.run();
  } catch (error) {
    world.ledger.fail(String((error as Error).stack));
  } finally {
    world.time.uninstall();
  }
  const { trace, violation, count, acknowledged } = world.ledger;
  return { trace, violation, sent: count, acknowledged };
}
