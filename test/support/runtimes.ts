import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
export const BUNDLE = `${ROOT}dist/viewlog.mjs`;
export const TOOLS = `${ROOT}.ci/tools/node_modules`;
/** The directory in which `.ci/run` puts packages of PyPI. */
export const PYTHON_PACKAGES = `${ROOT}.ci/tools/python`;

type Command = [string, ...string[]];

export interface Runtime {
  readonly name: string;
  readonly program: string;
  /**
   * Returns the command that starts a bundled file; by default viewlog.
   * @param path the directory that the program may read and write; only Deno enforces it.
   */
  command(path: string, file?: string): Command;
  /** Returns the name, for the names of tests. */
  toString(): string;
}

function runtime(
  name: string,
  program: string,
  options: (path: string) => readonly string[] = () => [],
): Runtime {
  const command = (path: string, file = BUNDLE): Command => [program, ...options(path), file];
  return { name, program, command, toString: () => name };
}

/** The Node that runs the tests; in CI, the oldest that viewlog runs on. */
export const NODE = runtime(`Node ${process.versions.node}`, process.execPath);
const node = (major: number): Runtime =>
  runtime(`Node ${major}`, `${TOOLS}/node-${major}/bin/node`);
export const NODE_22 = node(22);
export const NODE_24 = node(24);
export const NODE_26 = node(26);
/** Every supported release line of Node. */
export const NODES = [NODE, NODE_22, NODE_24, NODE_26];

const deno = (name: string, program: string): Runtime =>
  runtime(name, program, (path) => [
    'run',
    '--no-prompt',
    '--allow-net',
    `--allow-read=${path}`,
    `--allow-write=${path}`,
  ]);
export const DENO = deno('Deno', `${ROOT}node_modules/.bin/deno`);
/** The oldest Deno that viewlog runs on. */
export const DENO_2_5 = deno('Deno 2.5', `${TOOLS}/deno-2.5/deno`);
export const BUN = runtime('Bun', `${TOOLS}/.bin/bun`);
const executable = `${ROOT}dist/viewlog`;
export const EXECUTABLE: Runtime = {
  ...runtime('the single executable', executable),
  command: () => [executable],
};

/** Returns false, with a note on stderr, if the runtime is missing; in CI that is a failure. */
export function isPresent({ name, program }: Runtime): boolean {
  return isHere(program, `${name} (${program})`);
}

/** Returns false, with a note that tests are skipped, if `path` is missing; in CI that fails. */
export function isHere(path: string, what = path): boolean {
  if (existsSync(path)) return true;
  if (process.env['CI']) throw new Error(`${what} is missing, and CI skips nothing`);
  console.warn(`SKIPPED: tests that need ${what}; .ci/run installs it`);
  return false;
}
