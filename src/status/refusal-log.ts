// Logs when views of a project begin to be refused, and when that ends.
import { formatCount, plural } from '../base/format.ts';
import type { Log } from '../base/log.ts';
import { HOUR_MS } from '../base/time.ts';
import { withName } from '../projects/project-list.ts';
import type { CollectorState } from './health.ts';
import { faultOf } from './problem-words.ts';
import {
  inLastHour,
  isFixed,
  isOpen,
  isRefused,
  type Judged,
  type JudgedReason,
  REQUESTS,
  stateOf,
} from './state.ts';
import { BY_ORIGIN } from './reasons.ts';
import { at, fromOrigin, nounOf, problemWords, reasonLabel, were } from './words.ts';

const NEVER = {
  beganMs: -Infinity,
  burstMs: -Infinity,
  endedMs: -Infinity,
  causes: new Set<string>(),
};

/**
 * Logs when views begin to be refused, with the fix of each cause, when causes end, and refusals that
 * ended before they were logged: each at most once per project and hour.
 */
export class RefusalLog {
  readonly #fixFor: (reason: JudgedReason, judged: Judged) => string;
  readonly #log: Pick<Log, 'info' | 'warn'>;
  /** By id: when lines of each kind were last logged, and the logged causes that haven't ended. */
  readonly #logged = new Map<string, typeof NEVER>();

  /** @param fixFor returns the fix, with its command, in one line. */
  constructor(
    fixFor: (reason: JudgedReason, judged: Judged) => string,
    log: Pick<Log, 'info' | 'warn'>,
  ) {
    this.#fixFor = fixFor;
    this.#log = log;
  }

  update(judged: Judged, { nowMs, counts }: Pick<CollectorState, 'nowMs' | 'counts'>): void {
    const { id, state, reasons } = judged;
    let last = this.#logged.get(id) ?? NEVER;
    const fromMs = Math.max(counts.startMs, last.endedMs, last.beganMs, last.burstMs);
    const open = reasons.filter(isOpen);
    const isNow = isRefused(judged);
    const isLogged = (one: JudgedReason): boolean => last.causes.has(reasonLabel(one));
    const burst = reasons.filter((one) => isFixed(one) && one.lastMs > fromMs && !isLogged(one));
    const then = isNow ? withAll(judged, nowMs) : asBefore(judged, burst);
    const all = isNow ? open : burst;
    const known = all.filter(isFixKnown);
    const fresh = known.filter((one) => !isLogged(one));
    const loggedMs = isNow ? last.beganMs : last.burstMs;
    if (fresh.length > 0 && isRefused(then) && nowMs - loggedMs >= HOUR_MS) {
      const lines = this.#linesOf(judged, { ...then, accepted: judged.accepted }, all, fresh);
      // Nobody needs to act on refusals that have ended.
      for (const line of lines) this.#log[isNow ? 'warn' : 'info'](`${whoOf(judged)}: ${line}`);
      last = isNow
        ? { ...last, beganMs: nowMs, causes: new Set(known.map(reasonLabel)) }
        : { ...last, burstMs: nowMs };
    }
    const isOver = state === 'arriving';
    const labels = new Set(open.map(reasonLabel));
    const left = new Set(isOver ? [] : [...labels].filter((cause) => last.causes.has(cause)));
    const isEnded = left.size < last.causes.size && (left.size > 0 || isOver);
    if (isEnded && nowMs - last.endedMs >= HOUR_MS) {
      const causesEnded = [...last.causes].filter((cause) => !left.has(cause));
      this.#log.info(`${whoOf(judged)}: ${endWords(judged, causesEnded)}`);
      last = { ...last, endedMs: nowMs, causes: left };
    }
    if (last !== NEVER) this.#logged.set(id, last);
  }

  /** Returns one line for a problem with one reason; otherwise a summary, and a line for each. */
  #linesOf(
    judged: Judged,
    then: Problem,
    all: readonly JudgedReason[],
    fresh: readonly JudgedReason[],
  ): string[] {
    const { kind } = judged;
    const labels = [...new Set(all.map(reasonLabel))];
    const what = problemWords(then, ` (${labels.join(', ')})`);
    const fixFor = (one: JudgedReason): string => this.#fixFor(one, judged);
    // The advice about an id that isn't listed is about all its views.
    if (kind === 'unlisted') return [`${what}. ${fixFor(fresh[0]!)}`];
    const [only, ...more] = all as [JudgedReason, ...JudgedReason[]];
    if (more.length === 0) {
      const fix = fixFor(only);
      return [`${what}. ${originIn(only, fix)}${faultIn(only)}${fix}`];
    }
    const each = labels.flatMap((label) => {
      const same = fresh.filter((one) => reasonLabel(one) === label);
      const lines = same.slice(0, ORIGINS_MAX).map((one) => {
        return `${countWords([one], fromWords(one), kind)}. ${faultIn(one)}${fixFor(one)}`;
      });
      const rest = same.slice(ORIGINS_MAX);
      const isExact = !rest.some(({ isCollective }) => isCollective);
      const from = isExact ? ` from ${plural(rest.length, 'other origin')}` : ' from other origins';
      if (rest.length > 0) lines.push(countWords(rest, from, kind));
      return lines;
    });
    return [what, ...each];
  }
}

