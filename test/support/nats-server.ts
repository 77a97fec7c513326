import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { homedir } from 'node:os';
import { jetstreamManager, type JetStreamManager, type StreamInfo } from '@nats-io/jetstream';
import { connect, type NatsConnection, type NodeConnectionOptions } from '@nats-io/transport-node';
import { onTestFinished } from 'vitest';
import { sleep } from '../../src/base/time.ts';
import { fileOf } from './examples.ts';
import { isHere } from './runtimes.ts';
import { tempDir } from './temp-dir.ts';
import { startProgram, type Started, until } from './viewlog.ts';

// Starts real NATS servers on free ports of loopback, each in its own directory.

const VERSION = readFileSync(new URL('../../.ci/nats-server-version', import.meta.url), 'utf8');
/** The current server, which viewlog is meant for. */
const CURRENT = `${homedir()}/.cache/viewlog/nats-server-${VERSION.trim()}/nats-server`;
/** Debian's server, version 2.9. viewlog works with it but warns. */
export const DEBIAN_NATS = '/usr/sbin/nats-server';

export const canRunNats = (): boolean =>
  [CURRENT, DEBIAN_NATS].every((program) => isHere(program, `nats-server (${program})`));

export interface NatsOptions {
  /** The server's program; by default the current one. */
  readonly program?: string;
  /** Lines for each server's configuration: users, TLS, limits. */
  readonly config?: string;
  /** False: the server passes messages on and stores none. */
  readonly jetstream?: boolean;
  /** The login of the test's own connection. */
  readonly login?: NodeConnectionOptions;
}

/** Starts a single server. */
export const startNats = (options: NatsOptions = {}): Promise<NatsCluster> =>
  startNodes(1, options);

/** Starts a cluster of three servers. */
export const startNatsCluster = (options: NatsOptions = {}): Promise<NatsCluster> =>
  startNodes(3, options);

async function startNodes(count: number, options: NatsOptions): Promise<NatsCluster> {
  const { program = CURRENT, config = '', jetstream = true, login = {} } = options;
  const ports = await freePorts(3 * count);
  const routes = ports.slice(2 * count).map((port) => `nats://127.0.0.1:${port}`);
  const file = fileOf('nats.conf', config);
  const nodes = routes.map((route, i) => {
    const cluster = ['--cluster_name=test', `--cluster=${route}`, `--routes=${routes.join()}`];
    return new NatsNode(`n${i}`, ports[i]!, ports[count + i]!, program, [
      `--config=${file}`,
      ...(jetstream ? ['--jetstream'] : []),
      ...(count > 1 ? cluster : []),
    ]);
  });
  const cluster = new NatsCluster(nodes, login);
  await Promise.all(nodes.map((node) => node.start()));
  await cluster.ready();
  return cluster;
}

export class NatsNode {
  readonly name: string;
  readonly port: number;
  readonly storeDir = tempDir();
  readonly monitorPort: number;
  readonly #command: readonly [string, ...string[]];
  #server: Started | undefined;

  constructor(
    name: string,
    port: number,
    monitorPort: number,
    program: string,
    options: readonly string[],
  ) {
    this.name = name;
    this.port = port;
    this.monitorPort = monitorPort;
    this.#command = [program, ...options];
  }

  get isRunning(): boolean {
    return this.#server?.child.exitCode === null && this.#server.child.signalCode === null;
  }

  async start(): Promise<void> {
    const own = [`--name=${this.name}`, `--store_dir=${this.storeDir}`];
    const listen = ['--addr=127.0.0.1', `--port=${this.port}`, `--http_port=${this.monitorPort}`];
    this.#server = startProgram([...this.#command, ...own, ...listen]);
    await this.#server.says(/Server is ready/);
  }

  async stop(signal: NodeJS.Signals): Promise<void> {
    await this.#server?.signal(signal);
  }

  /** Stops the process without ending it. */
  async pause(): Promise<void> {
    const { pid } = this.#server!.child;
    this.signal('SIGSTOP');
    // A thread that is still running could answer.
    const tasks = `/proc/${pid}/task`;
    const isPaused = (id: string) =>
      /^State:\tT/m.test(readFileSync(`${tasks}/${id}/status`, 'utf8'));
    while (!readdirSync(tasks).every(isPaused)) await sleep(1);
  }

