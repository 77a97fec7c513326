import type { CommandLine } from '../base/arguments.ts';
import type { ReadEnv } from '../base/env.ts';
import { EXIT, type ExitCode, Fatal } from '../base/exit.ts';
import type { Log } from '../base/log.ts';
import { columnOf, echo, printable, shellQuoted } from '../base/text.ts';
import { type OptionName, OPTIONS, projectsIn, readSettings, type Settings } from '../settings.ts';

/** A command's output. */
export interface Output {
  /** Prints the result on stdout, with a newline after it. */
  readonly print: (text: string) => void;
  /** Prints a hint on stderr. */
  readonly note: (text: string) => void;
  readonly log: Log;
}

/** A command of the command line; `K` are the options that it takes. */
export interface Command<K extends OptionName = OptionName> {
  readonly name: string;
  /** The operands in the help's usage line; empty if the command has none. */
  readonly operands: string;
  readonly summary: string;
  /** Command lines that work as they are. */
  readonly examples: readonly [string, ...string[]];
  readonly options: readonly K[];
  /** Help for options that do something else here than in `serve`. */
  readonly optionHelp?: Partial<Record<K, string>>;
  /** True: runs until it is stopped, and handles signals from its first line on. */
  readonly isService?: true;
  /**
   * Gets exactly the options that the command takes.
   * @throws {Fatal} with the exit code.
   */
  run(settings: Settings<K>, operands: readonly string[], output: Output): Promise<ExitCode>;
}

/** Lets TypeScript infer the options of a command. */
export const defineCommand = <const K extends OptionName>(command: Command<K>): Command<K> =>
  command;

/**
 * Returns the settings and operands of a command.
 * @throws {Fatal} exit 64.
 */
export function readCommand<K extends OptionName>(
  { name, operands: wanted, options }: Command<K>,
  { flags, operands }: CommandLine,
  env?: ReadEnv,
): { settings: Settings<K>; operands: readonly string[] } {
  const settings = readSettings(flags, options, env);
  const [first] = operands;
  if (wanted === '' && first !== undefined) {
    throw new Fatal(EXIT.usage, `${name} takes no argument, not "${echo(first)}"`);
  }
  return { settings, operands };
}

/** Returns a command line for this projects file: `viewlog check --projects p.json`. */
export const withProjects = (command: string, projects: string): string =>
  projects === projectsIn(OPTIONS.data.fallback!)
    ? `viewlog ${command}`
    : `viewlog ${command} --projects ${shellQuoted(printable(projects, Infinity))}`;

/** Returns lines of columns, for a terminal. Every row has a text for each column. */
export function tableOf(rows: readonly (readonly string[])[], indent = '  '): string[] {
  const cells = rows.map((row) => row.map((text) => text.trimEnd()));
  const columns = cells[0]!.map((_, i) =>
    columnOf(
      cells.map((row) => row[i]!),
      false,
    ),
  );
  return rows.map((_, i) => (indent + columns.map((texts) => texts[i]).join('  ')).trimEnd());
}
