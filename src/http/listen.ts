import { createServer, type IncomingMessage, type Server, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { pipeline, Readable } from 'node:stream';
import type { ReadableStream as WebStream } from 'node:stream/web';
import { getRequestListener } from '@hono/node-server';
import type { Answer } from '../collector/answers.ts';
import { EXIT, Fatal, errnoOf, reasonOf } from '../base/exit.ts';
import { sleep } from '../base/time.ts';

/** @param env what the runtime's server hands over with a request; Node its own message. */
export type Handler = (request: Request, env?: object) => Response | Promise<Response>;

export interface Address {
  readonly host: string;
  /** 0: any free port. */
  readonly port: number;
}

/** An app that listens, on the runtime's own HTTP server. */
export interface Listener {
  readonly url: string;
  /**
   * Takes no more connections, lets the requests under way be answered, and closes the rest.
   * What is still open after `timeoutMs` is cut off.
   */
  stop(timeoutMs: number): Promise<void>;
}

export interface ListenOptions extends Address {
  readonly handler: Handler;
  /** Asked first on Node, where it spares the objects that the handler is given. */
  readonly takeFromNode?: (incoming: IncomingMessage) => Promise<Answer> | undefined;
  /** Answers a request whose target cannot be read as a URL. */
  readonly unreadable: () => Response;
  /** What the operator chooses the address with. */
  readonly flag: string;
}

// Longer than the reverse proxies in front keep theirs (nginx 60 s, Traefik 90 s, Caddy 120 s): a
// proxy that reuses a connection we are just closing loses the view it sends.
const KEEP_ALIVE_MS = 130_000;
const HEADERS_TIMEOUT_MS = 10_000;
/** For answers that are still on their way, on Deno. */
const SHUTDOWN_MS = 1_000;
/** Above the body's own time-out, which answers with its reason. */
const REQUEST_TIMEOUT_MS = 25_000;

/** @throws {Fatal} exit 69 where the address cannot be listened on. */
export async function listen(options: ListenOptions): Promise<Listener> {
  const runtime = globalThis as { Deno?: Deno; Bun?: Bun };
  try {
    if (runtime.Deno) return listenOnDeno(runtime.Deno, options);
    if (runtime.Bun) return listenOnBun(runtime.Bun, options);
    return await listenOnNode(options);
  } catch (error) {
    throw cannotListen(error, options);
  }
}

async function listenOnNode(options: ListenOptions): Promise<Listener> {
  const { host, port, handler, takeFromNode, unreadable } = options;
  const listener = getRequestListener(handler, {
    // Its light Response is what makes Node fast; and what is left of a refused body is drained
    // where it is refused, so its own clean-up, which reads up to 64 MiB, stays off.
    overrideGlobalObjects: true,
    autoCleanupIncoming: false,
    errorHandler: unreadable,
    hostname: 'localhost', // stands in for HTTP/1.0's absent Host
  });
  let stopping = false;
  const server = createServer(
    {
      headersTimeout: HEADERS_TIMEOUT_MS,
      requestTimeout: REQUEST_TIMEOUT_MS,
      keepAliveTimeout: KEEP_ALIVE_MS,
      connectionsCheckingInterval: 5_000,
      ServerResponse: OneWriteResponse,
    },
    (incoming, outgoing) => {
      if (stopping) outgoing.shouldKeepAlive = false;
      const answer = takeFromNode?.(incoming);
      if (answer === undefined) void listener(incoming, outgoing);
      else void answer.then((given) => give(given, outgoing));
    },
  );
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, resolve);
  });
  const { port: bound } = server.address() as AddressInfo;
  return {
    url: urlOf(host, bound),
    stop(timeoutMs) {
      stopping = true;
      return stopNode(server, timeoutMs);
    },
  };
}

function give({ status, headers, body }: Answer, outgoing: ServerResponse): void {
  try {
    outgoing.writeHead(status, headers);
    if (body instanceof ReadableStream) {
      // Whom it is for may go in the middle of it, or be gone; nobody is left to tell.
      pipeline(Readable.fromWeb(body as WebStream), outgoing, () => {});
    } else {
      outgoing.end(body ?? '');
    }
  } catch {
    outgoing.destroy();
  }
}

// What Node keeps of an answer; no public API.
const HEADER = '_header';
const HAS_BODY = '_hasBody';
interface Unsent {
  [HEADER]?: unknown;
  readonly [HAS_BODY]?: unknown;
}

