import { type Address, urlOf } from './listener.ts';

/** Returns the URL of a collector with these settings, as seen from its own machine. */
export const ownAddress = ({ host, port }: Address): string => urlOf(fromOwnMachine(host), port);

/** Returns the host to connect to for a host to listen on, which may be a wildcard. */
export const fromOwnMachine = (host: string): string =>
  host === '0.0.0.0' ? '127.0.0.1' : host === '::' ? '::1' : host;
