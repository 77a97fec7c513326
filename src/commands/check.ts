import { EXIT } from '../base/exit.ts';
import { printable } from '../base/text.ts';
import { summaryOf } from '../projects/project-list.ts';
import { readProjectsFile, soundOrFatal } from '../projects/projects-file.ts';
import { defineCommand } from './command.ts';

/** Says that the projects file has no fault, or names all its faults. */
export const check = defineCommand({
  name: 'check',
  operands: '',
  summary: 'checks the projects file',
  examples: ['viewlog check --data /var/lib/viewlog'],
  options: ['data', 'projects'],
  async run({ projects: path }, _, { print }) {
    const { file } = soundOrFatal(await readProjectsFile(path));
    print(`${printable(path, Infinity)}: ${summaryOf(file.projects)}`);
    return EXIT.done;
  },
});
