import { type Address, urlOf } from './listener.ts';

/** Where a collector with the same settings listens, as seen from its own machine. */
export const ownAddress = ({ host, port }: Address): string => urlOf(fromOwnMachine(host), port);

/** What to connect to for a host that is listened on, which may be all there are. */
export const fromOwnMachine = (host: string): string =>
  host === '0.0.0.0' ? '127.0.0.1' : host === '::' ? '::1' : host;
