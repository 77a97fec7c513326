import { EXIT } from '../base/exit.ts';
import { VERSION } from '../base/version.ts';
import { defineCommand } from './command.ts';

export const version = defineCommand({
  name: 'version',
  operands: '',
  summary: 'prints the version',
  examples: ['viewlog version'],
  options: [],
  async run(_, __, { print }) {
    print(`viewlog ${VERSION}`);
    return EXIT.done;
  },
});
