import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const SOURCE = fileURLToPath(new URL('../../src/', import.meta.url));

/** Runs one command on a projects file: `COMMAND FILE [ID [ORIGIN]…]`, or activates 1, 2, 3 … */
const PROGRAM = `
import { activate, deactivate } from '${SOURCE}commands/activate.ts';
import { check, projects } from '${SOURCE}commands/projects.ts';
import { print } from '${SOURCE}base/output.ts';
import { openProjects } from '${SOURCE}projects/follow.ts';
const [command, path, ...rest] = process.argv.slice(2);
const SETTINGS = { name: undefined, 'remove-origin': [], data: '.', host: '127.0.0.1', port: 8080 };
const run = (command, operands, origin) =>
  command.run({ ...SETTINGS, projects: path, origin }, operands, { print, log: console });
try {
  if (command === 'open') {
    console.log((await openProjects({ path, log: console })).all().length);
  } else if (command === 'activate-all') {
    for (let id = Number(rest[0]); ; id++) await run(activate, [String(id)], []);
  } else {
    const commands = { activate, check, deactivate, projects };
    process.exitCode = await run(commands[command], rest.slice(0, 1), rest.slice(1));
  }
} catch (error) {
  console.error(error.message);
  process.exitCode = error.exitCode;
}
`;

/** Bundles the projects commands into one file, so that they run as processes of their own. */
export async function bundleCommands(outfile: string): Promise<void> {
  await build({
    stdin: { contents: PROGRAM, resolveDir: SOURCE, loader: 'ts' },
    outfile,
    bundle: true,
    platform: 'node',
    format: 'esm',
    // jsonc-parser's "main" can't be bundled: it calls a "require" of its own.
    mainFields: ['module', 'main'],
  });
}
