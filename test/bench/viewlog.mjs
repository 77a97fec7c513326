// viewlog, on any runtime, from any build.
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ORIGIN } from './request.mjs';

const ROOT = join(import.meta.dirname, '../..');
export const BUNDLE = join(ROOT, 'dist/viewlog.mjs');

/** Runtimes: the program, and its arguments before the file. */
export const NODE = { program: process.execPath, args: () => [] };
export const DENO = {
  program: join(ROOT, '.ci/tools/node_modules/newest-deno/deno'),
  args: (dir) => [
    'run',
    '--no-prompt',
    '--allow-net',
    `--allow-read=${dir}`,
    `--allow-write=${dir}`,
  ],
};
export const BUN = { program: join(ROOT, '.ci/tools/node_modules/.bin/bun'), args: () => [] };

/** A runtime's own server without viewlog. */
export const bare = (name, { program, args }, file) => ({
  name,
  ...(existsSync(program) ? {} : { missing: program }),
  command: (port, dir) => [program, ...args(dir), join(import.meta.dirname, file), String(port)],
});

/** @param place the options that choose the store; by default, files in its directory. */
export function viewlog(
  name,
  { program, args },
  { flags = [], bundle = BUNDLE, place = (port, dir) => ['--data', dir] } = {},
) {
  return {
    name: `viewlog, ${name}`,
    batches,
    ...(existsSync(program) ? {} : { missing: program }),
    command(port, dir) {
      const project = { id: '1000001', origins: [ORIGIN], maxViewsPerMinute: 600_000_000 };
      writeFileSync(join(dir, 'projects.json'), JSON.stringify({ projects: [project] }));
      const status = ['--status', `127.0.0.1:${port + 1}`];
      const options = ['--port', String(port), ...place(port, dir), ...status, ...flags];
      return [program, ...args(dir), bundle, ...options];
    },
  };
}

/** Lines and batches written so far. */
async function batches(port) {
  const text = await (await fetch(`http://127.0.0.1:${port + 1}/metrics`)).text();
  const of = (name) =>
    Number(new RegExp(`^viewlog_written_${name}_total (\\d+)`, 'm').exec(text)[1]);
  return { lines: of('lines'), batches: of('batches') };
}
