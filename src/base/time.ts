export const MINUTE_MS = 60_000;
export const HOUR_MS = 60 * MINUTE_MS;
export const DAY_MS = 24 * HOUR_MS;

/** Returns whether the text is a day of the calendar, `YYYY-MM-DD`. */
export function isDay(text: string): boolean {
  const date = new Date(/^\d{4}-\d\d-\d\d$/.test(text) ? `${text}T00:00:00Z` : Number.NaN);
  // 2026-02-30 parses as 2 March.
  return !Number.isNaN(date.getTime()) && date.toISOString().startsWith(text);
}

/** Returns the UTC day, `YYYY-MM-DD`, of a time in milliseconds since the epoch. */
export const dayOf = (ms: number): string => new Date(ms).toISOString().slice(0, 10);

/**
 * Calls `run` every `ms` milliseconds, without keeping the process alive.
 * @returns a function that stops it.
 */
export function every(ms: number, run: () => void): () => void {
  const timer = setInterval(run, ms);
  timer.unref();
  return () => clearInterval(timer);
}

/** @param stop ends the sleep early. */
export const sleep = (ms: number, stop?: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    const end = (): void => {
      clearTimeout(timer);
      stop?.removeEventListener('abort', end);
      resolve();
    };
    const timer = setTimeout(end, ms);
    stop?.addEventListener('abort', end);
    if (stop?.aborted) end();
  });

/** A clock that tests replace with a faster one. */
export interface Clock {
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  readonly sleep: typeof sleep;
}

export const systemClock: Clock = { now: Date.now, sleep };

/** Waits for `done`, but no longer than `timeMs`. Returns whether it is done. */
export function within(timeMs: number, done: Promise<void>): Promise<boolean> {
  const over = new AbortController();
  const timedOut = sleep(timeMs, over.signal).then(() => false);
  return Promise.race([done.then(() => true), timedOut]).finally(() => over.abort());
}

/** Returns `2026-01-31T11:59:59Z`. */
export const timeOf = (ms: number): string => `${new Date(ms).toISOString().slice(0, 19)}Z`;
