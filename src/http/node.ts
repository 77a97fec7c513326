import { Server } from 'node:http';
import { Server as NetServer, type Socket } from 'node:net';
import { errnoOf } from '../base/exit.ts';
import { LIMITS } from '../base/limits.ts';
import { every } from '../base/time.ts';
import { FewHeaders } from './few-headers.ts';
import { type Listener, type ListenOptions, until, urlOf } from './listener.ts';
import {
  NodeConnection,
  NodeExchange,
  type NodeService,
  type StateLimits,
} from './node-connection.ts';
import { OneWriteResponse } from './one-write-response.ts';

type Limits = Readonly<
  Record<
    'headTimeoutMs' | 'bodyTimeoutMs' | 'idleTimeoutMs' | 'unreadTimeoutMs' | 'connectionsMax',
    number
  >
>;

/**
 * @param fd a listening socket to use instead of the address.
 * @throws the system's error if it can't listen there.
 */
export async function listenOnNode(
  { host, port, handler, budget }: ListenOptions,
  fd?: number,
  limits: Limits = LIMITS,
): Promise<Listener> {
  const connections = new Connections(limits);
  const service: NodeService = { handler, budget, isStopping: false };
  const server = new PatientServer(connections, optionsOf(limits), (incoming, outgoing) => {
    const connection = connections.ofRequest(incoming.socket);
    const exchange = new NodeExchange(incoming, outgoing, connection, service);
    // There is no memory for this request, and its refusal would have to wait for the answers to
    // the connection's other requests.
    if (exchange.reservation.isRefused && !connection.isIdle) connection.drop();
    else connection.enqueue(exchange);
  });
  server.on('connection', (socket) => connections.add(socket));
  // A client may end its side once it has sent its views, and still wait for the answers.
  (server as { httpAllowHalfOpen?: boolean }).httpAllowHalfOpen = true;
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(fd === undefined ? { host, port } : { fd }, resolve);
  });
  const endSweep = every(LIMITS.sweepMs, () => connections.sweep());
  const bound = server.address();
  if (typeof bound !== 'object' || bound === null) throw new Error("it isn't a TCP socket");
  // Keeps a host name as it was given.
  const address = { host: fd === undefined ? host : bound.address, port: bound.port };
  return {
    address,
    url: urlOf(address),
    async stop(timeoutMs) {
      service.isStopping = true;
      // `close()` of an HTTP server would immediately end idle connections too.
      NetServer.prototype.close.call(server);
      await until(() => connections.count === 0, LIMITS.stopIdleMs);
      await until(() => connections.closeIdle(), timeoutMs - LIMITS.stopIdleMs);
      server.closeAllConnections();
      endSweep();
    },
  };
}

/** How often Node looks for heads that take too long. */
const headCheckMsOf = ({ headTimeoutMs }: Limits): number => headTimeoutMs / 4;

const optionsOf = (limits: Limits) => ({
  headersTimeout: limits.headTimeoutMs,
  // Longer than viewlog's own timeout for a body, which answers with the reason.
  requestTimeout: limits.headTimeoutMs + 1.5 * limits.bodyTimeoutMs,
  keepAliveTimeout: limits.idleTimeoutMs,
  connectionsCheckingInterval: headCheckMsOf(limits),
  // The insecure parser accepts headers that Node refuses to send back.
  insecureHTTPParser: false,
  ServerResponse: OneWriteResponse,
  IncomingMessage: FewHeaders,
});

type ServerArguments = ConstructorParameters<
  typeof Server<typeof FewHeaders, typeof OneWriteResponse>
>;

/**
 * Lets `Connections` handle the errors for which Node would end a connection without giving a
 * reason.
 */
class PatientServer extends Server<typeof FewHeaders, typeof OneWriteResponse> {
  readonly #connections: Connections;

  constructor(connections: Connections, ...args: ServerArguments) {
    super(...args);
    this.#connections = connections;
  }

  /** Node itself ends the connection unless this returns true. */
  override emit(name: string, ...args: unknown[]): boolean {
    if (name === 'clientError') {
      const [error, socket] = args as [unknown, Socket];
      if (this.#connections.survives(error, socket)) return true;
    }
    return super.emit(name, ...(args as []));
  }
}

/** The open connections of a server. */
class Connections {
  readonly #connectionsMax: number;
  readonly #stateLimits: StateLimits;
  /** Connections without a request so far, and the others; each in the order of their start. */
  readonly #unused = new Map<Socket, NodeConnection>();
  readonly #used = new Map<Socket, NodeConnection>();

  constructor(limits: Limits) {
    this.#connectionsMax = limits.connectionsMax;
    this.#stateLimits = {
      silent: limits.idleTimeoutMs,
      // Node ends these earlier, unless the client sends an empty line now and then.
      waiting: limits.idleTimeoutMs + limits.headTimeoutMs + headCheckMsOf(limits),
      arriving: limits.bodyTimeoutMs,
      // The store has its own timeout.
      answering: Infinity,
      unread: limits.unreadTimeoutMs,
    };
  }

  get count(): number {
    return this.#unused.size + this.#used.size;
  }

  /** Adds a connection; beyond the limit, closes the least useful one first. */
  add(socket: Socket): void {
    if (this.count >= this.#connectionsMax) this.#close(this.#leastUseful() ?? socket);
    if (socket.destroyed) return;
    this.#unused.set(socket, new NodeConnection(socket, this.#stateLimits));
    socket.on('close', () => this.#unused.delete(socket) || this.#used.delete(socket));
  }

  /** Returns the connection of a request, and marks the connection as used. */
  ofRequest(socket: Socket): NodeConnection {
    const used = this.#used.get(socket);
    if (used !== undefined) return used;
    const connection = this.#unused.get(socket)!;
    this.#unused.delete(socket);
    this.#used.set(socket, connection);
    return connection;
  }

  /** Returns whether the connection continues after this error of Node's. */
  survives(error: unknown, socket: Socket): boolean {
    const code = errnoOf(error);
    // Node's timeout for a head also ends connections that have sent nothing. A proxy may keep such
    // a connection for its next request.
    if (code === 'ERR_HTTP_REQUEST_TIMEOUT') return socket.bytesRead === 0;
    // The sender has ended its side, but can still read why its body is refused.
    return code === 'HPE_INVALID_EOF_STATE' && this.#used.get(socket)?.endBody() === true;
  }

  sweep(): void {
    for (const connection of this.#unused.values()) connection.sweep();
    for (const connection of this.#used.values()) connection.sweep();
  }

  /** Closes the connections without a request in flight. Returns true if there are no others. */
  closeIdle(): boolean {
    for (const socket of this.#unused.keys()) this.#close(socket);
    for (const [socket, { isIdle }] of this.#used) if (isIdle) this.#close(socket);
    return this.count === 0;
  }

  #close(socket: Socket): void {
    // Doesn't wait for the `close` event, which comes later.
    if (!this.#unused.delete(socket)) this.#used.delete(socket);
    socket.destroy();
  }

  /** Returns the oldest connection without a request so far, otherwise the oldest idle one. */
  #leastUseful(): Socket | undefined {
    for (const socket of this.#unused.keys()) return socket;
    for (const [socket, { isIdle }] of this.#used) if (isIdle) return socket;
    return undefined;
  }
}
