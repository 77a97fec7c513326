import { EXIT } from '../base/exit.ts';
import { BUILD } from '../base/built.ts';
import { defineCommand } from './command.ts';

export const version = defineCommand({
  name: 'version',
  operands: '',
  summary: 'prints the version, and the commit that it was built from',
  examples: ['viewlog version'],
  options: [],
  async run(_, __, { print }) {
    print(`viewlog ${BUILD}`);
    return EXIT.done;
  },
});
