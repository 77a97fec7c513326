import { plural } from '../base/format.ts';
import type { Log } from '../base/log.ts';
import { printable } from '../base/text.ts';
import { HOUR_MS } from '../base/time.ts';
import { isRefused, type Judged } from './state.ts';
import { reasonsOf } from './words.ts';

/**
 * Logs that views of a listed project begin to be refused, and that they are accepted again: at most
 * one line of each per project and hour.
 */
export class RefusalLog {
  /** By project: what was logged last, and when each of the two was. */
  readonly #logged = new Map<
    string,
    { isRefused: boolean; atMs: [again: number, begun: number] }
  >();
  readonly #log: Pick<Log, 'info' | 'warn'>;

  constructor(log: Pick<Log, 'info' | 'warn'>) {
    this.#log = log;
  }

  /** @param judged every listed project. */
  look(judged: readonly Judged[], nowMs: number): void {
    for (const one of judged) {
      const { project, accepted, refused } = one;
      const { id, name } = project;
      const logged = this.#logged.get(id) ?? { isRefused: false, atMs: [-Infinity, -Infinity] };
      const isNow = isRefused(one);
      if (isNow === logged.isRefused || (!isNow && accepted === 0)) continue;
      if (nowMs - logged.atMs[Number(isNow)]! < HOUR_MS) continue;
      logged.isRefused = isNow;
      logged.atMs[Number(isNow)] = nowMs;
      this.#logged.set(id, logged);
      const whose = `Views of project ${id}${name === undefined ? '' : ` (${printable(name, 60)})`}`;
      const views = plural(accepted + refused, 'view');
      const many = accepted === 0 ? `all ${views}` : `${refused} of ${views}`;
      const why = reasonsOf(one);
      if (isNow) this.#log.warn(`${whose} are refused: ${why}; ${many} of the last hour`);
      else this.#log.info(`${whose} are accepted again`);
    }
  }
}
