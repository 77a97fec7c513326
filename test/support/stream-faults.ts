import { expect } from 'vitest';
import type { Figures } from './trial.ts';
import { type Load, startLoad } from './load.ts';
import { type NatsCluster, type NatsNode, startNatsCluster } from './nats-server.ts';
import type { Runtime } from './runtimes.ts';
import { dataDirectory, startViewlog, until, type Viewlog } from './viewlog.ts';

// Faults of a real cluster of three and its collectors, under load.

const CLIENTS = 16;
/** Views that are refused at once must not keep the servers from electing a leader. */
const REST_MS = 10;
const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** A collector under load, which is started again after it is killed. */
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

  /** Ends the collector, and adds up its clients' answers. */
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

/** Starts three servers, and a collector on each runtime, under load. */
export async function startLoaded(
  runtimes: readonly Runtime[],
): Promise<{ nats: NatsCluster; collectors: Loaded[] }> {
  const nats = await startNatsCluster();
  const collectors = runtimes.map((runtime) => new Loaded(nats, runtime));
  // One after the other, because the first creates the stream.
  for (const collector of collectors) await collector.start();
  await Promise.all(collectors.map((collector) => collector.goesOn()));
  return { nats, collectors };
}

/** Causes a disturbance, and waits until every collector's views are acknowledged again. */
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

/** Stops the collectors, and expects each acknowledged view once, and no 5xx except 503. */
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

/** Kills servers and collectors at random, and starts them again. */
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
      // A collector cannot start while the cluster has no quorum.
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
