import { sleep } from '../base/time.ts';
import type { Handler } from './exchange.ts';
import type { MemoryBudget } from './memory-budget.ts';

export interface Address {
  readonly host: string;
  /** 0: any free port. */
  readonly port: number;
}

/** A handler that listens, on the runtime's own HTTP server. */
export interface Listener {
  /** The address that it really listens on, including for a passed socket or any free port. */
  readonly address: Address;
  readonly url: string;
  /**
   * Accepts no more connections, answers the requests in flight, and closes all connections.
   * Connections that are still open after `timeoutMs` are cut off.
   */
  stop(timeoutMs: number): Promise<void>;
}

export interface ListenOptions extends Address {
  readonly handler: Handler;
  readonly budget: MemoryBudget;
}

/** Waits until `isDone` returns true. Between checks, the event loop can receive data. */
export async function until(isDone: () => boolean, timeoutMs: number): Promise<void> {
  const deadlineMs = performance.now() + timeoutMs;
  while (!isDone() && performance.now() < deadlineMs) {
    await sleep(20);
    await new Promise(setImmediate);
  }
}

/** `127.0.0.1:8080`, `[::1]:8080` */
export const hostAndPort = ({ host, port }: Address): string =>
  `${host.includes(':') ? `[${host}]` : host}:${port}`;

export const urlOf = (address: Address): string => `http://${hostAndPort(address)}`;

/** Returns the URL of a collector with these settings, as seen from its own machine. */
export const ownAddress = ({ host, port }: Address): string =>
  urlOf({ host: fromOwnMachine(host), port });

/** Returns the host to connect to for a host to listen on, which may be a wildcard. */
export const fromOwnMachine = (host: string): string =>
  host === '0.0.0.0' ? '127.0.0.1' : host === '::' ? '::1' : host;

/** Returns the port at the end of an address; `new URL` would leave out port 80. */
export function portOf(address = ''): number | undefined {
  const [, port] = /:(\d+)$/.exec(address) ?? [];
  return port === undefined ? undefined : Number(port);
}
