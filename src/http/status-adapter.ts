// The status page's server, until src/status has its own. Nothing else uses this file: delete it
// whole, with `test/support/listener-process.ts`.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { sleep } from '../base/time.ts';
import type { Bun } from './bun.ts';
import { type Deno, LastingServer } from './deno.ts';
import { onServerError } from './fetch-exchange.ts';
import { cannotListen, runtime } from './listen.ts';
import { type Address, type Listener, TIMING, urlOf } from './listener.ts';
import { stopNode } from './node.ts';

/** The client that asked, so that an answer whose body is a stream can be broken off. */
export interface Client {
  /** Node only, whose adapter would log the stack of an error that the stream ends with. */
  breakOff?(): void;
}

export type FetchHandler = (client: Client, request: Request) => Response | Promise<Response>;

interface StatusOptions extends Address {
  readonly handler: FetchHandler;
  /** Answers a request whose target or Host is not a URL. */
  readonly unreadable: () => Response;
}

/** @throws {Fatal} exit 69 if it cannot listen on the address. */
export async function listenForStatus(options: StatusOptions): Promise<Listener> {
  const { Deno, Bun } = runtime;
  try {
    if (Deno) return onDeno(Deno, options);
    if (Bun) return onBun(Bun, options);
    return await onNode(options);
  } catch (error) {
    throw cannotListen(error, options, '--status');
  }
}

/** On Deno and Bun. */
const guarded =
  ({ handler, unreadable }: StatusOptions) =>
  async (request: Request): Promise<Response> => {
    try {
      return await handler({}, request);
    } catch {
      return unreadable();
    }
  };

function onDeno(deno: Deno, options: StatusOptions): Listener {
  const server = new LastingServer(deno, options.host, options.port, guarded(options));
  return { url: urlOf(options.host, server.port), stop: () => server.stop() };
}

function onBun(bun: Bun, options: StatusOptions): Listener {
  const { host, port } = options;
  const server = bun.serve({
    hostname: host,
    port,
    reusePort: false,
    fetch: guarded(options),
    error: onServerError,
    development: false,
    idleTimeout: TIMING.keepAliveMs / 1000,
  });
  return {
    url: urlOf(host, server.port),
    async stop(timeoutMs) {
      void server.stop();
      await sleep(timeoutMs);
      void server.stop(true);
    },
  };
}

async function onNode({ host, port, handler, unreadable }: StatusOptions): Promise<Listener> {
  // With Hono's adapter Node loads its Fetch API, a tenth of a start and 5 MiB.
  const load = async () => {
    const { getRequestListener } = await import('@hono/node-server');
    return getRequestListener(
      (request, { outgoing }) => handler({ breakOff: () => outgoing.destroy() }, request),
      {
        overrideGlobalObjects: true,
        autoCleanupIncoming: false, // reads up to 64 MiB
        errorHandler: unreadable,
        hostname: 'localhost', // stands in for HTTP/1.0's absent Host
      },
    );
  };
  let loaded: ReturnType<typeof load> | undefined;
  const server = createServer(
    {
      headersTimeout: TIMING.headersTimeoutMs,
      requestTimeout: TIMING.requestTimeoutMs,
      keepAliveTimeout: TIMING.keepAliveMs,
    },
    (incoming, outgoing) =>
      void (loaded ??= load()).then((answer) => {
        if (incoming.headers['content-length'] ?? incoming.headers['transfer-encoding']) {
          outgoing.shouldKeepAlive = false; // its body is not read
        }
        return answer(incoming, outgoing);
      }),
  );
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, resolve);
  });
  return {
    url: urlOf(host, (server.address() as AddressInfo).port),
    stop: (timeoutMs) => stopNode(server, timeoutMs),
  };
}
