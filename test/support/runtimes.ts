import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
export const BUNDLE = `${ROOT}dist/viewlog.mjs`;
export const TOOLS = `${ROOT}.ci/tools/node_modules`;

/** What viewlog runs on: the program, and the arguments that start the bundle on it. */
export interface Runtime {
  readonly name: string;
  readonly program: string;
  /** @param paths what the runtime may read and write; Deno alone holds it to that. */
  readonly args: (paths: readonly string[]) => string[];
}

const bin = (folder: string, name: string): string => `${folder}/.bin/${name}`;

function runtime(name: string, program: string, args: Runtime['args']): Runtime {
  return { name, program, args };
}

export const NODE = runtime('Node', process.execPath, () => [BUNDLE]);
export const NEWEST_NODE = runtime('the newest Node', bin(TOOLS, 'node'), () => [BUNDLE]);
export const DENO = runtime('Deno', bin(`${ROOT}node_modules`, 'deno'), (paths) => [
  'run',
  '--no-prompt',
  '--allow-net',
  `--allow-read=${paths.join(',')}`,
  `--allow-write=${paths.join(',')}`,
  BUNDLE,
]);
export const BUN = runtime('Bun', bin(TOOLS, 'bun'), () => [BUNDLE]);
export const EXECUTABLE = runtime('the single executable', `${ROOT}dist/viewlog`, () => []);

/** Whether the runtime is here. If not, that is said on stderr; in CI it is a failure. */
export function isPresent({ name, program }: Runtime): boolean {
  return isHere(program, `${name} (${program})`);
}

/** Whether `path` is here. If not, says that tests are skipped; in CI nothing may be wanting. */
export function isHere(path: string, what = path): boolean {
  if (existsSync(path)) return true;
  if (process.env['CI']) throw new Error(`${what} is missing, and CI skips nothing`);
  console.warn(`SKIPPED: tests that need ${what}; .ci/run installs it`);
  return false;
}
