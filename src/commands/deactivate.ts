import { EXIT, Fatal } from '../base/exit.ts';
import { editProjectsFile } from '../projects/edit.ts';
import { setValue } from '../projects/json-edit.ts';
import { printable } from '../base/text.ts';
import { effect, readId } from './activate.ts';
import { defineCommand } from './command.ts';

/** The project stays listed, its views are refused. */
export const deactivate = defineCommand({
  name: 'deactivate',
  operands: 'ID',
  summary: 'deactivates a project',
  examples: ['viewlog deactivate 1000001'],
  options: ['data', 'projects'],
  async run(settings, operands, { print, log }) {
    const id = readId('deactivate', operands);
    const name = printable(settings.projects, Infinity);
    const edited = await editProjectsFile({
      path: settings.projects,
      warn: (message) => log.warn(message),
      canCreate: false,
      change: (text, file) => {
        const index = file.projects.findIndex((project) => project.id === id);
        if (index < 0) throw new Fatal(EXIT.usage, `Project ${id} is not listed in ${name}`);
        if (file.projects[index]!.active === false) return text;
        return setValue(text, ['projects', index, 'active'], false);
      },
    });
    const what = edited === 'unchanged' ? 'as it was' : 'deactivated';
    print(`Project ${id} ${what} in ${name}: inactive, its views refused${effect(edited)}`);
    return EXIT.done;
  },
});
