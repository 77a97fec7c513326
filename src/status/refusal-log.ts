import { plural } from '../base/format.ts';
import type { Log } from '../base/log.ts';
import { printable } from '../base/text.ts';
import { HOUR_MS } from '../base/time.ts';
import { isOpen, type Judged } from './state.ts';
import { REASONS } from './words.ts';

interface Logged {
  isRefused: boolean;
  refusedMs: number;
  acceptedMs: number;
}

/**
 * Logs that views of a listed project begin to be refused, and that they are accepted again: at most
 * one line of each per project and hour.
 */
export class RefusalLog {
  readonly #logged = new Map<string, Logged>();
  readonly #log: Pick<Log, 'info' | 'warn'>;

  constructor(log: Pick<Log, 'info' | 'warn'>) {
    this.#log = log;
  }

  /** @param judged every listed project. */
  look(judged: readonly Judged[], nowMs: number): void {
    for (const one of judged) {
      const { id } = one.project;
      const isRefused = one.state === 'refused' || one.state === 'partly-refused';
      const before = this.#logged.get(id);
      if (before === undefined && !isRefused) continue;
      const logged = before ?? { isRefused: false, refusedMs: -Infinity, acceptedMs: -Infinity };
      this.#logged.set(id, logged);
      if (isRefused && !logged.isRefused && nowMs - logged.refusedMs >= HOUR_MS) {
        Object.assign(logged, { isRefused, refusedMs: nowMs });
        this.#log.warn(refusedLine(one));
      } else if (!isRefused && logged.isRefused && one.accepted > 0) {
        if (nowMs - logged.acceptedMs < HOUR_MS) continue;
        Object.assign(logged, { isRefused, acceptedMs: nowMs });
        this.#log.info(`Views of ${nameOf(one)} are accepted again`);
      }
    }
  }
}

const nameOf = ({ project: { id, name } }: Judged): string =>
  name === undefined ? `project ${id}` : `project ${id} (${printable(name, 60)})`;

function refusedLine(one: Judged): string {
  const { accepted, refused, reasons } = one;
  const codes = new Set(reasons.filter(isOpen).map(({ sample }) => REASONS[sample.code]));
  const all = plural(accepted + refused, 'view');
  const many = accepted === 0 ? `all ${all}` : `${refused} of ${all}`;
  return `Views of ${nameOf(one)} are refused: ${[...codes].join(', ')}; ${many} of the last hour`;
}
