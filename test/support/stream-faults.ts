import { expect } from 'vitest';
import { sleep } from '../../src/base/time.ts';
import { isFragment } from '../../src/verify/fragment.ts';
import type { Random } from '../simulation/random.ts';
import { type Archive, archiveAll, startArchive } from './archive.ts';
import { type Load, startLoad } from './load.ts';
import { type NatsCluster, startNatsCluster } from './nats-server.ts';
import type { Runtime } from './runtimes.ts';
import { tempDir } from './temp-dir.ts';
import {
  dataDirectory,
  linesOf,
  run,
  type StartOptions,
  startViewlog,
  until,
  type Viewlog,
} from './viewlog.ts';

// Faults of a real cluster of three servers, its collectors and its archive, while views arrive.

const CLIENTS = 16;

/** A collector that gets views as long as it runs, and that is started again when it is killed. */
class Loaded {
  readonly #options: StartOptions;
  readonly #loads: Load[] = [];
  #viewlog!: Viewlog;

  constructor(nats: NatsCluster, runtime: Runtime) {
    this.#options = { runtime, data: dataDirectory(), args: ['--store', nats.url] };
  }

  async start(): Promise<void> {
    this.#viewlog = await startViewlog(this.#options);
    this.#loads.push(startLoad(this.#viewlog.url, CLIENTS));
  }

  async stop(signal: 'SIGKILL' | 'SIGTERM'): Promise<void> {
    const { code, stderr } = await this.#viewlog.signal(signal);
    if (signal === 'SIGTERM' && code !== 0) throw new Error(`stopped with ${code}: ${stderr}`);
    await this.#loads.at(-1)!.stop();
  }

  /** Waits until another view is acknowledged. */
  async goesOn(): Promise<void> {
    const { acknowledged } = this.#loads.at(-1)!.answers;
    const before = acknowledged.length;
    await until(() => acknowledged.length > before);
  }

  answers(): Load['answers'][] {
    return this.#loads.map((load) => load.answers);
  }
}

/** Starts three servers, a collector on each runtime under load, and an archive. */
export async function startLoaded(runtimes: readonly Runtime[]) {
  const nats = await startNatsCluster();
  const collectors = runtimes.map((runtime) => new Loaded(nats, runtime));
  // One after the other, because the first creates the stream.
  for (const collector of collectors) await collector.start();
  const archived = new Archived(nats, runtimes);
  await archived.start();
  await goOn(collectors);
  return { nats, collectors, archived };
}

/** Waits until every collector's views are acknowledged. */
export async function goOn(collectors: readonly Loaded[]): Promise<void> {
  await Promise.all(collectors.map((collector) => collector.goesOn()));
}

/** An archive of the stream. Whenever it is killed, it is started again on another runtime. */
class Archived {
  readonly #nats: NatsCluster;
  readonly #runtimes: readonly Runtime[];
  readonly #data = tempDir();
  #starts = 0;
  #archive!: Archive;

  constructor(nats: NatsCluster, runtimes: readonly Runtime[]) {
    this.#nats = nats;
    this.#runtimes = runtimes;
  }

  /** Waits for a leader first, because without one an archive exits with code 69. */
  async start(): Promise<void> {
    await this.#nats.leaderOf('VIEWS');
    const runtime = this.#runtimes[this.#starts++ % this.#runtimes.length]!;
    this.#archive = startArchive({ runtime, url: this.#nats.url, data: this.#data });
    await this.#archive.says(/archiving/);
  }

  async kill(): Promise<void> {
    await this.#archive.signal('SIGKILL');
    await this.start();
  }

