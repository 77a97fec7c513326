// The status server, on each runtime's ordinary HTTP server. It may be exposed to a network, so it
// limits the time for a head and the number of connections, and reads no body.
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { LastingServer } from '../http/deno.ts';
import { onServerError } from '../http/fetch-exchange.ts';
import { cannotListen, runtime } from '../http/listen.ts';
import { type Address, urlOf } from '../http/listener.ts';

export interface StatusServer {
  readonly url: string;
  stop(): Promise<void>;
}

type Handler = (request: Request) => Response | Promise<Response>;
type NodeListener = (incoming: IncomingMessage, outgoing: ServerResponse) => Promise<void>;

const CONNECTIONS_MAX = 64;
const HEADERS_TIMEOUT_MS = 10_000;
const IDLE_TIMEOUT_MS = 30_000;

/** @throws {Fatal} exit 69 if the address cannot be listened on. */
export async function serveStatus(address: Address, handler: Handler): Promise<StatusServer> {
  const { Deno, Bun } = runtime;
  const { host, port } = address;
  try {
    if (!Deno && !Bun) return await serveOnNode(address, handler);
    const fetch = bounded(handler);
    if (Deno) {
      const server = new LastingServer(Deno, host, port, fetch);
      return { url: urlOf(host, server.port), stop: () => server.stop() };
    }
    const server = Bun!.serve({
      hostname: host,
      port,
      // Otherwise a second process on Bun may listen there, too.
      reusePort: false,
      fetch,
      error: onServerError,
      development: false,
      idleTimeout: IDLE_TIMEOUT_MS / 1000,
      maxRequestBodySize: 1024,
    });
    return { url: urlOf(host, server.port), stop: async () => void server.stop(true) };
  } catch (error) {
    throw cannotListen(error, address, '--status');
  }
}

/**
 * Without a Host (HTTP/1.0), or with an odd one, runtimes differ: Bun's request has a bare path for
 * its URL, Deno's a URL that cannot be parsed. The path therefore gets a fixed host.
 */
const onLocalhost = ({ url, method, headers }: Request): Request =>
  new Request(`http://localhost${url.replace(/^https?:\/\/[^/?#]*/i, '')}`, { method, headers });

const unreadable = (): Response => new Response('This address cannot be read.\n', { status: 400 });

/** Bounds the requests that are being answered, for runtimes that do not bound connections. */
function bounded(handler: Handler): Handler {
  let current = 0;
  return async (request) => {
    void request.body?.cancel().catch(() => {});
    if (current >= CONNECTIONS_MAX) return new Response('Too many requests.\n', { status: 503 });
    current += 1;
    try {
      return await handler(onLocalhost(request));
    } catch {
      return unreadable();
    } finally {
      current -= 1;
    }
  };
}

async function serveOnNode({ host, port }: Address, handler: Handler): Promise<StatusServer> {
  let listener: Promise<NodeListener> | undefined;
  const server = createServer(
    {
      headersTimeout: HEADERS_TIMEOUT_MS,
      requestTimeout: HEADERS_TIMEOUT_MS,
      keepAliveTimeout: IDLE_TIMEOUT_MS,
      connectionsCheckingInterval: 5_000,
    },
    (incoming, outgoing) => {
      listener ??= loadListener(handler);
      const { headers } = incoming;
      // No body is read.
      if (headers['content-length'] ?? headers['transfer-encoding'])
        outgoing.shouldKeepAlive = false;
      listener.then((listen) => listen(incoming, outgoing)).catch(() => incoming.socket.destroy());
    },
  );
  server.maxConnections = CONNECTIONS_MAX;
  // A client that does not read its answer is cut off, too.
  server.timeout = IDLE_TIMEOUT_MS;
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, resolve);
  });
  // Errors such as running out of file descriptors end nothing.
  server.on('error', () => {});
  return {
    url: urlOf(host, (server.address() as AddressInfo).port),
    async stop() {
      server.close();
      server.closeAllConnections();
    },
  };
}

/** Loads Node's Fetch API only at the first request: it takes a tenth of a start and 5 MiB. */
async function loadListener(handler: Handler): Promise<NodeListener> {
  const { getRequestListener } = await import('@hono/node-server');
  return getRequestListener((request) => handler(onLocalhost(request)), {
    overrideGlobalObjects: true,
    // Cleaning up would read up to 64 MiB.
    autoCleanupIncoming: false,
    errorHandler: unreadable,
    hostname: 'localhost', // the fixed host for HTTP/1.0, which may have none
  });
}
