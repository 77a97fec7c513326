import { EXIT } from '../base/exit.ts';
import { printable } from '../base/text.ts';
import * as commands from '../installation/commands.ts';
import { withOwners } from '../installation/installation.ts';
import { loadProjects, type Project, summaryOf } from '../projects/project-list.ts';
import { defineCommand, tableOf } from './command.ts';

const HEAD = ['ID', 'ACTIVE', 'NAME', 'ORIGINS', 'VIEWS/MINUTE', 'CONTACT'];

/** Prints the projects file as a table. */
export const projects = defineCommand({
  name: 'projects',
  summary: 'lists the projects',
  examples: ['viewlog projects --data /var/lib/viewlog'],
  options: ['data', 'projects'],
  async run({ projects: path, data }, _, { print, self }) {
    const listed = (await loadProjects(path, data)).all();
    const add = `to add one, replace ID with its id: ${commands.activate(await withOwners(self), 'ID')}`;
    if (listed.length > 0) print(tableOf([HEAD, ...listed.map(rowOf)], '').join('\n'));
    else print(`No projects in ${printable(path, Infinity)}; ${add}`);
    return EXIT.done;
  },
});

/** Checks the projects file. The error lists all faults. */
export const check = defineCommand({
  name: 'check',
  summary: 'checks the projects file',
  examples: ['viewlog check --data /var/lib/viewlog'],
  options: ['data', 'projects'],
  async run({ projects: path, data }, _, { print }) {
    const listed = (await loadProjects(path, data)).all();
    print(`${printable(path, Infinity)}: ${summaryOf(listed)}`);
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
