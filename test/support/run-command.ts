import { type Command, readCommand } from '../../src/commands/command.ts';
import { readArguments } from '../../src/settings.ts';
import { Fatal } from '../../src/base/exit.ts';

/** Runs a command as the command line does; returns its output and exit code. */
export async function runCommand(
  command: Command,
  args: readonly string[],
): Promise<{ code: number; out: string; err: string }> {
  const out: string[] = [];
  const err: string[] = [];
  const say = (text: string): void => void err.push(text);
  const output = {
    print: (text: string): void => void out.push(text),
    note: say,
    log: { info: say, warn: say, error: say },
  };
  let code: number;
  try {
    const line = readArguments([command.name, ...args], () => command.options);
    const { settings, operands, ...known } = readCommand(command, line, () => undefined);
    code = await command.run(settings, operands, { ...output, ...known });
  } catch (error) {
    if (!(error instanceof Fatal)) throw error;
    say(error.message);
    code = error.exitCode;
  }
  return { code, out: out.join('\n'), err: err.join('\n') };
}
