import { EXIT } from '../base/exit.ts';
import { columnOf, printable } from '../base/text.ts';
import { loadProjects, type Project } from '../projects/project-list.ts';
import { defineCommand, withProjects } from './command.ts';

const HEAD = ['ID', 'ACTIVE', 'NAME', 'ORIGINS', 'VIEWS/MINUTE', 'CONTACT'];

/** Lists the projects file as a table. */
export const projects = defineCommand({
  name: 'projects',
  operands: '',
  summary: 'lists the projects',
  examples: ['viewlog projects --data /var/lib/viewlog'],
  options: ['data', 'projects'],
  async run({ projects: path }, _, { print }) {
    const listed = (await loadProjects(path)).all();
    if (listed.length > 0) print(tableOf([HEAD, ...listed.map(rowOf)]));
    else {
      const command = withProjects('activate ID', path);
      print(`No projects in ${printable(path, Infinity)}; add one: ${command}`);
    }
    return EXIT.done;
  },
});

const rowOf = (project: Project): string[] => [
  project.id,
  project.active ? 'yes' : 'no',
  printable(project.name ?? '') || '-',
  project.origins?.map((origin) => printable(origin)).join(' ') ?? 'any',
  String(project.maxViewsPerMinute ?? 'no limit'),
  printable(project.contact ?? '') || '-',
];

function tableOf(rows: readonly (readonly string[])[]): string {
  const columns = HEAD.map((_, column) =>
    columnOf(
      rows.map((row) => row[column]!),
      false,
    ),
  );
  const lines = rows.map((_, row) => columns.map((cells) => cells[row]).join('  '));
  return lines.map((line) => line.trimEnd()).join('\n');
}
