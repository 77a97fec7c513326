import { readFileSync } from 'node:fs';
import type { Authenticator, NatsConnection } from '@nats-io/transport-node';
import { EXIT, Fatal, reasonOf } from '../base/exit.ts';
import type { Log } from '../base/log.ts';
import { printable } from '../base/text.ts';
import type { ClusterAddress } from './address.ts';
import { type Client, loadClient } from './load.ts';

export interface ConnectOptions {
  readonly address: ClusterAddress;
  /** A file with a user's JWT and seed. */
  readonly credsFile: string | undefined;
  readonly log: Log;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  /** The client has given up, which it should not: the process must end. */
  readonly onFatal: (fatal: Fatal) => void;
}

/** A connection to a NATS cluster, made again for ever whenever it is lost. */
export interface Cluster {
  readonly client: Client;
  readonly connection: NatsConnection;
  /** Those that the operator has named, as `host:port`. */
  readonly servers: readonly string[];
  /** The server at the other end, as `host:port`; `undefined` while there is none. */
  readonly server: string | undefined;
  readonly disconnectedSinceMs: number | undefined;
  /** How often the connection was lost. */
  readonly losses: number;
  /** Calls `told` whenever the connection is lost or made again. */
  onChange(told: () => void): void;
  /** Sends what is to be sent, as far as the time allows, and ends the connection. */
  close(timeoutMs: number): Promise<void>;
}

const CONNECT_TIMEOUT_MS = 5_000;
/** A server that hangs is left after three of these. */
const PING_MS = 3_000;
const RECONNECT_MS = 500;

/**
 * Connects to the first of the cluster's servers that takes it, in random order.
 * @throws {Fatal} exit 69 where none is reached, 78 where they refuse the credentials or the file
 * of these cannot be used.
 */
export async function connectCluster(options: ConnectOptions): Promise<Cluster> {
  const { address, credsFile } = options;
  const client = await loadClient();
  const { AuthorizationError, UserAuthenticationExpiredError } = client.errors;
  const creds = credsFile === undefined ? undefined : authenticator(credsFile, client);
  const reasons = new Set<string>();
  for (const server of shuffled(address.servers)) {
    try {
      const connection = await client.connect(clientOptions(server, address, creds));
      return new WatchedCluster(client, connection, options);
    } catch (error) {
      if (error instanceof AuthorizationError || error instanceof UserAuthenticationExpiredError) {
        throw notAuthorized(error, server, options);
      }
      reasons.add(reasonOf(error) + hintFor(error, client));
    }
  }
  const at = address.servers.join(', ');
  const why = [...reasons].join('; ');
  throw new Fatal(EXIT.unavailable, `Cannot reach the NATS cluster at ${at}: ${why}`);
}

function clientOptions(
  server: string,
  { isTls, login }: ClusterAddress,
  creds: Authenticator | undefined,
) {
  return {
    servers: [server],
    name: 'viewlog',
    ...login,
    ...(creds && { authenticator: creds }),
    ...(isTls && { tls: {} }),
    timeout: CONNECT_TIMEOUT_MS,
    pingInterval: PING_MS,
    maxReconnectAttempts: -1,
    reconnectTimeWait: RECONNECT_MS,
    reconnectJitter: RECONNECT_MS,
    reconnectJitterTLS: RECONNECT_MS,
    // Once running, who may log in is mended on the servers.
    ignoreAuthErrorAbort: true,
    noAsyncTraces: true,
  };
}

/** What the operator can do about a server that does not take us, where that is known. */
function hintFor(error: unknown, client: Client): string {
  const reason = reasonOf(error);
  if (error instanceof client.errors.TimeoutError) {
    const seconds = CONNECT_TIMEOUT_MS / 1000;
    return ` (no answer in ${seconds} s, as of a server that asks for a client's certificate)`;
  }
  if (reason.includes("does not support 'tls'")) return ' (nats:// asks for none)';
  const isUnknownAuthority = /self[- ]signed|unable to (verify|get)/i.test(reason);
  return isUnknownAuthority ? ` (${AUTHORITY} names a private authority)` : '';
}

const AUTHORITY = 'NODE_EXTRA_CA_CERTS, on Deno DENO_CERT,';

