import type { NatsConnection, PermissionViolationError } from '@nats-io/transport-node';
import { EXIT, Fatal, errorText } from '../base/exit.ts';
import { isAtLeast } from '../base/format.ts';
import type { Log } from '../base/log.ts';
import { printable } from '../base/text.ts';
import { within } from '../base/time.ts';
import type { ClusterAddress } from './address.ts';
import type * as client from './client.ts';
import { credentials } from './credentials.ts';

export interface ConnectOptions {
  readonly address: ClusterAddress;
  /** A file with a user's JWT and seed. */
  readonly credsFile: string | undefined;
  readonly log: Log;
  /** Called if the client has given up, although it never should: the process must end. */
  readonly onFatal: (fatal: Fatal) => void;
  /** True: without a connection, views are refused. */
  readonly isCollector?: boolean;
}

type Client = typeof client;

const CONNECT_TIMEOUT_MS = 5_000;
/** The client gives up on a server after two unanswered pings, when the third is due. */
const PING_MS = 3_000;
const RECONNECT_MS = 500;

/** Older servers are refused. */
const OLDEST = '2.9.0';
/** The replicas of older servers can differ after a pause. */
const OLDEST_RELIABLE = '2.10.0';

/**
 * Connects to one of the cluster's servers.
 * @throws {Fatal} exit 69 if none is reached, 78 if a server refuses the credentials or their file
 *   can't be used.
 */
export async function connectCluster(options: ConnectOptions): Promise<Cluster> {
  const { address, credsFile } = options;
  const creds = credsFile === undefined ? undefined : credentials(credsFile);
  // Most collectors write files and never need the client, so it is evaluated only now.
  const nats = await import('./client.ts');
  try {
    const connection = await nats.connect({
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
      // Keeps trying after a refused login, because an operator may correct the login on the
      // servers.
      ignoreAuthErrorAbort: true,
      noAsyncTraces: true,
    });
    const cluster = new Cluster(nats, connection, options);
    if (!isAtLeast(OLDEST, cluster.version)) {
      throw new Fatal(
        EXIT.badConfiguration,
        `NATS server ${cluster.server} has version ${cluster.version}; use 2.10 or later`,
      );
    }
    return cluster;
  } catch (error) {
    throw error instanceof Fatal ? error : cannotConnect(error, options, nats);
  }
}

function cannotConnect(error: unknown, { address, credsFile }: ConnectOptions, nats: Client) {
  const { AuthorizationError, UserAuthenticationExpiredError } = nats.errors;
  const cluster = `the NATS cluster at ${address.servers.join(', ')}`;
  const reason = errorText(error);
  if (error instanceof AuthorizationError || error instanceof UserAuthenticationExpiredError) {
    const hasLogin = credsFile !== undefined || address.login !== undefined;
    const todo = hasLogin
      ? 'check the credentials'
      : 'pass --nats-creds or user:password@HOST in the address';
    return new Fatal(EXIT.badConfiguration, `Can't log in to ${cluster}: ${reason}; ${todo}`);
  }
  const known = UNREACHED.find(([pattern]) => pattern.test(reason))?.[1] ?? reason;
  const isDistrusted = /self[- ]signed|unable to (verify|get)/i.test(reason);
  return new Fatal(
    EXIT.unavailable,
    `Can't reach ${cluster}: ${known}${isDistrusted ? AUTHORITY : '; check the address and that the servers are running'}`,
  );
}

const UNREACHED: readonly (readonly [RegExp, string])[] = [
  [/^timeout$/i, `no answer within ${CONNECT_TIMEOUT_MS / 1000} s`],
  [/ENOTFOUND|EAI_AGAIN/, "the host name can't be resolved"],
];

const AUTHORITY =
  ' (for a private certificate authority, set NODE_EXTRA_CA_CERTS, or DENO_CERT on Deno)';

const REPORT_MS = 1_000;

/** @param version empty while the client connects again. */
export function versionWarnings(version: string, server: string | undefined): string[] {
  if (version === '' || isAtLeast(OLDEST_RELIABLE, version)) return [];
  const which = server === undefined ? 'The last NATS server' : `NATS server ${server}`;
  return [
    `${which} has version ${version}: after a pause or a crash, a stream's ` +
      'replicas can differ, and acknowledged views can be missing; use nats-server 2.10 or later',
  ];
}