  signal(signal: NodeJS.Signals): void {
    this.#server?.child.kill(signal);
  }
}

/** One server, or a cluster of three that stores each message three times. */
export class NatsCluster {
  readonly nodes: readonly NatsNode[];
  /** The address for `--store`, with every server. */
  readonly url: string;
  readonly #login: NodeConnectionOptions;
  #manager: Promise<JetStreamManager> | undefined;

  constructor(nodes: readonly NatsNode[], login: NodeConnectionOptions) {
    this.nodes = nodes;
    this.#login = login;
    this.url = `nats://${nodes.map(({ port }) => `127.0.0.1:${port}`).join(',')}`;
  }

  /** Opens a connection, which ends with the test. */
  async connect(): Promise<NatsConnection> {
    const connection = await connect({
      servers: this.nodes.map(({ port }) => `127.0.0.1:${port}`),
      maxReconnectAttempts: -1,
      reconnectTimeWait: 100,
      ...this.#login,
    });
    onTestFinished(() => connection.close());
    return connection;
  }

  manager(): Promise<JetStreamManager> {
    const options = { checkAPI: false, timeout: 1_000 };
    return (this.#manager ??= this.connect().then((nats) => jetstreamManager(nats, options)));
  }

  /** Returns the stream as its leader sees it. */
  async stream(name: string): Promise<StreamInfo> {
    const manager = await this.manager();
    return until(() => manager.streams.info(name).catch(() => undefined));
  }

  /** Waits until a node leads the stream and returns it. */
  async leaderOf(name: string): Promise<NatsNode> {
    return until(async () => {
      const { cluster } = await this.stream(name);
      const leader = cluster === undefined ? 'n0' : cluster.leader;
      return this.nodes.find((node) => node.name === leader && node.isRunning);
    });
  }

  /** Pauses a server for a while, so that the others don't know whether it is alive. */
  async pause(node: NatsNode, ms: number): Promise<void> {
    node.signal('SIGSTOP');
    await sleep(ms);
    node.signal('SIGCONT');
  }

  /** Makes another server the stream's leader. */
  async stepDown(name: string): Promise<void> {
    const before = await this.leaderOf(name);
    const nats = await this.connect();
    // The servers may elect the same leader again, so this asks until another server leads.
    for (let asks = 0; (await this.leaderOf(name)) === before; asks++) {
      if (asks % 20 === 0) await nats.request(`$JS.API.STREAM.LEADER.STEPDOWN.${name}`);
      await sleep(500);
    }
  }

  /** Returns every message of the stream, as text, in order. */
  async messages(name: string) {
    const { state } = await this.stream(name);
    const js = (await this.manager()).jetstream();
    if (state.messages === 0) return [];
    const found = [];
    const consumer = await until(() => js.consumers.get(name).catch(() => undefined));
    for await (const message of await consumer.consume()) {
      found.push({
        seq: message.seq,
        subject: message.subject,
        id: message.headers?.get('Nats-Msg-Id') ?? '',
        text: message.string(),
      });
      if (message.seq >= state.last_seq) break;
    }
    return found;
  }

  /** Waits until JetStream is ready on every node. */
  async ready(): Promise<void> {
    await until(async () => {
      const healthOf = (node: NatsNode) => fetch(`http://127.0.0.1:${node.monitorPort}/healthz`);
      const answers = await Promise.all(this.nodes.map(healthOf));
      return answers.every(({ ok }) => ok);
    });
  }
}

/** Returns free ports below those of outgoing connections, so that a restart finds them free. */
export async function freePorts(count: number): Promise<number[]> {
  const ports = new Set<number>();
  while (ports.size < count) {
    const port = 15_000 + Math.floor(Math.random() * 15_000);
    const server = createServer().listen(port, '127.0.0.1');
    const isFree = await once(server, 'listening').then(
      () => true,
      () => false,
    );
    server.close();
    if (isFree) ports.add(port);
  }
  return [...ports];
}

/** Returns the text of a user's credentials file, as `nsc` writes it. */
export const credentialsText = (jwt: string, seed: string): string => `-----BEGIN NATS USER JWT-----
${jwt}
------END NATS USER JWT------

************************* IMPORTANT *************************
-----BEGIN USER NKEY SEED-----
${seed}
------END USER NKEY SEED------
`;
