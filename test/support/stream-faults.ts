import { expect } from 'vitest';
import type { Figures } from './faults.ts';
import { type Load, startLoad } from './load.ts';
import { type NatsCluster, type NatsNode, startNatsCluster } from './nats-server.ts';
import type { Runtime } from './runtimes.ts';
import { dataDirectory, startViewlog, until, type Viewlog } from './viewlog.ts';

// What can happen to a cluster of three and its collectors, done to real ones under load.

const CLIENTS = 16;
/** What is refused at once must not take the servers' time to elect. */
const REST_MS = 10;
const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** A collector that is loaded for as long as it lives, and started anew when it is killed. */
class Loaded {
  readonly #nats: NatsCluster;
  readonly #runtime: Runtime;
  readonly #data = dataDirectory();
  readonly acknowledged: string[] = [];
  readonly refused = new Map<string, number>();
  #viewlog: Viewlog | undefined;
  #load: Load | undefined;

  constructor(nats: NatsCluster, runtime: Runtime) {
    this.#nats = nats;
    this.#runtime = runtime;
  }

  async start(): Promise<void> {
    const args = ['--store', this.#nats.url];
    this.#viewlog = await startViewlog({ runtime: this.#runtime, data: this.#data, args });
    this.#load = startLoad(this.#viewlog.url, CLIENTS, Infinity, REST_MS);
  }

  /** Ends it, and adds up what its clients were told. */
  async stop(signal: 'SIGKILL' | 'SIGTERM'): Promise<void> {
    const { code, stderr } = await this.#viewlog!.signal(signal);
    if (signal === 'SIGTERM' && code !== 0) throw new Error(`stopped with ${code}: ${stderr}`);
    await this.#load!.stop();
    const { acknowledged, refused } = this.#load!.told;
    this.acknowledged.push(...acknowledged);
    for (const [why, times] of refused) {
      this.refused.set(why, (this.refused.get(why) ?? 0) + times);
    }
  }

  get acknowledgedNow(): number {
    return this.#load!.told.acknowledged.length;
  }

  get refusedNow(): number {
    return this.#load!.told.refused.get('storage-unavailable') ?? 0;
  }

  /** Waits until another view is acknowledged. */
  async goesOn(): Promise<void> {
    const before = this.acknowledgedNow;
    await until(() => this.acknowledgedNow > before);
  }
}

/** Three servers, and a collector on each runtime, under load. */
export async function startLoaded(
  runtimes: readonly Runtime[],
): Promise<{ nats: NatsCluster; collectors: Loaded[] }> {
  const nats = await startNatsCluster();
  const collectors = runtimes.map((runtime) => new Loaded(nats, runtime));
  // One after the other: the first makes the stream.
  for (const collector of collectors) await collector.start();
  await Promise.all(collectors.map((collector) => collector.goesOn()));
  return { nats, collectors };
}

/** Does something, and waits until every collector's views are acknowledged again. */
export async function disturb(
  collectors: readonly Loaded[],
  happen: () => Promise<unknown>,
): Promise<Figures> {
  const refusedBefore = sum(collectors, ({ refusedNow }) => refusedNow);
  const before = performance.now();
  await happen();
  await Promise.all(collectors.map((collector) => collector.goesOn()));
  const ms = Math.round(performance.now() - before);
  return { ms, refused: sum(collectors, ({ refusedNow }) => refusedNow) - refusedBefore };
}

const sum = <T>(of: readonly T[], value: (item: T) => number): number =>
  of.reduce((total, item) => total + value(item), 0);

/** Stops the collectors: nothing acknowledged is missing, nothing is there twice, no 5xx but 503. */
export async function expectStored(
  nats: NatsCluster,
  collectors: readonly Loaded[],
): Promise<Figures> {
  await Promise.all(collectors.map((collector) => collector.stop('SIGTERM')));
  const ids = (await nats.messages('VIEWS')).map(({ id }) => id);
  const stored = new Set(ids);
  expect(stored.size).toBe(ids.length);
  const acknowledged = collectors.flatMap((collector) => collector.acknowledged);
  expect(acknowledged.filter((id) => !stored.has(id))).toStrictEqual([]);
  expect(new Set(acknowledged).size).toBe(acknowledged.length);
  const codes = new Set(collectors.flatMap(({ refused }) => [...refused.keys()]));
  codes.delete('storage-unavailable');
  expect([...codes]).toStrictEqual([]);
  return { acknowledged: acknowledged.length, stored: stored.size, lost: 0 };
}

/** Kills a server, or a collector, and starts it again; any of them, at any time. */
export async function chaos(
  runtimes: readonly Runtime[],
  random: () => number,
  rounds: number,
): Promise<Figures> {
  const { nats, collectors } = await startLoaded(runtimes);
  const kills = { nodes: 0, clusters: 0, collectors: 0 };
  const pick = <T>(of: readonly T[]): T => of[Math.floor(random() * of.length)]!;
  const killNode = async (node: NatsNode): Promise<void> => {
    await node.stop('SIGKILL');
    await sleep(random() * 1_000);
    await node.start();
    kills.nodes += 1;
  };
  const happen = async (): Promise<void> => {
    const choice = random();
    if (choice < 0.2) {
      const collector = pick(collectors);
      await collector.stop('SIGKILL');
      // Where the cluster has no quorum just now it cannot start.
      await nats.leaderOf('VIEWS');
      await collector.start();
      kills.collectors += 1;
    } else if (choice < 0.35) {
      await Promise.all(nats.nodes.map(killNode));
      kills.clusters += 1;
    } else await killNode(pick(nats.nodes));
  };
  for (let round = 0; round < rounds; round++) {
    await sleep(random() * 1_000);
    await disturb(collectors, happen);
  }
  return { ...kills, ...(await expectStored(nats, collectors)) };
}