type Problem = Parameters<typeof problemWords>[0];

const ORIGINS_MAX = 3;

/**
 * Returns whether there is a fix to log: viewlog suggests a limit only after a full minute, and an
 * edit of the projects file only once it can work.
 */
const isFixKnown = ({ remedy }: JudgedReason): boolean =>
  remedy.kind !== 'wait' && (remedy.kind !== 'raise-limit' || remedy.sent !== undefined);

/** `2 views from https://a.example were refused (origin not allowed)` */
function countWords(reasons: readonly JudgedReason[], from: string, kind: Judged['kind']): string {
  const count = inLastHour(reasons);
  const failed = kind === 'requests' ? 'failed' : `${were(count)} refused`;
  return `${plural(count, nounOf(kind))}${from} ${failed} (${reasonLabel(reasons[0]!)})`;
}

/** Returns where the views of a reason came from, if each origin is a reason of its own. */
function fromWords({ sample: { code, origin }, isCollective }: JudgedReason): string {
  if (!BY_ORIGIN.has(code)) return '';
  if (isCollective) return ' from other origins';
  if (origin !== undefined) return ` ${fromOrigin(origin)}`;
  return code === 'origin-not-allowed' ? '' : ' without an Origin header';
}

/** Returns a sentence about the origin of a reason's views, unless the fix names the origin. */
function originIn(reason: JudgedReason, fix: string): string {
  const { origin } = reason.sample;
  const isNamed = origin === '' || (origin !== undefined && fix.includes(` ${origin}`));
  const from = isNamed ? '' : fromWords(reason);
  return from === '' ? '' : `The latest refused view came${from}. `;
}

function faultIn(reason: JudgedReason): string {
  const fault = faultOf(reason);
  const { code, origin } = reason.sample;
  const from = origin === undefined || BY_ORIGIN.has(code) ? '' : `, ${fromOrigin(origin)}`;
  return fault === undefined ? '' : `The latest fault${from}: ${fault}. `;
}

/** Adds how many views were refused for any reason. */
const withAll = (judged: Judged, nowMs: number): Problem & Judged => ({
  ...judged,
  figures: { refusedLastHour: judged.activity.refusedIn?.lastHour(nowMs) ?? 0 },
});

/** Returns the project as it was before these reasons were fixed. */
function asBefore(judged: Judged, fixed: readonly JudgedReason[]): Judged {
  const since = fixed.length > 0 ? Math.min(...fixed.map((one) => one.acceptedSince)) : 0;
  const accepted = Math.max(0, judged.accepted - since);
  const refused = inLastHour(fixed);
  const before = { ...judged, accepted, refused };
  return { ...before, state: stateOf(before) };
}

/** @param ended the labels of the causes that have ended. */
function endWords(
  { kind, state, reasons, accepted, refused }: Judged,
  ended: readonly string[],
): string {
  const open = new Set(reasons.filter(isOpen).map(reasonLabel));
  const labels = `(${ended.join(', ')})`;
  const isRequests = kind === 'requests';
  const noun = nounOf(kind);
  if (state === 'arriving' && ended.some((label) => open.has(label))) {
    const gone = inLastHour(reasons.filter(isFixed));
    const left =
      gone === 0
        ? ''
        : `, not counting ${formatCount(gone)} ${isRequests ? 'that failed' : 'refused'} earlier for causes that have ended`;
    return `${isRequests ? 'failures' : 'refusals'} are rare again: ${formatCount(refused)} of ${plural(accepted + refused, noun)} in the last hour (${[...open].join(', ')})${left}`;
  }
  // Without a fix, other views may have been accepted instead.
  const isCauseFixed = (label: string): boolean => {
    const same = reasons.filter((one) => isFixed(one) && reasonLabel(one) === label);
    return same.length > 0 && same.every(({ remedy }) => remedy.kind === 'fixed');
  };
  if (open.size === 0 && ended.every(isCauseFixed))
    return `views are accepted again; they had been refused ${labels}`;
  if (open.size > 0) {
    const some = isRequests ? 'requests no longer fail' : 'views are no longer refused';
    return `some ${some} ${labels}; others still ${isRequests ? 'do' : 'are'} (${[...open].join(', ')})`;
  }
  const times = reasons
    .filter((one) => ended.includes(reasonLabel(one)))
    .map(({ sample }) => sample.atMs);
  const what = isRequests ? 'request has failed' : 'view has been refused';
  // The page forgets a reason after a day.
  const since = times.length > 0 ? `since ${at(Math.max(...times))}` : 'in the last 24 hours';
  return `no ${what} ${since} ${labels}`;
}

function whoOf({ id, name, removed, kind }: Judged): string {
  if (kind === 'requests') return REQUESTS.name!;
  const project = `Project ${withName({ id, name: name ?? removed?.name })}`;
  return kind === 'unlisted' ? `${project}, which is no longer listed` : project;
}
