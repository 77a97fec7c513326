// The status server, on each runtime's ordinary HTTP server. It may be exposed to a network, so it
// reads no body and bounds its load: on Node the connections and the time for a head, on Deno and
// Bun the requests that are being answered.
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { LIMITS } from '../base/limits.ts';
import type { Log } from '../base/log.ts';
import { RestartingServer } from '../http/deno.ts';
import { onServerError } from '../http/fetch-exchange.ts';
import { cannotListen, runtime } from '../http/listen.ts';
import { type Address, urlOf } from '../http/listener.ts';
import { type Handler, type Service, statusApp } from './app.ts';

export type StatusServer = NonNullable<Awaited<ReturnType<typeof openStatus>>>;

const CONNECTIONS_MAX = 64;
const IDLE_TIMEOUT_MS = 30_000;

/**
 * Opens the status server of a service.
 * @throws {Fatal} exit 69 if the address can't be listened on.
 */
export async function openStatus(
  address: Address | 'off',
  token: string | undefined,
  service: Service,
  log: Pick<Log, 'error'>,
) {
  if (address === 'off') return undefined;
  const { host } = address;
  try {
    const server = await listen(address, statusApp(service, { host, token }, log));
    return { url: urlOf({ host, port: server.port }), stop: () => server.stop() };
  } catch (error) {
    throw cannotListen(error, address, '--status');
  }
}

async function listen({ host, port }: Address, handler: Handler) {
  const { Deno, Bun } = runtime;
  if (Deno) return new RestartingServer(Deno, host, port, bounded(handler));
  if (!Bun) return listenOnNode(host, port, handler);
  const server = Bun.serve({
    hostname: host,
    port,
    // Otherwise a second process on Bun may listen there, too.
    reusePort: false,
    fetch: bounded(handler),
    error: onServerError,
    development: false,
    idleTimeout: IDLE_TIMEOUT_MS / 1000,
    maxRequestBodySize: 1024,
  });
  return { port: server.port, stop: async () => void server.stop(true) };
}

const unreadable = (): Response => new Response("This address can't be read.\n", { status: 400 });

/** Bounds the requests that are being answered, for runtimes that don't bound connections. */
function bounded(handler: Handler): Handler {
  let current = 0;
  return async (request) => {
    void request.body?.cancel().catch(() => {});
    if (current >= CONNECTIONS_MAX) return new Response('Too many requests.\n', { status: 503 });
    current += 1;
    try {
      return await handler(request);
    } catch {
      return unreadable(); // its Host and its target don't form a URL
    } finally {
      current -= 1;
    }
  };
}

const ADAPTER = {
  overrideGlobalObjects: false,
  // Cleaning up would read up to 64 MiB.
  autoCleanupIncoming: false,
  errorHandler: unreadable,
  hostname: 'localhost', // for HTTP/1.0, which may have no Host
};

async function listenOnNode(host: string, port: number, handler: Handler) {
  const server = createServer({
    headersTimeout: LIMITS.headTimeoutMs,
    requestTimeout: LIMITS.headTimeoutMs,
    connectionsCheckingInterval: 5_000,
  });
  // Loaded only at the first request: it takes a tenth of a start and 5 MiB.
  const load = async () =>
    (await import('./node-listener.ts')).getRequestListener(handler, ADAPTER);
  let listener: ReturnType<typeof load> | undefined;
  server.on('request', (incoming, outgoing) => {
    // To keep the connection, Node would read the body.
    outgoing.shouldKeepAlive = false;
    listener ??= load();
    listener.then((answer) => answer(incoming, outgoing)).catch(() => incoming.socket.destroy());
  });
  server.maxConnections = CONNECTIONS_MAX;
  // A client that doesn't read its answer is cut off, too.
  server.timeout = IDLE_TIMEOUT_MS;
  server.listen(port, host);
  await once(server, 'listening');
  // An error such as running out of file descriptors must not end the process.
  server.on('error', () => {});
  return {
    port: (server.address() as AddressInfo).port,
    async stop() {
      server.close();
      server.closeAllConnections();
    },
  };
}