/**
 * Node hands a body that `end` is given to the system in a piece of its own, which costs a tenth of
 * all speed; put behind the header it goes as one. Only what is ASCII: Node sends headers as Latin-1.
 */
class OneWriteResponse extends ServerResponse {
  override end(...args: unknown[]): this {
    const [body] = args;
    const unsent = this as Unsent;
    const header = unsent[HEADER];
    // Of an answer to HEAD it sends no body.
    if (typeof header === 'string' && typeof body === 'string' && unsent[HAS_BODY] === true) {
      if (args.length === 1 && isAscii(body)) {
        unsent[HEADER] = header + body;
        return super.end();
      }
    }
    return super.end(...(args as []));
  }
}

const isAscii = (text: string): boolean => Buffer.byteLength(text) === text.length;

async function stopNode(server: Server, timeoutMs: number): Promise<void> {
  const closed = new Promise<void>((resolve) => server.close(() => resolve()));
  // A connection goes idle when its answer is out; Node closes only those idle at `close()`.
  const sweep = setInterval(() => server.closeIdleConnections(), 20);
  const cutOff = setTimeout(() => server.closeAllConnections(), timeoutMs);
  await closed;
  clearInterval(sweep);
  clearTimeout(cutOff);
}

interface Deno {
  serve(
    options: { hostname: string; port: number; onListen: () => void },
    handler: (request: Request) => Promise<Response>,
  ): { addr: { port: number }; finished: Promise<void>; shutdown(): Promise<void> };
}

function listenOnDeno(deno: Deno, { host, port, handler }: ListenOptions): Listener {
  const underWay = { requests: 0 };
  let counted = underWay;
  const counting = async (request: Request): Promise<Response> => {
    const at = counted;
    at.requests += 1;
    try {
      return await handler(request);
    } finally {
      at.requests -= 1;
    }
  };
  const options = { hostname: host, port, onListen: () => {} };
  const server = deno.serve(options, counting);
  return {
    url: urlOf(host, server.addr.port),
    async stop(timeoutMs) {
      // Its shutdown breaks off bodies that are still arriving, so those under way come first.
      counted = { requests: 0 };
      await until(() => underWay.requests === 0, timeoutMs - SHUTDOWN_MS);
      // Below 2.4 it may wait for ever for connections that are merely kept.
      await Promise.race([server.shutdown(), sleep(SHUTDOWN_MS)]);
    },
  };
}

interface Bun {
  serve(options: {
    hostname: string;
    port: number;
    fetch: (request: Request) => Response | Promise<Response>;
    idleTimeout: number;
    maxRequestBodySize: number;
  }): { port: number; pendingRequests: number; stop(closeConnections?: boolean): Promise<void> };
}

function listenOnBun(bun: Bun, { host, port, handler }: ListenOptions): Listener {
  const server = bun.serve({
    hostname: host,
    port,
    fetch: (request) => handler(request),
    idleTimeout: KEEP_ALIVE_MS / 1000,
    // The app refuses what is too large, and says why.
    maxRequestBodySize: Number.MAX_SAFE_INTEGER,
  });
  return {
    url: urlOf(host, server.port),
    stop: (timeoutMs) => stopBun(server, timeoutMs),
  };
}

/** Bun waits for idle connections to end by themselves; their clients may keep them for hours. */
async function stopBun(server: ReturnType<Bun['serve']>, timeoutMs: number): Promise<void> {
  void server.stop();
  await until(() => server.pendingRequests === 0, timeoutMs);
  void server.stop(true);
}

async function until(isDone: () => boolean, timeoutMs: number): Promise<void> {
  const deadline = Date.now() + timeoutMs;
  while (!isDone() && Date.now() < deadline) {
    await sleep(20);
  }
}

const urlOf = (host: string, port: number): string =>
  `http://${host.includes(':') ? `[${host}]` : host}:${port}`;

function cannotListen(error: unknown, { host, port, flag }: ListenOptions): Fatal {
  const address = urlOf(host, port).slice('http://'.length);
  // Bun words an address in use in its message only.
  const inUse = errnoOf(error) === 'EADDRINUSE' || /in use/i.test(reasonOf(error));
  const why = inUse
    ? `it is in use. Stop what listens there, or choose another with ${flag}`
    : `${reasonOf(error)}. Choose another with ${flag}`;
  return new Fatal(EXIT.unavailable, `Cannot listen on ${address}: ${why}`);
}
