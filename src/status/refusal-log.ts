import type { Log } from '../base/log.ts';
import { HOUR_MS } from '../base/time.ts';
import { isRefused, type Judged } from './state.ts';
import { named, problemWords, reasonsOf } from './words.ts';

/**
 * Logs that views of a listed project begin to be refused, and that they are accepted again: at most
 * one line of each per project and hour.
 */
export class RefusalLog {
  /** The projects whose views are refused, by what was logged last. */
  readonly #refused = new Set<string>();
  /** When each of the two was logged last, by project. */
  readonly #loggedMs = { true: new Map<string, number>(), false: new Map<string, number>() };
  readonly #log: Pick<Log, 'info' | 'warn'>;

  constructor(log: Pick<Log, 'info' | 'warn'>) {
    this.#log = log;
  }

  /** @param judged every listed project. */
  look(judged: readonly Judged[], nowMs: number): void {
    for (const one of judged) {
      const { id, name } = one;
      const isNow = isRefused(one);
      if (this.#refused.has(id) ? one.state !== 'arriving' : !isNow) continue;
      const loggedMs = this.#loggedMs[`${isNow}`];
      if (nowMs - (loggedMs.get(id) ?? -Infinity) < HOUR_MS) continue;
      loggedMs.set(id, nowMs);
      const who = `Project ${id}${name === undefined ? '' : ` (${named(name)})`}`;
      if (isNow) {
        this.#refused.add(id);
        this.#log.warn(`${who}: ${problemWords(one)}${reasonsOf(one)}`);
      } else {
        this.#refused.delete(id);
        this.#log.info(`${who}: views are accepted again`);
      }
    }
  }
}
