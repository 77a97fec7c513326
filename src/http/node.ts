import { createServer } from 'node:http';
import { Server as NetServer, type Socket } from 'node:net';
import { every } from '../base/time.ts';
import { Connection, SWEEP_MS } from './connection.ts';
import { FewHeaders } from './few-headers.ts';
import { KEEP_ALIVE_MS, type Listener, type ListenOptions, until, urlOf } from './listener.ts';
import { NodeExchange } from './node-exchange.ts';
import { OneWriteResponse } from './one-write-response.ts';

/** Above the body's own time-out, which answers with its reason. */
const REQUEST_TIMEOUT_MS = 25_000;
const HEADERS_TIMEOUT_MS = 10_000;
/** Node would otherwise keep unread answers forever. */
const UNREAD_MS = 30_000;
/**
 * Connections without a request stay open this long in a stop, because a request may be on its way.
 * Its answer ends the connection.
 */
const IDLE_MS = 250;

/**
 * @param fd a listening socket to use instead of the address.
 * @param unreadMs the time for which a client may leave its answers unread.
 * @throws the system's error if it cannot listen there.
 */
export async function listenOnNode(
  { host, port, handler, budget }: ListenOptions,
  fd?: number,
  unreadMs = UNREAD_MS,
): Promise<Listener> {
  const connections = new Map<Socket, Connection>();
  let isStopping = false;
  const server = createServer(
    {
      headersTimeout: HEADERS_TIMEOUT_MS,
      requestTimeout: REQUEST_TIMEOUT_MS,
      keepAliveTimeout: KEEP_ALIVE_MS,
      connectionsCheckingInterval: 5_000,
      // The other parser accepts headers that Node refuses to send back.
      insecureHTTPParser: false,
      ServerResponse: OneWriteResponse,
      IncomingMessage: FewHeaders,
    },
    (incoming, outgoing) => {
      if (isStopping) outgoing.shouldKeepAlive = false;
      const connection = connections.get(incoming.socket)!;
      outgoing.owner = connection;
      const exchange = new NodeExchange(incoming, outgoing, handler, budget);
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
    server.listen(fd === undefined ? { host, port } : { fd }, resolve);
  });
  const endSweep = every(SWEEP_MS, () => {
    for (const connection of connections.values()) connection.sweep();
  });
  const address = server.address();
  if (typeof address !== 'object' || address === null) throw new Error('it is not a TCP socket');
  return {
    // A host name stays as it was given.
    url: urlOf(fd === undefined ? host : address.address, address.port),
    async stop(timeoutMs) {
      isStopping = true;
      // `close()` of an HTTP server would also end idle connections, at once.
      NetServer.prototype.close.call(server);
      const isOver = (): boolean => connections.size === 0;
      await until(isOver, IDLE_MS);
      // A connection becomes idle when its answer is out.
      await until(() => {
        server.closeIdleConnections();
        return isOver();
      }, timeoutMs - IDLE_MS);
      server.closeAllConnections();
      endSweep();
    },
  };
}