/** A connection to a NATS cluster. The client connects again whenever the connection is lost. */
export class Cluster {
  readonly client: Client;
  readonly connection: NatsConnection;
  /** The servers that the operator named, as `host:port`. */
  readonly servers: readonly string[];
  /** The server at the other end, as `host:port`; `undefined` while there is none. */
  server: string | undefined;
  /** Milliseconds since the epoch. */
  disconnectedSinceMs: number | undefined;
  /** How often the connection was lost. */
  losses = 0;
  readonly #options: ConnectOptions;
  readonly #listeners: (() => void)[] = [];
  /** The permission that the server has denied viewlog. */
  #denied: PermissionViolationError | undefined;
  #lastError = '';
  #isClosing = false;

  constructor(nats: Client, connection: NatsConnection, options: ConnectOptions) {
    const { servers } = options.address;
    this.client = nats;
    this.connection = connection;
    this.servers = servers;
    this.server = connection.getServer();
    this.#options = options;
    // The client has dropped the servers that didn't answer at first.
    const known = connection.getServers().map(({ listen }) => listen);
    connection.setServers([...new Set([...known, ...servers])]);
    for (const warning of this.warnings) options.log.warn(warning);
    void this.#watch();
  }

  /** The version of the server at the other end or of the last one; empty if it is unknown. */
  get version(): string {
    return this.connection.info?.version ?? '';
  }

  /** Warnings about the servers, for the operator. */
  get warnings(): string[] {
    return versionWarnings(this.version, this.server);
  }

  /**
   * @param error the error of a failed request.
   * @throws {Fatal} exit 78, naming the permission, if the servers have denied viewlog one.
   */
  refuseDenied(error: unknown): void {
    const fatal = this.denialIn(error);
    if (fatal !== undefined) throw fatal;
  }

  /** Returns what `refuseDenied` throws. */
  denialIn(error: unknown): Fatal | undefined {
    // A request can fail before `#watch` hears of the denial.
    const denied = this.#deniedIn(error) ?? this.#deniedIn((error as Error).cause) ?? this.#denied;
    if (denied === undefined) return undefined;
    const { operation } = denied;
    const what = operation === 'publish' ? 'publish to' : 'subscribe to';
    // The rest of an inbox's name is random.
    const subject = printable(denied.subject.replace(/^_INBOX\..*/s, '_INBOX.>'));
    return new Fatal(
      EXIT.badConfiguration,
      `The NATS user isn't allowed to ${what} "${subject}"; allow it to ${what} "${subject.replace(/\.probe$/, '.>')}"`,
    );
  }

  /** Calls the listener whenever the connection is lost or made again. */
  onChange(listener: () => void): void {
    this.#listeners.push(listener);
  }

  /** Sends queued messages, as far as the time allows, and ends the connection. */
  async close(timeoutMs: number): Promise<void> {
    this.#isClosing = true;
    // Draining would wait for a server.
    const end = this.server === undefined ? this.connection.close() : this.connection.drain();
    await within(
      timeoutMs,
      end.catch(() => {}),
    );
  }

  async #watch(): Promise<void> {
    const { log, onFatal } = this.#options;
    for await (const status of this.connection.status()) {
      if (this.#isClosing) continue;
      if (status.type === 'disconnect' && this.server !== undefined) {
        const effect = this.#options.isCollector
          ? 'refusing views and reconnecting'
          : 'reconnecting';
        log.error(`Lost the connection to NATS server ${this.server}; ${effect}`);
        this.losses += 1;
        this.#set(undefined, Date.now());
      } else if (status.type === 'reconnect' && this.server === undefined) {
        // For each refused login, the client reports the reconnection once more; the first counts.
        const server = this.connection.getServer();
        log.info(`Connected to NATS server ${server}`);
        this.#lastError = '';
        this.#set(server, undefined);
      } else if (status.type === 'error') {
        const { error } = status;
        this.#denied = this.#deniedIn(error) ?? this.#denied;
        if (error.message === this.#lastError) continue;
        // A permission is missing, or credentials have expired.
        this.#lastError = error.message;
        // Logs the error later, because a start that lacks a permission ends with its own message.
        const report = `The NATS server reports: ${printable(error.message)}`;
        setTimeout(() => log.error(report), REPORT_MS).unref();
      }
    }
    if (this.#isClosing) return;
    onFatal(
      new Fatal(EXIT.unavailable, 'The NATS client has given up connecting; start viewlog again'),
    );
  }

  #deniedIn(error: unknown): PermissionViolationError | undefined {
    return error instanceof this.client.errors.PermissionViolationError ? error : undefined;
  }

  #set(server: string | undefined, disconnectedSinceMs: number | undefined): void {
    this.server = server;
    this.disconnectedSinceMs = disconnectedSinceMs;
    for (const listener of this.#listeners) listener();
  }
}
