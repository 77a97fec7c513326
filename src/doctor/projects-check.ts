import { plural } from '../base/format.ts';
import { printable } from '../base/text.ts';
import { summaryOf } from '../projects/project-list.ts';
import { readProjectsFile } from '../projects/projects-file.ts';
import type { ProjectEntry } from '../projects/projects-schema.ts';
import { activationOf } from '../status/shell-commands.ts';
import { doubtful, type Finding, toBeMended, well } from './finding.ts';

const CHECK = 'projects file';

/** What is in the projects file, and those of its projects that may send. */
export async function checkProjects(
  path: string,
): Promise<{ readonly finding: Finding; readonly active: readonly ProjectEntry[] }> {
  const reading = await readProjectsFile(path);
  if ('faults' in reading) {
    const [first = '', ...more] = reading.faults;
    const rest = more.length === 0 ? '' : ` (and ${plural(more.length, 'more fault')})`;
    const why = 'viewlog does not start; one that runs keeps to the last good list';
    const todo = 'Mend it; "viewlog check" tells every fault';
    return { finding: toBeMended(CHECK, first + rest, why, todo), active: [] };
  }
  const { projects, operator } = reading.file;
  const active = projects.filter((project) => project.active ?? true);
  const what = `"${printable(path, Infinity)}" has ${summaryOf(projects)}`;
  return { finding: findingOf(path, what, active, operator), active };
}

function findingOf(
  path: string,
  what: string,
  active: readonly ProjectEntry[],
  operator = '',
): Finding {
  const [first] = active;
  if (first === undefined)
    return doubtful(CHECK, what, 'every view is refused', activationOf('ID', undefined, path));
  const open = active.filter(({ origins }) => origins === undefined).length;
  const told = open === 0 ? what : `${what}, ${open} open to every site`;
  if (operator !== '') return well(CHECK, told);
  const todo = `${activationOf(first.id, undefined, path)} --operator you@example.com`;
  return doubtful(CHECK, `${told}, but no operator`, 'refusals cannot say whom to ask', todo);
}
