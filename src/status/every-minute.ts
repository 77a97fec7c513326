import { errorText } from '../base/exit.ts';
import { plural } from '../base/format.ts';
import type { Log } from '../base/log.ts';
import { HOUR_MS, MINUTE_MS, sleep } from '../base/time.ts';
import type { CollectorState } from './health.ts';
import {
  isFixed,
  isOpen,
  isRefused,
  type Judged,
  type JudgedReason,
  judgeAll,
  REQUESTS,
  stateOf,
} from './state.ts';
import { faultOf } from './problem-words.ts';
import { named, problemWords, reasonLabel } from './words.ts';

interface Minutely {
  readonly snapshot: () => CollectorState;
  /** Never rejects. */
  readonly save: () => Promise<void>;
  /** Returns the fix, with its command, in one line. */
  readonly fixFor: (reason: JudgedReason, judged: Judged) => string;
  /** Returns why viewlog can't create files in its data directory. */
  readonly directoryWarning: () => Promise<string | undefined>;
  readonly log: Log;
}

/**
 * Once a minute, saves the counts and logs which projects' views begin to be refused or are
 * accepted again, and whether viewlog can no longer create files.
 * @returns a function that stops the checks and resolves once the counts are saved for the last
 *   time.
 */
export function everyMinute(options: Minutely): () => Promise<void> {
  const { snapshot, save, fixFor, directoryWarning, log } = options;
  const ending = new AbortController();
  let warned: string | undefined;
  const refusalLog = new RefusalLog(fixFor, log);
  const run = async (): Promise<void> => {
    for (let isLast = false; !isLast;) {
      await sleep(MINUTE_MS, ending.signal);
      isLast = ending.signal.aborted;
      await save();
      try {
        const state = snapshot();
        if (isLast) return;
        await judgeAll(state, (one) => refusalLog.update(one, state));
        const warning = await directoryWarning();
        if (warning !== undefined && warning !== warned) log.warn(warning);
        if (warning === undefined && warned)
          log.info('viewlog can create files in its data directory again');
        warned = warning;
      } catch (error) {
        log.error(
          `Can't check for refused views: ${errorText(error)}; viewlog will try again in a minute`,
        );
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
 * Logs when views begin to be refused, with the fix of each cause, and when causes end: each at
 * most once per project and hour.
 */
export class RefusalLog {
  readonly #fixFor: Minutely['fixFor'];
  readonly #log: Pick<Log, 'info' | 'warn'>;
  /** By id: when a line of each kind was last logged, and the logged causes that haven't ended. */
  readonly #logged = new Map<string, typeof NEVER>();

  constructor(fixFor: Minutely['fixFor'], log: Pick<Log, 'info' | 'warn'>) {
    this.#fixFor = fixFor;
    this.#log = log;
  }

  update(judged: Judged, { nowMs, counts }: Pick<CollectorState, 'nowMs' | 'counts'>): void {
    const { id, kind, state, reasons } = judged;
    let last = this.#logged.get(id) ?? NEVER;
    const fromMs = Math.max(counts.startMs, last.endedMs, last.beganMs);
    const open = reasons.filter(isOpen);
    const fixed = reasons.filter(isFixed);
    // Refusals that ended before they were logged, and the project's state before they ended.
    const burst = fixed.filter((one) => one.lastMs > fromMs && !last.causes.has(reasonLabel(one)));
    const since = burst.length > 0 ? Math.min(...burst.map((one) => one.acceptedSince)) : 0;
    const accepted = Math.max(0, judged.accepted - since);
    const refused = burst.reduce((sum, { lastHour }) => sum + lastHour, 0);
    const seen = { ...judged, accepted, refused };
    const inAll = judged.activity.refusedIn?.lastHour(nowMs) ?? 0;
    const now = { ...judged, figures: { refusedLastHour: inAll } };
    const isNow = isRefused(judged);
    const then = isNow ? now : { ...seen, state: stateOf(seen) };
    const causes = new Map<string, JudgedReason>();
    // All origins share one label. It stands for the origin with the most refusals.
    for (const one of isNow ? open : burst) {
      if (!causes.has(reasonLabel(one))) causes.set(reasonLabel(one), one);
    }
    const who = whoOf(judged);
    const fresh = [...causes].filter(([cause]) => !last.causes.has(cause));
    const begun = fresh[0]?.[1];
    // viewlog advises a limit only after a full minute.
    const isKnown = begun?.remedy.kind !== 'raise-limit' || begun.remedy.sent !== undefined;
    if (begun && isRefused(then) && isKnown && nowMs - last.beganMs >= HOUR_MS) {
      last = { ...last, beganMs: nowMs, causes: isNow ? new Set(causes.keys()) : last.causes };
      const whole = { ...then, accepted: judged.accepted };
      const what = problemWords(whole, ` (${[...causes.keys()].join(', ')})`);
      this.#warn(judged, `${who}: ${what}. `, fresh, isNow && causes.size > 1);
    }
    const logged = open.map(reasonLabel).filter((cause) => last.causes.has(cause));
    const isOver = state === 'arriving';
    const left = new Set(isOver ? [] : logged);
    const isEnded = left.size < last.causes.size && (left.size > 0 || isOver);
    if (isEnded && nowMs - last.endedMs >= HOUR_MS) {
      const ended = [...last.causes].filter((cause) => !left.has(cause));
      // Without a fix, other views may have been accepted instead.
      const isCauseFixed = (cause: string): boolean => {
        const reasons = fixed.filter((one) => reasonLabel(one) === cause);
        return reasons.length > 0 && reasons.every(({ remedy }) => remedy.kind === 'fixed');
      };
      const isAgain = open.length === 0 && ended.every(isCauseFixed);
      const [gone, few] =
        kind === 'requests'
          ? ['requests no longer fail', 'requests still fail']
          : ['views are no longer refused', 'views are still refused'];
      const isRare = isOver && logged.length > 0;
      const over = isAgain
        ? 'views are accepted again; they had been refused'
        : `${gone} for ${ended.length > 1 ? 'these reasons' : 'this reason'}`;
      const how = isRare ? `at most one in ten ${few}` : over;
      const others = [...new Set(open.map(reasonLabel))].join(', ');
      const rest = open.length > 0 && !isRare ? `; not fixed yet: ${others}` : '';
      last = { ...last, endedMs: nowMs, causes: left };
      this.#log.info(`${who}: ${how} (${ended.join(', ')})${rest}`);
    }
    if (last !== NEVER) this.#logged.set(id, last);
  }

  /**
   * @param what the problem, for the line with the fix of the first cause; each other fix has a line
   *   of its own.
   * @param isNamed whether that line names its cause.
   */
  #warn(
    judged: Judged,
    what: string,
    causes: readonly (readonly [string, JudgedReason])[],
    isNamed: boolean,
  ): void {
    const { kind } = judged;
    const open = judged.reasons.filter(isOpen);
    // The advice about a removed id is about all its views.
    const isOne = kind === 'unlisted';
    const also = kind === 'requests' ? ' also failed' : ': views were also refused';
    const fixes = new Set<string>();
    for (const [cause, one] of causes) {
      const isFirst = fixes.size === 0;
      if (!isFirst && (isOne || !open.includes(one))) continue;
      const origins = open.filter((other) => reasonLabel(other) === cause).length;
      const all = `These views came from ${plural(origins, 'origin')}, all shown on the status page. `;
      const fix = `${origins > 1 && !isOne ? all : ''}${this.#fixFor(one, judged)}`;
      const fault = isOne ? undefined : faultOf(one);
      const latest = isFirst && isNamed ? `The latest "${cause}"` : 'The latest fault';
      const which = isFirst && isNamed && !isOne ? `For "${cause}": ` : '';
      const start = isFirst ? what : `${whoOf(judged)}${also} (${cause}). `;
      const about = fault === undefined ? which : `${latest}: ${fault}. `;
      if (!fixes.has(fix)) this.#log.warn(`${start}${about}${fix}`);
      fixes.add(fix);
    }
  }
}

function whoOf({ id, name, kind }: Judged): string {
  if (kind === 'requests') return REQUESTS.name!;
  const project = `Project ${id}${name === undefined ? '' : ` (${named(name)})`}`;
  return kind === 'unlisted' ? `${project}, which is no longer listed` : project;
}
