import { columnOf } from '../base/columns.ts';
import { EXIT } from '../base/exit.ts';
import { loadProjects, type Project } from '../projects/project-list.ts';
import { printable } from '../base/text.ts';
import { defineCommand } from './command.ts';

const HEAD = ['ID', 'ACTIVE', 'NAME', 'ORIGINS', 'VIEWS/MINUTE', 'CONTACT'];

/** Lists the projects file as a table. */
export const projects = defineCommand({
  name: 'projects',
  operands: '',
  summary: 'lists the projects',
  examples: ['viewlog projects --data /var/lib/viewlog'],
  options: ['data', 'projects'],
  async run(settings, _, { print }) {
    const listed = (await loadProjects(settings.projects)).all();
    const name = printable(settings.projects, Infinity);
    if (listed.length === 0) print(`No projects in ${name}; "viewlog activate ID" adds one`);
    else print(tableOf([HEAD, ...listed.map(rowOf)]));
    return EXIT.done;
  },
});

function rowOf(project: Project): string[] {
  return [
    project.id,
    project.active ? 'yes' : 'no',
    printable(project.name ?? '') || '-',
    project.origins?.map((origin) => printable(origin)).join(' ') ?? 'any',
    String(project.maxViewsPerMinute ?? 'no limit'),
    printable(project.contact ?? '') || '-',
  ];
}

function tableOf(rows: readonly (readonly string[])[]): string {
  const columns = HEAD.map((_, column) =>
    columnOf(
      rows.map((row) => row[column]!),
      false,
    ),
  );
  return rows
    .map((_, row) =>
      columns
        .map((cells) => cells[row])
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}
