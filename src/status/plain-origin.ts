/** What an origin may consist of to become part of a command: nothing that a shell reads. */
const PLAIN_ORIGIN = /^https?:\/\/[a-z0-9.-]+(:\d+)?$/;

export const isPlainOrigin = (origin: string | undefined): origin is string =>
  origin !== undefined && PLAIN_ORIGIN.test(origin);
