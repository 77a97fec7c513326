import { once } from '../base/once.ts';
import { clip } from '../base/text.ts';
import { isTrouble, lossOf, ownOf, rankOf, reasonsOf, stateOf } from './arrival.ts';
import type { CollectorSource } from './collector-source.ts';
import { ProjectActivity } from './counts.ts';
import type { Judged } from './headline.ts';
import { isPlainOrigin } from './plain-origin.ts';
import type { Project } from '../projects/project-list.ts';
import type { RefusalCode } from '../view/refusal.ts';
import type { RefusalGroup, RefusedOrigin } from './refusal-groups.ts';
import { SampleBudget } from './sample-budget.ts';
import { type ShownActivity, shownActivity } from './shown-activity.ts';
import { activationOf, doctorOf, type Installation, scriptCheckOf } from './shell-commands.ts';

export interface ShownRefusals extends Omit<RefusalGroup, 'origins'> {
  readonly origins: readonly ShownOrigin[];
  /** Views a minute, where they are over it. */
  readonly limit?: number | undefined;
  /** What mends it, whatever the origin. */
  readonly command?: string | undefined;
}

export interface ShownOrigin extends Omit<RefusedOrigin, 'latest'> {
  readonly latest?: RefusedOrigin['latest'] | undefined;
  /** What mends it for this origin. */
  readonly command?: string | undefined;
}

export interface ShownProject extends Judged {
  /** Of views in an hour, by its trouble. */
  readonly loss: number;
  readonly activity: ShownActivity;
  readonly refusals: readonly ShownRefusals[];
  /** How to look into its silence. */
  readonly look?: Look | undefined;
}

/** What to do, and its command where there is one that works as it stands. */
interface Look {
  readonly text: string;
  readonly command?: string | undefined;
}

/** What projects are shown by. */
export type ProjectsSource = Pick<
  CollectorSource,
  'projects' | 'counts' | 'known' | 'installation'
>;

/** A project with what is counted of it. */
export interface Ranked extends Judged {
  readonly counted: ProjectActivity;
  /** Of views in an hour, by its trouble. */
  readonly loss: number;
}

const PROJECTS_MAX = 200;
export const NAME_LENGTH_MAX = 200;
/** A snapshot is made each second, and strangers decide how many samples there are. */
const SAMPLES_MAX = 100;

const NONE = new ProjectActivity(new SampleBudget(0));

/**
 * The listed projects, judged: trouble first, by what it loses, then those that were heard of last.
 * @param isOutage whether no view can be stored now.
 */
export function rankedProjects(
  { projects, counts }: ProjectsSource,
  nowMs: number,
  isOutage: boolean,
): Ranked[] {
  const ranked = projects.all().map(({ id, name, active }): Ranked => {
    const counted = counts.projects.get(id) ?? NONE;
    const refusals = counted.refusals.list(nowMs);
    const lost = refusals.find(({ code }) => code === 'storage-unavailable')?.lastHour ?? 0;
    const notStored = isOutage ? lost : undefined;
    const state =
      counted === NONE && active ? 'no-view' : stateOf({ active }, counted, nowMs, notStored);
    return {
      id,
      name: name === undefined ? `Project ${id}` : clip(name, NAME_LENGTH_MAX),
      active,
      state,
      loss: lossOf(state, counted, nowMs),
      causes: reasonsOf(isOutage ? ownOf(refusals) : refusals).map(({ code }) => code),
      counted,
    };
  });
  const lastOf = ({ counted }: Ranked): number => counted.lastAcceptedMs ?? 0;
  return ranked.sort(
    (a, b) => byTrouble(a, b) || (isTrouble(a.state) ? byName(a, b) : lastOf(b) - lastOf(a)),
  );
}

const collator = once(() => new Intl.Collator('en', { numeric: true }));
/** What loses most views first, red before amber. */
const byTrouble = (a: Ranked, b: Ranked): number => rankOf(a) - rankOf(b) || b.loss - a.loss;
const byName = (a: Ranked, b: Ranked): number => collator().compare(a.name, b.name);

/** As many as the page shows: trouble first, then by name. */
export function shownProjects(
  ranked: readonly Ranked[],
  source: ProjectsSource,
  nowMs: number,
): ShownProject[] {
  let samples = SAMPLES_MAX;
  return ranked
    .slice(0, PROJECTS_MAX)
    .sort((a, b) => byTrouble(a, b) || byName(a, b))
    .map(({ id, name, active, state, loss, causes, counted }) => {
      const refusals = counted.refusals.list(nowMs).map((group) => {
        samples -= 1 + group.origins.length;
        return shownRefusals(group, id, source, samples >= 0);
      });
      const activity = shownActivity(counted, source, nowMs);
      const look = state === 'silent' ? lookOf(id, source, nowMs) : undefined;
      return { id, name, active, state, loss, causes, activity, refusals, look };
    });
}

const SCRIPT_GONE =
  'prints the line of its page that has the script; where there is none, put it back:';

function lookOf(id: string, source: ProjectsSource, nowMs: number): Look {
  const { counts, projects, installation } = source;
  if (counts.total.acceptedIn.lastHour(nowMs) === 0) {
    const text = 'No project has views now. Look whether browsers reach viewlog:';
    return { text, command: doctorOf(installation) };
  }
  const site = projects.find(id)?.origins?.find(isPlainOrigin);
  if (site === undefined) {
    const text = `With its address in place of ADDRESS, this ${SCRIPT_GONE}`;
    return { text, command: scriptCheckOf(id, 'https://ADDRESS') };
  }
  return { text: `This ${SCRIPT_GONE}`, command: scriptCheckOf(id, site) };
}

function shownRefusals(
  { code, count, lastHour, lastMs, latest, origins }: RefusalGroup,
  id: string,
  { projects, installation: { projectsPath, account } }: ProjectsSource,
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
    lastHour,
    lastMs,
    latest: hasSamples ? latest : undefined,
    origins: origins.map((from) => ({
      origin: from.origin,
      count: from.count,
      latest: hasSamples ? from.latest : undefined,
      command: commandFor(from.origin),
    })),
    limit: code === 'rate-limited' ? project?.maxViewsPerMinute : undefined,
    command: commandOf(code, id, project, { projectsPath, account }),
  };
}

/** What mends it, whatever the origin. */
function commandOf(
  code: RefusalCode,
  id: string,
  project: Project | undefined,
  { projectsPath, account }: Pick<Installation, 'projectsPath' | 'account'>,
): string | undefined {
  const activation = activationOf(id, undefined, projectsPath, account);
  if (code === 'project-not-activated' && !project?.active) return activation;
  const limit = project?.maxViewsPerMinute;
  if (code !== 'rate-limited' || limit === undefined || !project?.active) return undefined;
  return `${activation} --max-views-per-minute ${2 * limit}`;
}