  /**
   * Stops the archive, archives the remaining messages, and returns the lines, without fragments.
   */
  async lines(): Promise<string[]> {
    const stopped = await this.#archive.signal('SIGTERM');
    await archiveAll({ url: this.#nats.url, data: this.#data });
    const verified = await run(['verify', this.#data], { data: this.#data });
    for (const { code, stdout, stderr } of [stopped, verified]) {
      if (code !== 0) throw new Error(`ended with ${code}: ${stdout}${stderr}${stopped.stderr}`);
    }
    return linesOf(this.#data, 'views').filter((line) => !isFragment(line));
  }
}

/**
 * Stops every process and expects each acknowledged view once in the stream and once in the files.
 * @returns the number of acknowledged views.
 */
export async function expectStored({
  nats,
  collectors,
  archived,
}: Awaited<ReturnType<typeof startLoaded>>): Promise<number> {
  await Promise.all(collectors.map((collector) => collector.stop('SIGTERM')));
  const answers = collectors.flatMap((collector) => collector.answers());
  const acknowledged = answers.flatMap((one) => one.acknowledged);
  expect(new Set(acknowledged).size).toBe(acknowledged.length);
  const lines = await archived.lines();
  const inFiles = lines.map((line) => (JSON.parse(line) as { id: string }).id);
  const inStream = (await nats.messages('VIEWS')).map(({ id }) => id);
  for (const ids of [inFiles, inStream]) {
    const stored = new Set(ids);
    expect(stored.size).toBe(ids.length);
    expect(acknowledged.filter((id) => !stored.has(id))).toStrictEqual([]);
  }
  const refused = answers.flatMap((one) => [...one.refused]);
  expect(['storage-unavailable', 'unanswered']).toEqual(expect.arrayContaining(refused));
  return acknowledged.length;
}

type LoadedCluster = Awaited<ReturnType<typeof startLoaded>>;

/** Stops the leader for a while, as a virtual machine does, and lets another server lead. */
export async function pauseLeader({ nats, collectors }: LoadedCluster, ms: number): Promise<void> {
  const leader = await nats.leaderOf('VIEWS');
  await nats.pause(leader, ms);
  await goOn(collectors);
  await nats.stepDown('VIEWS');
  await goOn(collectors);
}

/** Events in a cluster, with their frequencies. */
const EVENTS: readonly [
  number,
  (loaded: LoadedCluster, random: Random, pauseMsMax: number) => Promise<void>,
][] = [
  [3, ({ archived }) => archived.kill()],
  [
    2,
    async ({ nats, collectors }, random) => {
      const collector = random.pick(collectors);
      await collector.stop('SIGKILL');
      // A collector can't start while the cluster has no quorum.
      await nats.leaderOf('VIEWS');
      await collector.start();
    },
  ],
  [
    5,
    async ({ nats }, random) => {
      // Kills one server at a time: three servers killed together may lose acknowledged messages.
      const node = random.pick(nats.nodes);
      await node.stop('SIGKILL');
      await sleep(random.below(1_000));
      await node.start();
    },
  ],
  [
    3,
    ({ nats }, random, pauseMsMax) =>
      nats.pause(random.pick(nats.nodes), random.between(Math.min(3_000, pauseMsMax), pauseMsMax)),
  ],
  [2, (loaded, _, pauseMsMax) => pauseLeader(loaded, Math.min(7_000, pauseMsMax))],
  [2, ({ nats }) => nats.stepDown('VIEWS')],
];

/**
 * Kills or pauses a server, kills a collector or the archive, or lets another server lead, again
 * and again.
 */
export async function chaos(
  runtimes: readonly Runtime[],
  random: Random,
  rounds: number,
  pauseMsMax = 2_000,
): Promise<number> {
  const loaded = await startLoaded(runtimes);
  for (let round = 0; round < rounds; round++) {
    await sleep(random.below(1_000));
    let left = random.below(EVENTS.reduce((sum, [weight]) => sum + weight, 0));
    const [, happen] = EVENTS.find(([weight]) => (left -= weight) < 0)!;
    await happen(loaded, random, pauseMsMax);
    await goOn(loaded.collectors);
  }
  return expectStored(loaded);
}
