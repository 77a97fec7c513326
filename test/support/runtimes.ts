import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
export const BUNDLE = `${ROOT}dist/viewlog.mjs`;
const EXECUTABLE = `${ROOT}dist/viewlog`;
const TOOLS = `${ROOT}.ci/tools/node_modules`;

/** What viewlog runs on: the program, and the arguments that start the bundle on it. */
export interface Runtime {
  readonly name: string;
  readonly program: string;
  /** @param paths what the runtime may read and write; Deno alone holds it to that. */
  readonly args: (paths: readonly string[]) => string[];
  readonly present: boolean;
}

const bin = (folder: string, name: string): string => `${folder}/.bin/${name}`;

function runtime(name: string, program: string, args: Runtime['args']): Runtime {
  return { name, program, args, present: existsSync(program) };
}

export const NODE = runtime('Node', process.execPath, () => [BUNDLE]);

/** Every runtime that viewlog promises; in CI all of them are there. */
export const RUNTIMES: readonly Runtime[] = [
  NODE,
  runtime('the newest Node', bin(TOOLS, 'node'), () => [BUNDLE]),
  runtime('Deno', bin(`${ROOT}node_modules`, 'deno'), (paths) => [
    'run',
    '--no-prompt',
    '--allow-net',
    `--allow-read=${paths.join(',')}`,
    `--allow-write=${paths.join(',')}`,
    BUNDLE,
  ]),
  runtime('Bun', bin(TOOLS, 'bun'), () => [BUNDLE]),
  runtime('the single executable', EXECUTABLE, () => []),
];

/**
 * The runtimes that are here. One that is missing is said on stderr; in CI that is a failure.
 */
export function presentRuntimes(): readonly Runtime[] {
  for (const { name, program } of RUNTIMES.filter(({ present }) => !present)) {
    requireInCi(`${name} (${program})`);
  }
  return RUNTIMES.filter(({ present }) => present);
}

/** Says that tests are skipped for want of something, and fails where nothing may be wanting. */
export function requireInCi(what: string): void {
  if (process.env['CI']) throw new Error(`${what} is missing, and CI skips nothing`);
  console.warn(`SKIPPED: tests that need ${what}; .ci/run installs it`);
}

export { ROOT, TOOLS };