const shuffled = (servers: readonly string[]): string[] =>
  servers
    .map((server) => ({ server, at: Math.random() }))
    .toSorted((a, b) => a.at - b.at)
    .map(({ server }) => server);

class WatchedCluster implements Cluster {
  readonly client: Client;
  readonly connection: NatsConnection;
  readonly servers: readonly string[];
  server: string | undefined;
  disconnectedSinceMs: number | undefined;
  losses = 0;
  readonly #options: ConnectOptions;
  readonly #told: (() => void)[] = [];
  #lastError = '';
  #closing = false;

  constructor(client: Client, connection: NatsConnection, options: ConnectOptions) {
    const { servers } = options.address;
    this.client = client;
    this.connection = connection;
    this.servers = servers;
    this.server = connection.getServer();
    this.#options = options;
    // Beside the one that answered, and those that it told of.
    const known = connection.getServers().map(({ listen }) => listen);
    connection.setServers([...new Set([...known, ...servers])]);
    void this.#watch();
    void this.#awaitEnd();
  }

  onChange(told: () => void): void {
    this.#told.push(told);
  }

  async close(timeoutMs: number): Promise<void> {
    this.#closing = true;
    // Without a server draining would wait for one.
    const end = this.server === undefined ? this.connection.close() : this.connection.drain();
    const timeout = new Promise<void>((resolve) => setTimeout(resolve, timeoutMs).unref());
    await Promise.race([end.catch(() => {}), timeout]);
  }

  async #watch(): Promise<void> {
    const { log, now } = this.#options;
    for await (const status of this.connection.status()) {
      if (this.#closing) continue;
      if (status.type === 'disconnect' && this.server !== undefined) {
        log.error(`The connection to NATS server ${this.server} is lost; connecting again`);
        this.server = undefined;
        this.disconnectedSinceMs = now();
        this.losses += 1;
        for (const told of this.#told) told();
      } else if (status.type === 'reconnect') {
        this.server = this.connection.getServer();
        this.disconnectedSinceMs = undefined;
        this.#lastError = '';
        log.info(`Connected to NATS server ${this.server}`);
        for (const told of this.#told) told();
      } else if (status.type === 'error') this.#tell(status.error);
    }
  }

  /** What a server says against us: a permission that is missing, credentials that have expired. */
  #tell({ message }: Error): void {
    if (message === this.#lastError) return;
    this.#lastError = message;
    this.#options.log.error(`The NATS server says: ${printable(message)}`);
  }

  async #awaitEnd(): Promise<void> {
    const error = await this.connection.closed();
    if (this.#closing) return;
    const why = error === undefined ? '' : `: ${reasonOf(error)}`;
    const message = `The connection to the NATS cluster has ended for good${why}`;
    this.#options.onFatal(new Fatal(EXIT.unavailable, message));
  }
}

/**
 * Reads the file anew for each connection, since users' credentials expire and are replaced; one
 * that is gone or faulty by then changes nothing.
 */
function authenticator(path: string, client: Client): Authenticator {
  const fatal = (why: string): Fatal =>
    new Fatal(EXIT.badConfiguration, `Cannot use NATS credentials file "${path}": ${why}`);
  let last: Uint8Array;
  try {
    last = readFileSync(path);
  } catch (error) {
    throw fatal(reasonOf(error));
  }
  // What is wrong inside is not told: it would be a piece of the secret.
  if (!isSound(last, client)) throw fatal('it holds no JWT and seed');
  return client.credsAuthenticator(() => {
    try {
      const bytes = readFileSync(path);
      if (isSound(bytes, client)) last = bytes;
    } catch {
      // Should the last ones be of no use any more, the server says so.
    }
    return last;
  });
}

function isSound(creds: Uint8Array, client: Client): boolean {
  try {
    client.credsAuthenticator(creds)('nonce');
    return true;
  } catch {
    return false;
  }
}

function notAuthorized(error: Error, server: string, options: ConnectOptions): Fatal {
  const given = options.credsFile !== undefined || options.address.login !== undefined;
  const todo = given
    ? 'check the credentials'
    : 'give --nats-creds, or user:password@ before the host';
  return new Fatal(
    EXIT.badConfiguration,
    `Cannot log in to NATS server ${server}: ${reasonOf(error)}; ${todo}`,
  );
}
