import { readFileSync } from 'node:fs';
import type { NatsConnection } from '@nats-io/transport-node';
import { errnoOf, EXIT, Fatal, reasonOf } from '../fatal.ts';
import type { Log } from '../log.ts';
import type { ClusterAddress } from './address.ts';
import { type Client, loadClient } from './load.ts';

export interface ConnectOptions {
  readonly address: ClusterAddress;
  /** A file with a user's JWT and seed. */
  readonly credsFile: string | undefined;
  readonly log: Log;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}

/** A connection to a NATS cluster, which is made again for ever whenever it is lost. */
export interface Cluster {
  readonly client: Client;
  readonly connection: NatsConnection;
  /** The server at the other end, as `host:port`; `undefined` while there is none. */
  readonly server: string | undefined;
  readonly disconnectedSinceMs: number | undefined;
  /** Calls `told` whenever the connection is lost or made again. */
  onChange(told: () => void): void;
  /** Sends what is to be sent, and ends the connection. Never rejects. */
  close(): Promise<void>;
}

const CONNECT_TIMEOUT_MS = 5_000;
/** A server that hangs is left after three of these. */
const PING_MS = 3_000;
const RECONNECT_MS = 500;

/**
 * Connects to one of the cluster's servers.
 * @throws {Fatal} exit 69 where none is reached, 78 where they refuse the credentials or the file
 * of these cannot be used.
 */
export async function connectCluster(options: ConnectOptions): Promise<Cluster> {
  const { address, credsFile } = options;
  const client = await loadClient();
  const creds = credsFile === undefined ? undefined : readCreds(credsFile, client);
  try {
    const connection = await client.connect({
      servers: [...address.servers],
      name: 'viewlog',
      ...address.login,
      ...(creds && { authenticator: creds }),
      ...(address.isTls && { tls: {} }),
      timeout: CONNECT_TIMEOUT_MS,
      pingInterval: PING_MS,
      maxReconnectAttempts: -1,
      reconnectTimeWait: RECONNECT_MS,
      reconnectJitter: RECONNECT_MS,
      reconnectJitterTLS: RECONNECT_MS,
      // Who may log in is mended on the servers, while viewlog runs.
      ignoreAuthErrorAbort: true,
      noAsyncTraces: true,
    });
    return new WatchedCluster(client, connection, options);
  } catch (error) {
    throw cannotConnect(error, options, client);
  }
}

class WatchedCluster implements Cluster {
  readonly client: Client;
  readonly connection: NatsConnection;
  server: string | undefined;
  disconnectedSinceMs: number | undefined;
  readonly #told: (() => void)[] = [];
  #closing = false;

  constructor(client: Client, connection: NatsConnection, { log, now }: ConnectOptions) {
    this.client = client;
    this.connection = connection;
    this.server = connection.getServer();
    void this.#watch(log, now);
  }

  onChange(told: () => void): void {
    this.#told.push(told);
  }

  async close(): Promise<void> {
    this.#closing = true;
    // Without a server there is nobody to send to: draining would wait for one.
    const end = this.server === undefined ? this.connection.close() : this.connection.drain();
    await end.catch(() => {});
  }

  async #watch(log: Log, now: () => number): Promise<void> {
    for await (const status of this.connection.status()) {
      if (this.#closing) continue;
      if (status.type === 'disconnect' && this.server !== undefined) {
        log.warn(`The connection to NATS server ${this.server} is lost; connecting again`);
        this.server = undefined;
        this.disconnectedSinceMs = now();
      } else if (status.type === 'reconnect') {
        this.server = this.connection.getServer();
        this.disconnectedSinceMs = undefined;
        log.info(`Connected to NATS server ${this.server} again`);
      } else continue;
      for (const told of this.#told) told();
    }
  }
}

/**
 * Reads the file anew for each connection, since users' credentials expire and are replaced; one
 * that is gone or faulty by then changes nothing.
 */
function readCreds(path: string, client: Client) {
  let last: Uint8Array;
  const read = (): Uint8Array => {
    const bytes = readFileSync(path);
    client.credsAuthenticator(bytes)('nonce');
    return bytes;
  };
  try {
    last = read();
  } catch (error) {
    // What is wrong inside is not told: it would be a piece of the secret.
    const why = errnoOf(error) === undefined ? 'it holds no JWT and seed' : reasonOf(error);
    throw new Fatal(EXIT.badConfiguration, `Cannot use NATS credentials file "${path}": ${why}`);
  }
  return client.credsAuthenticator(() => {
    try {
      last = read();
    } catch {}
    return last;
  });
}

function cannotConnect(error: unknown, options: ConnectOptions, client: Client): Fatal {
  const { address, credsFile } = options;
  const at = `the NATS cluster at ${address.servers.join(', ')}`;
  const { AuthorizationError, UserAuthenticationExpiredError } = client.errors;
  if (error instanceof AuthorizationError || error instanceof UserAuthenticationExpiredError) {
    const given = credsFile !== undefined || address.login !== undefined;
    const todo = given ? 'check them' : 'give --nats-creds, or user:password@ before the host';
    return new Fatal(EXIT.badConfiguration, `Cannot log in to ${at}: ${reasonOf(error)}; ${todo}`);
  }
  return new Fatal(EXIT.unavailable, `Cannot reach ${at}: ${reasonOf(error)}`);
}
