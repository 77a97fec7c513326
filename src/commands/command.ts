import { type ReadEnv, readEnv } from '../base/env.ts';
import { EXIT, type ExitCode, Fatal } from '../base/exit.ts';
import type { Log } from '../base/log.ts';
import { echo } from '../base/text.ts';
import { type OptionName, readSettings, type Settings } from '../settings.ts';

/** Where a command puts out what it has to say. */
export interface Output {
  /** What was asked for, on stdout; a newline is put after it. */
  readonly print: (text: string) => void;
  /** What helps with that, on stderr. */
  readonly note: (text: string) => void;
  /** What the operator should know besides. */
  readonly log: Log;
}

/** A command of the command line; `K` are the options that it takes. */
export interface Command<K extends OptionName = OptionName> {
  readonly name: string;
  /** As the help shows them; empty where it takes none. */
  readonly operands: string;
  readonly summary: string;
  /** Lines that can be typed as they stand. */
  readonly examples: readonly [string, ...string[]];
  readonly options: readonly K[];
  /** What an option does here, where that is not what it does for `serve`. */
  readonly optionHelp?: Partial<Record<K, string>>;
  /** Whether it runs until it is told to stop, and heeds every signal from the first line on. */
  readonly isService?: true;
  /**
   * Given exactly the options that the command takes.
   * @throws {Fatal} what ends it, with the exit code.
   */
  run(settings: Settings<K>, operands: readonly string[], output: Output): Promise<ExitCode>;
}

/** Has the options of a command inferred. */
export const defineCommand = <const K extends OptionName>(command: Command<K>): Command<K> =>
  command;

/**
 * The settings and operands of a command, from its part of the command line and the environment.
 * @throws {Fatal} exit 64.
 */
export function readCommand<K extends OptionName>(
  { name, operands: wanted, options }: Command<K>,
  args: readonly string[],
  env: ReadEnv = readEnv,
): { settings: Settings<K>; operands: string[] } {
  const { settings, operands } = readSettings(args, options, env);
  if (wanted === '' && operands.length > 0) {
    throw new Fatal(EXIT.usage, `${name} takes no argument, not "${echo(operands[0]!)}"`);
  }
  return { settings, operands };
}
