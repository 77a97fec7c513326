import { errorText } from '../base/exit.ts';
import type { Log } from '../base/log.ts';
import { HOUR_MS, MINUTE_MS, sleep } from '../base/time.ts';
import type { CollectorState } from './health.ts';
import {
  isOpen,
  isRefused,
  type Judged,
  type JudgedReason,
  judgeListed,
  REQUESTS,
} from './state.ts';
import { named, problemWords, reasonsOf, refusalLabel } from './words.ts';

interface Minutely {
  readonly snapshot: () => CollectorState;
  /** Never rejects. */
  readonly save: () => Promise<void>;
  /** Words the fix, with its command, in one line. */
  readonly fixFor: (reason: JudgedReason) => string;
  readonly log: Log;
}

/**
 * Once a minute saves the counts, and logs whose views begin to be refused, and are accepted again.
 * @returns a function that ends it; it resolves once the counts are saved for the last time.
 */
export function everyMinute({ snapshot, save, fixFor, log }: Minutely): () => Promise<void> {
  const ending = new AbortController();
  const refusalLog = new RefusalLog(fixFor, log);
  const run = async (): Promise<void> => {
    for (let isLast = false; !isLast;) {
      await sleep(MINUTE_MS, ending.signal);
      isLast = ending.signal.aborted;
      await save();
      try {
        const state = snapshot();
        if (isLast) return;
        await judgeListed(state, (one) => refusalLog.update(one, state.nowMs));
      } catch (error) {
        log.error(`Can't check for refused views: ${errorText(error)}; trying again in a minute`);
      }
    }
  };
  const running = run();
  return () => {
    ending.abort();
    return running;
  };
}

const NEVER = { beganMs: -Infinity, endedMs: -Infinity, causes: new Set<string>() };

/**
 * Logs when views begin to be refused for a cause, with its fix, and when the cause ends: at most
 * one line of each per project and hour.
 */
export class RefusalLog {
  readonly #fixFor: Minutely['fixFor'];
  readonly #log: Pick<Log, 'info' | 'warn'>;
  /** When a line of each kind was logged last, and the causes that have begun since, by id. */
  readonly #logged = new Map<string, typeof NEVER>();

  constructor(fixFor: Minutely['fixFor'], log: Pick<Log, 'info' | 'warn'>) {
    this.#fixFor = fixFor;
    this.#log = log;
  }

  update(judged: Judged, nowMs: number): void {
    const { id, name, kind, state, reasons } = judged;
    const last = this.#logged.get(id) ?? NEVER;
    const open = new Map(
      reasons.filter(isOpen).map((reason) => [refusalLabel(reason.sample), reason]),
    );
    const project = `Project ${id}${name === undefined ? '' : ` (${named(name)})`}`;
    const who = kind === 'requests' ? REQUESTS.name! : project;
    const begun = [...open].find(([cause]) => !last.causes.has(cause));
    // A limit is advised after a full minute.
    const isKnown = begun?.[1].remedy.kind !== 'raise-limit' || begun[1].remedy.sent !== undefined;
    if (begun && isRefused(judged) && isKnown && nowMs - last.beganMs >= HOUR_MS) {
      this.#logged.set(id, { ...last, beganMs: nowMs, causes: new Set(open.keys()) });
      const what = `${who}: ${problemWords(judged)}${reasonsOf(judged)}`;
      return this.#log.warn(`${what}. ${this.#fixFor(begun[1])}`);
    }
    const left = new Set([...last.causes].filter((cause) => open.has(cause)));
    const isEnded = left.size < last.causes.size && (left.size > 0 || state === 'arriving');
    if (!isEnded || nowMs - last.endedMs < HOUR_MS) return;
    this.#logged.set(id, { ...last, endedMs: nowMs, causes: left });
    const ended = [...last.causes].filter((cause) => !left.has(cause)).join(', ');
    this.#log.info(`${who}: views are accepted again (${ended})`);
  }
}
