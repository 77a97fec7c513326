/** `14:03:59`, of the reader's own clock and zone. */
export const time = (atMs: number): string => new Date(atMs).toLocaleTimeString('en-GB');

/** `20 Nov 2026, 14:03` */
export const dateTime = (atMs: number): string =>
  new Date(atMs).toLocaleString('en-GB', { dateStyle: 'medium', timeStyle: 'short' });
