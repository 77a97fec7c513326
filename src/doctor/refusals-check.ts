import { plural } from '../base/format.ts';
import { MiB } from '../base/size.ts';
import { printable } from '../base/text.ts';
import { DAY_MS } from '../base/time.ts';
import { loadProjects } from '../projects/project-list.ts';
import type { Known } from '../status/collector-source.ts';
import { Counts } from '../status/counts.ts';
import { History } from '../status/history.ts';
import { isPlainOrigin } from '../status/plain-origin.ts';
import type { Installation } from '../status/shell-commands.ts';
import {
  rankedProjects,
  type ShownProject,
  shownProjects,
  type ShownRefusals,
} from '../status/shown-projects.ts';
import { type RefusalCode, rowOf } from '../view/refusal.ts';
import { timeOf } from './clock-check.ts';
import { doubtful, type Finding, well } from './finding.ts';

const CHECK = 'refusals';
const RECENT_MS = DAY_MS;
const FINDINGS_MAX = 5;
const READ_BYTES_MAX = 16 * MiB;

/** What was refused of listed projects, and how far back that is known. */
interface Refused {
  readonly known: Known;
  readonly projects: readonly Pick<ShownProject, 'id' | 'refusals'>[];
}

/** Views of listed projects that were refused in the last 24 hours, unless it is mended by now. */
export function checkRefusals({ projects, known }: Refused, nowMs: number): Finding[] {
  const isWhole = nowMs - known.sinceMs >= RECENT_MS;
  const when = isWhole ? 'in the last 24 hours' : `since ${timeOf(known.sinceMs)}`;
  const findings = projects.flatMap(({ id, refusals }) =>
    refusals
      .filter(({ lastMs }) => nowMs - lastMs < RECENT_MS)
      .map((group) => findingOf(id, group, when))
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

/** What the projects file mends: without a command it is mended. */
const MENDED_THERE: ReadonlySet<RefusalCode> = new Set(['project-not-activated', 'rate-limited']);

/** @returns undefined where it is mended. */
function findingOf(id: string, group: ShownRefusals, when: string): Finding | undefined {
  const { code, lastMs, latest, command } = group;
  const left = code === 'origin-not-allowed' ? leftOf(group) : { count: group.count };
  if (left === undefined) return undefined;
  if (MENDED_THERE.has(code) && command === undefined) return undefined;
  const [issue] = latest?.issues ?? [];
  const fault =
    issue === undefined ? '' : ` ("${printable(issue.field)}" ${printable(issue.message)})`;
  const what = `${plural(left.count, 'view')} of project ${id} refused ${when}, ${code}${fault}${left.from ?? ''}, the last at ${timeOf(lastMs)}`;
  if (code === 'invalid-view') return doubtful(CHECK, what, WHY, MEND_PAGE);
  const todo = command ?? left.command ?? `"viewlog help trouble", ${rowOf(code).status}`;
  return doubtful(CHECK, what, rowOf(code).isKept ? WHY_REPLAYED : WHY, todo);
}

/** What is refused for its origin, but for origins that are listed by now. */
function leftOf({ count, origins }: ShownRefusals) {
  const left = origins.filter(
    ({ origin, command }) => command !== undefined || !isPlainOrigin(origin),
  );
  const [most] = left.toSorted((a, b) => b.count - a.count);
  if (most === undefined) return origins.length === 0 ? { count } : undefined;
  const from = `, most from ${most.origin === '' ? 'no origin at all' : printable(most.origin, 64)}`;
  return { count: left.reduce((sum, one) => sum + one.count, 0), from, command: most.command };
}

/**
 * The same from the files of refused views, of yesterday and today, where no collector tells it.
 * @throws where they cannot be read.
 */
export async function refusedInFiles(
  installation: Installation,
  now: () => number,
): Promise<Refused | undefined> {
  const { dataDir: dir, projectsPath } = installation;
  if (dir === undefined) return undefined;
  const projects = await loadProjects(projectsPath);
  const counts = new Counts({ now, isListed: (id) => projects.find(id) !== undefined });
  const faults: string[] = [];
  const fail = (message: string): number => faults.push(message);
  const log = { info: fail, warn: fail, error: fail };
  const known = new History({ dir, counts, log, kinds: ['refused'], bytesMax: READ_BYTES_MAX });
  await known.read();
  if (faults.length > 0) throw new Error(faults.join('; '));
  const source = { projects, counts, known, installation };
  return { projects: shownProjects(rankedProjects(source, now(), false), source, now()), known };
}
