import { DAY_MS } from '../base/time.ts';
import { clip } from '../base/text.ts';
import { causeOf, isTrouble, rankOf, stateOf } from './arrival.ts';
import type { CollectorSource } from './collector-source.ts';
import { type Activity, ProjectActivity } from './counts.ts';
import { daysAt } from './days.ts';
import type { Judged } from './headline.ts';
import type { RefusalGroup, RefusedOrigin } from './refusal-groups.ts';
import { SampleBudget } from './sample-budget.ts';
import { activationOf, isPlainOrigin } from './shell-commands.ts';

/** Views; those before a restart are of the files. */
export interface ShownActivity {
  /** As of the last sixty seconds. */
  readonly perMinute: number;
  readonly lastHour: number;
  readonly today: number;
  /** `undefined` where nothing is known of it. */
  readonly yesterday?: number | undefined;
  readonly refusedLastHour: number;
  /** In 24 hours. */
  readonly refused: number;
  readonly lastAcceptedMs?: number | undefined;
  /** By quarters of an hour, oldest first, the running one last; from the first that had any. */
  readonly acceptedByQuarter: readonly number[];
  readonly refusedByQuarter: readonly number[];
}

export interface ShownRefusals extends Omit<RefusalGroup, 'origins'> {
  readonly origins: readonly ShownOrigin[];
  /** What mends it, whatever the origin. */
  readonly command?: string | undefined;
}

export interface ShownOrigin extends Omit<RefusedOrigin, 'latest'> {
  readonly latest?: RefusedOrigin['latest'] | undefined;
  /** What mends it for this origin. */
  readonly command?: string | undefined;
}

export interface ShownProject extends Judged {
  readonly activity: ShownActivity;
  readonly refusals: readonly ShownRefusals[];
}

/** A project with what is counted of it. */
export interface Ranked extends Judged {
  readonly counted: ProjectActivity;
}

const PROJECTS_MAX = 200;
const NAME_LENGTH_MAX = 200;
/** A snapshot is made each second, and strangers decide how many samples there are. */
const SAMPLES_MAX = 100;

const NONE = new ProjectActivity(new SampleBudget(0));

/** The listed projects, judged: trouble first, then those that were heard of last. */
export function rankedProjects({ projects, counts }: CollectorSource, nowMs: number): Ranked[] {
  const ranked = projects.all().map(({ id, name, active }): Ranked => {
    const counted = counts.projects.get(id) ?? NONE;
    return {
      id,
      name: name === undefined ? `Project ${id}` : clip(name, NAME_LENGTH_MAX),
      active,
      state: counted === NONE && active ? 'no-view' : stateOf({ active }, counted, nowMs),
      cause: causeOf(counted.refusals.list(), nowMs),
      counted,
    };
  });
  const lastOf = ({ counted }: Ranked): number => counted.lastAcceptedMs ?? 0;
  return ranked.sort(
    (a, b) =>
      rankOf(a.state) - rankOf(b.state) ||
      (isTrouble(a.state) ? byName(a, b) : lastOf(b) - lastOf(a)),
  );
}

const { compare } = new Intl.Collator('en', { numeric: true });
const byName = (a: Ranked, b: Ranked): number => compare(a.name, b.name);

/** As many as the page shows: trouble first, then by name. */
export function shownProjects(
  ranked: readonly Ranked[],
  source: CollectorSource,
  nowMs: number,
): ShownProject[] {
  let samples = SAMPLES_MAX;
  return ranked
    .slice(0, PROJECTS_MAX)
    .sort((a, b) => rankOf(a.state) - rankOf(b.state) || byName(a, b))
    .map(({ id, name, active, state, cause, counted }) => {
      const refusals = counted.refusals.list().map((group) => {
        samples -= 1 + group.origins.length;
        return shownRefusals(group, id, source, samples >= 0);
      });
      const activity = shownActivity(counted, source, nowMs);
      return { id, name, active, state, cause, activity, refusals };
    });
}

function shownRefusals(
  { code, count, lastMs, latest, origins }: RefusalGroup,
  id: string,
  { projects, installation: { projectsPath, account } }: CollectorSource,
  hasSamples: boolean,
): ShownRefusals {
  const project = projects.find(id);
  // None for what has been mended meanwhile.
  const commandFor = (origin: string): string | undefined =>
    code === 'origin-not-allowed' && isPlainOrigin(origin) && !project?.allowsOrigin(origin)
      ? activationOf(id, origin, projectsPath, account)
      : undefined;
  return {
    code,
    count,
    lastMs,
    latest: hasSamples ? latest : undefined,
    origins: origins.map((from) => ({
      origin: from.origin,
      count: from.count,
      latest: hasSamples ? from.latest : undefined,
      command: commandFor(from.origin),
    })),
    command:
      code === 'project-not-activated' && !project?.active
        ? activationOf(id, undefined, projectsPath, account)
        : undefined,
  };
}

export function shownActivity(
  { acceptedIn, refusedIn, lastAcceptedMs }: Activity,
  { known }: CollectorSource,
  nowMs: number,
): ShownActivity {
  const { todayMs, yesterdayMs } = daysAt(nowMs);
  const refusedByQuarter = refusedIn?.day(nowMs) ?? [];
  return {
    perMinute: acceptedIn.perMinute(nowMs),
    lastHour: acceptedIn.lastHour(nowMs),
    today: acceptedIn.between(todayMs, nowMs + 1, nowMs),
    yesterday:
      known.sinceMs >= todayMs ? undefined : acceptedIn.between(yesterdayMs, todayMs, nowMs),
    refusedLastHour: refusedIn?.lastHour(nowMs) ?? 0,
    refused: refusedByQuarter.reduce((sum, count) => sum + count, 0),
    lastAcceptedMs,
    acceptedByQuarter: fromFirst(acceptedIn.day(nowMs)),
    refusedByQuarter: fromFirst(refusedByQuarter),
  };
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
