import { sleep } from '../base/time.ts';
import type { Exchange } from './exchange.ts';
import { MiB } from '../base/size.ts';
import type { Queue } from './room.ts';

/** Answers a request through `exchange.respond`, whose result it returns. */
export type Handler = (exchange: Exchange) => Response | Promise<Response>;

/** Answers a request by the Fetch API; of its `Request` there is only what the runtime can read. */
export type FetchHandler = (exchange: Exchange, request: Request) => Response | Promise<Response>;

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

interface Common extends Address {
  /** What is under way takes its room here; of its own where none is given. */
  readonly queue?: Queue;
  /** Answers a request whose target or Host is no URL, where the runtime cannot do without one. */
  readonly unreadable: (exchange: Exchange) => Response | Promise<Response>;
  readonly unreadMs?: number;
  /** What the operator chooses the address with. */
  readonly flag: string;
}

export interface DirectOptions extends Common {
  readonly handler: Handler;
  readonly isFetch?: false;
}

export interface FetchOptions extends Common {
  readonly handler: FetchHandler;
  readonly isFetch: true;
}

export type ListenOptions = DirectOptions | FetchOptions;

/** For a listener with few clients and no bodies to read. */
export const QUEUE_BYTES = 4 * MiB;

export const TIMING = {
  // Longer than the reverse proxies in front keep theirs (nginx 60 s, Traefik 90 s, Caddy 120 s): a
  // proxy that reuses a connection we are just closing loses the view it sends.
  keepAliveMs: 130_000,
  headersTimeoutMs: 10_000,
  /** Above the body's own time-out, which answers with its reason. */
  requestTimeoutMs: 25_000,
  /** How long a client may leave its answers unread; on Node, which would keep them for ever. */
  unreadMs: 30_000,
} as const;

/**
 * What Deno and Bun answer where a body's stream ends with an error, after the answer's head. By
 * themselves they log its stack, and Bun has a page that shows the source around it.
 */
export const brokenOff = (): Response => new Response(null, { status: 500 });

export async function until(isDone: () => boolean, timeoutMs: number): Promise<void> {
  const deadline = Date.now() + timeoutMs;
  while (!isDone() && Date.now() < deadline) {
    await sleep(20);
  }
}

export const urlOf = (host: string, port: number): string =>
  `http://${host.includes(':') ? `[${host}]` : host}:${port}`;
