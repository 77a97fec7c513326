/** `14:03:59`, of the reader's own clock and zone. */
export const time = (atMs: number): string => new Date(atMs).toLocaleTimeString('en-GB');

/** `UTC+1`, of the reader */
export function zone(atMs: number): string {
  const minutes = -new Date(atMs).getTimezoneOffset();
  if (minutes === 0) return 'UTC';
  const rest = Math.abs(minutes) % 60;
  const hours = Math.floor(Math.abs(minutes) / 60);
  return `UTC${minutes < 0 ? '−' : '+'}${hours}${rest === 0 ? '' : `:${rest}`}`;
}

/** `14:03` */
export const shortTime = (atMs: number): string => time(atMs).slice(0, 5);

/** `20 Nov 2026, 14:03` */
export const dateTime = (atMs: number): string =>
  new Date(atMs).toLocaleString('en-GB', { dateStyle: 'medium', timeStyle: 'short' });

/** `14:03`; of another day than now `20 Nov, 14:03` */
export function since(atMs: number, nowMs: number): string {
  const [at, now] = [new Date(atMs), new Date(nowMs)];
  if (at.toDateString() === now.toDateString()) return shortTime(atMs);
  if (at.getFullYear() !== now.getFullYear()) return dateTime(atMs);
  return `${at.toLocaleDateString('en-GB', { day: 'numeric', month: 'short' })}, ${shortTime(atMs)}`;
}
