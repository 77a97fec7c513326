import { EXIT, Fatal } from '../base/exit.ts';
import { readProjectsFile } from '../projects/projects-file.ts';
import { summaryOf } from '../projects/project-list.ts';
import { printable } from '../base/text.ts';
import { defineCommand } from './command.ts';

/** Says whether the projects file is sound, or all that is wrong with it. */
export const check = defineCommand({
  name: 'check',
  operands: '',
  summary: 'checks the projects file',
  examples: ['viewlog check --data /var/lib/viewlog'],
  options: ['data', 'projects'],
  async run(settings, _, { print }) {
    const reading = await readProjectsFile(settings.projects);
    if ('faults' in reading) throw new Fatal(EXIT.badConfiguration, reading.faults.join('\n'));
    print(`${printable(settings.projects, Infinity)}: ${summaryOf(reading.file.projects)}`);
    return EXIT.done;
  },
});
