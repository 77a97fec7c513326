import { createServer, type Server } from 'node:http';
import { Server as NetServer, type Socket } from 'node:net';
import { Connection, SWEEP_MS } from './connection.ts';
import { FewHeaders } from './few-headers.ts';
import { type Listener, type ListenOptions, TIMING, urlOf } from './listener.ts';
import { NodeExchange } from './node-exchange.ts';
import { OneWriteResponse } from './one-write-response.ts';

/**
 * @param fd a listening socket to use instead of the address.
 * @throws the system's error if it cannot listen there.
 */
export async function listenOnNode(options: ListenOptions, fd?: number): Promise<Listener> {
  const { handler, budget, unreadMs = TIMING.unreadMs } = options;
  const connections = new Map<Socket, Connection>();
  let isStopping = false;
  const server = createServer(
    {
      headersTimeout: TIMING.headersTimeoutMs,
      requestTimeout: TIMING.requestTimeoutMs,
      keepAliveTimeout: TIMING.keepAliveMs,
      connectionsCheckingInterval: 5_000,
      ServerResponse: OneWriteResponse,
      IncomingMessage: FewHeaders,
    },
    (incoming, outgoing) => {
      if (isStopping) outgoing.shouldKeepAlive = false;
      const connection = connections.get(incoming.socket)!;
      const exchange = new NodeExchange(incoming, outgoing, connection, handler, budget);
      // Its refusal would have to wait for this connection's other answers.
      if (exchange.reservation.isRefused && !connection.isIdle) incoming.socket.destroy();
      else connection.enqueue(exchange);
    },
  );
  server.on('connection', (socket) => {
    connections.set(socket, new Connection(socket, unreadMs));
    socket.on('close', () => connections.delete(socket));
  });
  // A client may end its side once it has sent its views, and still wait for the answers.
  (server as { httpAllowHalfOpen?: boolean }).httpAllowHalfOpen = true;
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(fd === undefined ? { host: options.host, port: options.port } : { fd }, resolve);
  });
  const sweep = setInterval(() => {
    for (const connection of connections.values()) connection.sweep();
  }, SWEEP_MS);
  server.on('close', () => clearInterval(sweep));
  const address = server.address();
  if (typeof address !== 'object' || address === null) throw new Error('it is not a TCP socket');
  return {
    // A host name stays as it was given.
    url: urlOf(fd === undefined ? options.host : address.address, address.port),
    stop(timeoutMs) {
      isStopping = true;
      return stopNode(server, timeoutMs);
    },
  };
}

/**
 * Connections without a request stay open this long in a stop, because a request may be on its way.
 * Its answer ends the connection.
 */
const IDLE_MS = 250;

export async function stopNode(
  server: NetServer & Pick<Server, 'closeIdleConnections' | 'closeAllConnections'>,
  timeoutMs: number,
): Promise<void> {
  // `close()` of an HTTP server would also end idle connections, at once.
  const closed = new Promise<void>((resolve) => {
    NetServer.prototype.close.call(server, () => resolve());
  });
  const cutOff = setTimeout(() => server.closeAllConnections(), timeoutMs);
  const endIdle = (): void => {
    server.closeIdleConnections();
    sweep = setTimeout(endIdle, 20); // a connection becomes idle when its answer is out
  };
  let sweep = setTimeout(endIdle, IDLE_MS);
  await closed;
  clearTimeout(sweep);
  clearTimeout(cutOff);
}
