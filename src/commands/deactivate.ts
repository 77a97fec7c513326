import { EXIT, Fatal } from '../base/exit.ts';
import { printable } from '../base/text.ts';
import { editProjectsFile } from '../projects/edit.ts';
import { setValue } from '../projects/json-edit.ts';
import { effect, readId } from './activate.ts';
import { defineCommand } from './command.ts';

/** The project stays listed, and its views are refused. */
export const deactivate = defineCommand({
  name: 'deactivate',
  operands: 'ID',
  summary: 'deactivates a project',
  examples: ['viewlog deactivate 1000001'],
  options: ['data', 'projects'],
  async run({ projects: path }, operands, { print }) {
    const id = readId('deactivate', operands);
    const name = printable(path, Infinity);
    const edited = await editProjectsFile({
      path,
      canCreate: false,
      change: (text, { projects }) => {
        const index = projects.findIndex((project) => project.id === id);
        if (index < 0) throw new Fatal(EXIT.usage, `Project ${id} is not listed in ${name}`);
        if (projects[index]!.active === false) return text;
        return setValue(text, ['projects', index, 'active'], false);
      },
    });
    const what = edited === 'unchanged' ? 'unchanged' : 'deactivated';
    print(`Project ${id} ${what} in ${name}: inactive, its views are refused${effect(edited)}`);
    return EXIT.done;
  },
});
