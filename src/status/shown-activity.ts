import { DAY_MS } from '../base/time.ts';
import type { CollectorSource } from './collector-source.ts';
import type { Activity } from './counts.ts';
import { daysAt } from './days.ts';
import { QUARTER_MS, type Timeline } from './timeline.ts';

// What is shown of views in numbers: of a project, of all, of what no project's line has.

/** Views; those before a restart are of the files. */
export interface ShownActivity {
  readonly lastTenMinutes: number;
  readonly refusedLastTenMinutes: number;
  readonly lastHour: number;
  readonly today: number;
  /** `undefined` where nothing is known of it. */
  readonly yesterday?: number | undefined;
  /** Until this time of day, the running quarter of an hour by its share. */
  readonly yesterdayByNow?: number | undefined;
  readonly refusedLastHour: number;
  /** The first minute of the last hour in which one was. */
  readonly refusedFromMs?: number | undefined;
  /** In 24 hours. */
  readonly refused: number;
  readonly lastAcceptedMs?: number | undefined;
  /** By quarters of an hour, oldest first, the running one last; from the first that had any. */
  readonly acceptedByQuarter: readonly number[];
  readonly refusedByQuarter: readonly number[];
}

export function shownActivity(
  { acceptedIn, refusedIn, lastAcceptedMs }: Activity,
  { known }: Pick<CollectorSource, 'known'>,
  nowMs: number,
): ShownActivity {
  const { todayMs, yesterdayMs } = daysAt(nowMs);
  const refusedByQuarter = refusedIn?.day(nowMs) ?? [];
  return {
    lastTenMinutes: acceptedIn.lastTenMinutes(nowMs),
    refusedLastTenMinutes: refusedIn?.lastTenMinutes(nowMs) ?? 0,
    lastHour: acceptedIn.lastHour(nowMs),
    today: acceptedIn.between(todayMs, nowMs + 1, nowMs),
    yesterday:
      known.sinceMs >= todayMs ? undefined : acceptedIn.between(yesterdayMs, todayMs, nowMs),
    yesterdayByNow: known.sinceMs > yesterdayMs ? undefined : yesterdayByNow(acceptedIn, nowMs),
    refusedLastHour: refusedIn?.lastHour(nowMs) ?? 0,
    refusedFromMs: refusedIn?.firstMinute(nowMs),
    refused: refusedByQuarter.reduce((sum, count) => sum + count, 0),
    lastAcceptedMs,
    acceptedByQuarter: fromFirst(acceptedIn.day(nowMs)),
    refusedByQuarter: fromFirst(refusedByQuarter),
  };
}

function yesterdayByNow(acceptedIn: Timeline, nowMs: number): number {
  const { todayMs, yesterdayMs } = daysAt(nowMs);
  const byMs = yesterdayMs + nowMs - todayMs;
  const quarterMs = Math.floor(byMs / QUARTER_MS) * QUARTER_MS;
  const running = acceptedIn.between(quarterMs, quarterMs + 1, nowMs);
  const share = (byMs - quarterMs) / QUARTER_MS;
  return acceptedIn.between(yesterdayMs, quarterMs, nowMs) + Math.round(running * share);
}

/** What no project's line has: of ids that are not in the projects file, or no more, and of none. */
export function shownRest(source: CollectorSource, nowMs: number): ShownActivity {
  const { counts, projects } = source;
  const gone = [...counts.projects].filter(([id]) => projects.find(id) === undefined);
  return [counts.unlisted, ...gone.map(([, activity]) => activity)]
    .map((activity) => shownActivity(activity, source, nowMs))
    .reduce(sumOf);
}

const sumOf = (a: ShownActivity, b: ShownActivity): ShownActivity => ({
  lastTenMinutes: a.lastTenMinutes + b.lastTenMinutes,
  refusedLastTenMinutes: a.refusedLastTenMinutes + b.refusedLastTenMinutes,
  lastHour: a.lastHour + b.lastHour,
  today: a.today + b.today,
  yesterday: a.yesterday === undefined ? undefined : a.yesterday + (b.yesterday ?? 0),
  yesterdayByNow:
    a.yesterdayByNow === undefined ? undefined : a.yesterdayByNow + (b.yesterdayByNow ?? 0),
  refusedLastHour: a.refusedLastHour + b.refusedLastHour,
  refused: a.refused + b.refused,
  lastAcceptedMs: Math.max(a.lastAcceptedMs ?? 0, b.lastAcceptedMs ?? 0) || undefined,
  acceptedByQuarter: sumOfQuarters(a.acceptedByQuarter, b.acceptedByQuarter),
  refusedByQuarter: sumOfQuarters(a.refusedByQuarter, b.refusedByQuarter),
});

/** Both end with the running one. */
function sumOfQuarters(a: readonly number[], b: readonly number[]): number[] {
  const [long, short] = a.length < b.length ? [b, a] : [a, b];
  const before = long.length - short.length;
  return long.map((count, i) => count + (short[i - before] ?? 0));
}

function fromFirst(counts: readonly number[]): number[] {
  const first = counts.findIndex((count) => count > 0);
  return first < 0 ? [] : counts.slice(first);
}

/** At the rate of 24 hours, or of the last one where no more is known; `undefined` in its first minute. */
export function viewsPerDay({ counts, known }: CollectorSource, nowMs: number): number | undefined {
  const { acceptedIn } = counts.total;
  if (known.sinceMs <= nowMs - DAY_MS && !known.isReading) {
    return acceptedIn.between(nowMs - DAY_MS, nowMs + 1, nowMs);
  }
  const minutes = Math.min(59, Math.floor((nowMs - known.sinceMs) / 60_000));
  if (minutes <= 0) return undefined;
  return (acceptedIn.lastMinutes(minutes, nowMs) / minutes) * 1440;
}
