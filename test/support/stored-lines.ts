import { FULL_VIEW } from './views.ts';

/** Returns lines as the collector writes them, one per second of `day`, with ascending ids. */
export function storedLines(day: string, count: number, change: object = {}): string[] {
  return Array.from({ length: count }, (_, i) => {
    const ts = new Date(Date.parse(`${day}T00:00:00Z`) + 1000 * i).toISOString();
    const hex = Date.parse(ts).toString(16).padStart(12, '0');
    const id = `${hex.slice(0, 8)}-${hex.slice(8)}-7000-8000-${String(i).padStart(12, '0')}`;
    return JSON.stringify({ ts, id, ...FULL_VIEW, ...change });
  });
}
