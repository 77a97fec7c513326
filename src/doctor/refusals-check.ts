import { plural } from '../base/format.ts';
import { printable } from '../base/text.ts';
import { DAY_MS } from '../base/time.ts';
import { loadProjects } from '../projects/project-list.ts';
import { restoredCounts } from '../status/saved-counts.ts';
import { activationOf, type Installation, raisedLimitOf } from '../status/shell-commands.ts';
import { type JudgedReason, judgeAll } from '../status/state.ts';
import { rowOf } from '../view/refusal.ts';
import { timeOf } from './clock-check.ts';
import { doubtful, type Finding, well } from './finding.ts';

const CHECK = 'refusals';
const RECENT_MS = DAY_MS;
const FINDINGS_MAX = 5;

/** What was refused of listed projects, and since when that is known. */
interface Refused {
  readonly sinceMs: number;
  readonly projects: readonly {
    readonly id: string;
    readonly reasons: readonly Omit<JudgedReason, 'sinceMs' | 'lastHour'>[];
  }[];
}

/** Views of listed projects that were refused in the last 24 hours, unless that is fixed by now. */
export function checkRefusals(
  { projects, sinceMs }: Refused,
  nowMs: number,
  installation: Installation,
): Finding[] {
  const isWhole = nowMs - sinceMs >= RECENT_MS;
  const when = isWhole ? 'in the last 24 hours' : `since ${timeOf(sinceMs)}`;
  const findings = projects.flatMap(({ id, reasons }) =>
    reasons
      .filter(({ lastMs }) => nowMs - lastMs < RECENT_MS)
      .map((reason) => findingOf(id, reason, when, installation))
      .filter((finding) => finding !== undefined),
  );
  if (findings.length === 0) {
    return [well(CHECK, `No view of a listed project was refused ${when}, or its cause is mended`)];
  }
  const more = findings.length - FINDINGS_MAX;
  if (more <= 0) return findings;
  const what = `${more} more of these, by project and reason`;
  const todo = 'The status page shows them all';
  return [...findings.slice(0, FINDINGS_MAX), doubtful(CHECK, what, WHY, todo)];
}

const WHY = 'they are in no view file';
const WHY_REPLAYED = `${WHY}; once it is mended, "viewlog replay" sends them again`;
const MEND_PAGE =
  'Mend it in the page that sends it ("viewlog explain" reads a line of the files of refused views); this is told for 24 hours';

/** @returns undefined if it is fixed. */
function findingOf(
  id: string,
  { lastMs, lastDay, sample, remedy, isFixed }: Refused['projects'][number]['reasons'][number],
  when: string,
  installation: Installation,
): Finding | undefined {
  if (isFixed || remedy.kind === 'fixed') return undefined;
  const { code, origin, issues } = sample;
  const [issue] = issues;
  const fault =
    issue === undefined ? '' : ` ("${printable(issue.field)}" ${printable(issue.message)})`;
  const from =
    code === 'origin-not-allowed' ? `, from ${printable(origin ?? 'no origin at all', 64)}` : '';
  const what = `${plural(lastDay, 'view')} of project ${id} refused ${when}, ${code}${fault}${from}, the last at ${timeOf(lastMs)}`;
  if (code === 'invalid-view') return doubtful(CHECK, what, WHY, MEND_PAGE);
  const todo =
    commandOf(id, remedy, installation) ?? `"viewlog help trouble", ${rowOf(code).status}`;
  return doubtful(CHECK, what, rowOf(code).isKept ? WHY_REPLAYED : WHY, todo);
}

function commandOf(
  id: string,
  remedy: JudgedReason['remedy'],
  installation: Installation,
): string | undefined {
  const { projectsPath, account } = installation;
  if (remedy.kind === 'raise-limit') return raisedLimitOf(id, remedy.viewsPerMinute, installation);
  if (remedy.kind !== 'activate' && remedy.kind !== 'add-origins') return undefined;
  return activationOf(id, remedy.origins[0], projectsPath, account);
}

/**
 * The same from the counts that the collector has saved, if it does not answer.
 * @throws if they cannot be read.
 */
export async function savedRefusals(
  installation: Installation,
  now: () => number,
): Promise<Refused | undefined> {
  const { dataDir: dir, projectsPath } = installation;
  if (dir === undefined) return undefined;
  const projects = await loadProjects(projectsPath);
  const fail = (message: string): never => {
    throw new Error(message);
  };
  const isListed = (id: string): boolean => projects.find(id) !== undefined;
  const counts = await restoredCounts(dir, { now, isListed }, { warn: fail });
  const around = { nowMs: now(), isProjectsFileFaulty: false, unavailable: undefined };
  const judged = await judgeAll(projects.all(), counts.projects, around);
  return {
    sinceMs: counts.sinceMs,
    projects: judged.map(({ project, reasons }) => ({ id: project.id, reasons })),
  };
}
