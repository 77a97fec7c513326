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
  everyMs = MINUTE_MS,
): () => Promise<void> {
  const ending = new AbortController();
  const logged: Logged = new Map();
  const run = async (): Promise<void> => {
    for (let isLast = false; !isLast;) {
      await sleep(everyMs, ending.signal);
      isLast = ending.signal.aborted;
      await save();
      try {
        const state = look();
        if (!isLast) logRefusals(await judgeListed(state), state.nowMs, logged, log);
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
 * @param judged every listed project.
 */
export function logRefusals(
  judged: readonly Judged[],
  nowMs: number,
  logged: Logged,
  log: Pick<Log, 'info' | 'warn'>,
): void {
  for (const one of judged) {
    const { id, name, state } = one;
    const isNow = isRefused(one);
    const last = logged.get(id) ?? NEVER;
    const wasRefused = last.refusedMs > last.acceptedMs;
    if (wasRefused ? state !== 'arriving' : !isNow) continue;
    if (nowMs - (isNow ? last.refusedMs : last.acceptedMs) < HOUR_MS) continue;
    logged.set(id, { ...last, [isNow ? 'refusedMs' : 'acceptedMs']: nowMs });
    const who = `Project ${id}${name === undefined ? '' : ` (${named(name)})`}`;
    if (isNow) log.warn(`${who}: ${problemWords(one)}${reasonsOf(one)}`);
    else log.info(`${who}: views are accepted again`);
  }
}
