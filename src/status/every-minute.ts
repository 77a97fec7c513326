import { reasonOf } from '../base/exit.ts';
import type { Log } from '../base/log.ts';
import { HOUR_MS, MINUTE_MS, sleep } from '../base/time.ts';
import type { CollectorState } from './health.ts';
import { isRefused, type Judged, judgeListed } from './state.ts';
import { named, problemWords, reasonsOf } from './words.ts';

/** When it was logged last that a project's views are refused, and that they are accepted again. */
export type Logged = Map<string, { readonly refusedMs: number; readonly acceptedMs: number }>;

/**
 * Once a minute saves the counts, and logs which projects' views begin to be refused.
 * @param save never rejects.
 * @returns a function that ends it; it resolves once the counts are saved for the last time.
 */
export function everyMinute(
  look: () => CollectorState,
  save: () => Promise<void>,
  log: Log,
): () => Promise<void> {
  const ending = new AbortController();
  const logged: Logged = new Map();
  const run = async (): Promise<void> => {
    for (let isLast = false; !isLast;) {
      await sleep(MINUTE_MS, ending.signal);
      isLast = ending.signal.aborted;
      await save();
      try {
        const state = look();
        if (isLast) return;
        await judgeListed(state, (one) => logRefusals(one, state.nowMs, logged, log));
      } catch (error) {
        log.error(`Cannot check for refused views: ${reasonOf(error)}; trying again in a minute`);
      }
    }
  };
  const running = run();
  return () => {
    ending.abort();
    return running;
  };
}

const NEVER = { refusedMs: -Infinity, acceptedMs: -Infinity };

/**
 * Logs that views of a listed project begin to be refused, and that they are accepted again: at most
 * one line of each per project and hour.
 */
export function logRefusals(
  judged: Judged,
  nowMs: number,
  logged: Logged,
  log: Pick<Log, 'info' | 'warn'>,
): void {
  const { id, name, state } = judged;
  const isNow = isRefused(judged);
  const last = logged.get(id) ?? NEVER;
  const wasRefused = last.refusedMs > last.acceptedMs;
  if (wasRefused ? state !== 'arriving' : !isNow) return;
  if (nowMs - (isNow ? last.refusedMs : last.acceptedMs) < HOUR_MS) return;
  logged.set(id, { ...last, [isNow ? 'refusedMs' : 'acceptedMs']: nowMs });
  const who = `Project ${id}${name === undefined ? '' : ` (${named(name)})`}`;
  if (isNow) log.warn(`${who}: ${problemWords(judged)}${reasonsOf(judged)}`);
  else log.info(`${who}: views are accepted again`);
}
