import { type Address, urlOf } from './listener.ts';

/** Where a collector with the same settings listens, as seen from its own machine. */
export function ownAddress({ host, port }: Address): string {
  const named = host === '0.0.0.0' ? '127.0.0.1' : host === '::' ? '::1' : host;
  return urlOf(named, port);
}
