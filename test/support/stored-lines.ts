import { FULL_VIEW } from './views.ts';

/**
 * Returns lines as the collector writes them, with ascending ids: one per second of `day`, and all
 * others in its last second.
 */
export function storedLines(day: string, count: number, change: object = {}, first = 0): string[] {
  return Array.from({ length: count }, (_, n) => {
    const i = first + n;
    const second = Math.min(i, 86_399);
    const ts = new Date(Date.parse(`${day}T00:00:00Z`) + 1000 * second).toISOString();
    const hex = Date.parse(ts).toString(16).padStart(12, '0');
    const id = `${hex.slice(0, 8)}-${hex.slice(8)}-7000-8000-${String(i).padStart(12, '0')}`;
    return JSON.stringify({ ts, id, ...FULL_VIEW, ...change });
  });
}
