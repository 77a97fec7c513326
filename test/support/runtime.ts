import { existsSync } from 'node:fs';
import { join } from 'node:path';

/** How a runtime starts one bundled file, with nothing allowed but the data directory. */
export interface Runtime {
  readonly name: string;
  /** Why it can't be tested here. */
  readonly missing?: string;
  command(dir: string, file: string): [string, ...string[]];
}

const BIN = join(import.meta.dirname, '../../node_modules/.bin');
const bun = process.env['VIEWLOG_TEST_BUN'] ?? join(BIN, 'bun');

export const RUNTIMES: readonly Runtime[] = [
  { name: 'Node', command: (_, file) => [process.execPath, file] },
  {
    name: 'Deno',
    command: (dir, file) => [
      join(BIN, 'deno'),
      'run',
      '--no-prompt',
      '--allow-net',
      `--allow-read=${dir}`,
      `--allow-write=${dir}`,
      file,
    ],
  },
  {
    name: 'Bun',
    ...(existsSync(bun) ? {} : { missing: 'no bun; set VIEWLOG_TEST_BUN' }),
    command: (_, file) => [bun, file],
  },
];
