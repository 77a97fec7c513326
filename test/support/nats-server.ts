import { type ChildProcess, spawn } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { jetstreamManager, type JetStreamManager, type StreamInfo } from '@nats-io/jetstream';
import { connect, type NatsConnection, type NodeConnectionOptions } from '@nats-io/transport-node';
import { onTestFinished } from 'vitest';
import { isHere } from './runtimes.ts';
import { tempDir } from './temp-dir.ts';
import { until } from './viewlog.ts';

// Real NATS servers on free ports of loopback, in directories of their own.

const PROGRAM = '/usr/sbin/nats-server';

export const canRunNats = (): boolean => isHere(PROGRAM, `nats-server (${PROGRAM})`);

export interface NatsOptions {
  /** Lines for each server's configuration: users, TLS, limits. */
  readonly config?: string;
  /** Without JetStream, a server passes messages on and stores none. */
  readonly jetstream?: boolean;
  /** The login of the test's own connection. */
  readonly login?: NodeConnectionOptions;
}

interface StoredMessage {
  readonly seq: number;
  readonly subject: string;
  readonly id: string;
  readonly text: string;
}

/** Starts a single server. */
export const startNats = (options: NatsOptions = {}): Promise<NatsCluster> =>
  startNodes(1, options);

/** Starts a cluster of three servers. */
export const startNatsCluster = (options: NatsOptions = {}): Promise<NatsCluster> =>
  startNodes(3, options);

async function startNodes(count: number, options: NatsOptions): Promise<NatsCluster> {
  const ports = await freePorts(3 * count);
  const dir = tempDir();
  const routes = ports.slice(2 * count);
  const nodes = Array.from({ length: count }, (_, i) => {
    const config = join(dir, `n${i}.conf`);
    const storeDir = join(dir, `n${i}`);
    mkdirSync(storeDir);
    const jetstream = `
jetstream { store_dir: "${storeDir}", max_memory_store: 16MB, max_file_store: 4GB }`;
    const cluster = `
cluster { name: test, listen: "127.0.0.1:${routes[i]}", routes: [
  ${routes.map((port) => `"nats-route://127.0.0.1:${port}"`).join(', ')}
] }`;
    writeFileSync(
      config,
      `
server_name: n${i}
listen: "127.0.0.1:${ports[i]}"
http: "127.0.0.1:${ports[count + i]}"
${options.jetstream === false ? '' : jetstream}
${count > 1 ? cluster : ''}
${options.config ?? ''}`,
    );
    return new NatsNode(`n${i}`, ports[i]!, ports[count + i]!, config, storeDir);
  });
  onTestFinished(async () => {
    await Promise.all(nodes.map((node) => node.stop('SIGKILL')));
  });
  const cluster = new NatsCluster(nodes, options);
  await Promise.all(nodes.map((node) => node.start()));
  await cluster.ready();
  return cluster;
}

/** A server. */
export class NatsNode {
  readonly name: string;
  readonly port: number;
  readonly monitorPort: number;
  readonly storeDir: string;
  readonly #config: string;
  #child: ChildProcess | undefined;
  #ended: Promise<void> = Promise.resolve();
  #said = '';

  constructor(name: string, port: number, monitorPort: number, config: string, storeDir: string) {
    this.name = name;
    this.port = port;
    this.monitorPort = monitorPort;
    this.#config = config;
    this.storeDir = storeDir;
  }

  get isRunning(): boolean {
    return this.#child !== undefined;
  }

  async start(): Promise<void> {
    const child = spawn(PROGRAM, ['-c', this.#config], { stdio: ['ignore', 'ignore', 'pipe'] });
    this.#child = child;
    this.#said = '';
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      this.#said = (this.#said + text).slice(-10_000);
    });
    this.#ended = new Promise((resolve) => {
      child.once('close', () => {
        if (this.#child === child) this.#child = undefined;
        resolve();
      });
    });
    await until(() => {
      if (!this.isRunning) throw new Error(`nats-server ended: ${this.#said}`);
      return this.#said.includes('Server is ready');
    });
  }

  async stop(signal: NodeJS.Signals): Promise<void> {
    this.#child?.kill(signal);
    await this.#ended;
  }

  signal(signal: NodeJS.Signals): void {
    this.#child?.kill(signal);
  }

  async metaCluster(): Promise<MetaCluster | undefined> {
    const answer = await fetch(`http://127.0.0.1:${this.monitorPort}/jsz`);
    return ((await answer.json()) as { meta_cluster?: MetaCluster }).meta_cluster;
  }
}

/** One server, or a cluster of three that stores each message three times. */
export class NatsCluster {
  readonly nodes: readonly NatsNode[];
  /** The address for `--store`, with every server. */
  readonly url: string;
  readonly #options: NatsOptions;
  #manager: Promise<JetStreamManager> | undefined;

  constructor(nodes: readonly NatsNode[], options: NatsOptions) {
    this.nodes = nodes;
    this.#options = options;
    this.url = `nats://${nodes.map(({ port }) => `127.0.0.1:${port}`).join(',')}`;
  }

  /** Opens a connection, which ends with the test. */
  async connect(): Promise<NatsConnection> {
    const connection = await connect({
      servers: this.nodes.map(({ port }) => `127.0.0.1:${port}`),
      maxReconnectAttempts: -1,
      reconnectTimeWait: 100,
      ...this.#options.login,
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

  /** Waits until a node leads the stream, and returns it. */
  async leaderOf(name: string): Promise<NatsNode> {
    return until(async () => {
      const { cluster } = await this.stream(name);
      const leader = cluster === undefined ? 'n0' : cluster.leader;
      return this.nodes.find((node) => node.name === leader && node.isRunning);
    });
  }

  /** Returns every message of the stream, as text, in order. */
  async messages(name: string): Promise<StoredMessage[]> {
    const { state } = await this.stream(name);
    const js = (await this.manager()).jetstream();
    const found: StoredMessage[] = [];
    if (state.messages === 0) return found;
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

  /** Waits until JetStream answers on every running node. */
  async ready(): Promise<void> {
    const running = this.nodes.filter((node) => node.isRunning);
    if (this.nodes.length === 1) return;
    await until(async () => {
      const seen = await Promise.all(running.map((node) => node.metaCluster()));
      const leader = seen.find((meta, i) => meta?.leader === running[i]!.name);
      const current = leader?.replicas?.filter((peer) => peer.current && !peer.offline);
      return current?.length === running.length - 1;
    });
  }
}

/** JetStream's own group: its leader, and, as the leader sees them, the others. */
interface MetaCluster {
  readonly leader?: string;
  readonly replicas?: readonly { readonly current: boolean; readonly offline?: boolean }[];
}

/** Below the ports of outgoing connections, so that a restart finds them free. */
const PORT_MIN = 15_000;
const PORT_SPAN = 15_000;

async function freePorts(count: number): Promise<number[]> {
  const servers = [];
  while (servers.length < count) {
    const port = PORT_MIN + Math.floor(Math.random() * PORT_SPAN);
    const server = createServer();
    const isFree = await new Promise<boolean>((resolve) => {
      server.once('error', () => resolve(false));
      server.listen(port, '127.0.0.1', () => resolve(true));
    });
    if (isFree) servers.push({ port, server });
  }
  // The ports stay open until all are found, so that none is found twice.
  await Promise.all(
    servers.map(({ server }) => new Promise((resolve) => void server.close(resolve))),
  );
  return servers.map(({ port }) => port);
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
