import { vi } from 'vitest';
import { type ExitCode, Fatal } from '../../src/base/exit.ts';
import { readSettings, type Settings } from '../../src/settings.ts';

type Command = (settings: Settings, operands: string[]) => Promise<ExitCode>;

/** Runs a command as the command line does, and returns what the operator sees. */
export async function runCommand(
  command: Command,
  args: readonly string[],
): Promise<{ code: number; out: string; err: string }> {
  const out = vi.spyOn(console, 'log').mockImplementation(() => {});
  const err = vi.spyOn(console, 'error').mockImplementation(() => {});
  try {
    const options = ['data', 'projects', 'name', 'origin'] as const;
    const { settings, operands } = readSettings(args, options, () => undefined);
    const code = await command(settings, operands).catch((error: unknown) => {
      if (!(error instanceof Fatal)) throw error;
      console.error(error.message);
      return error.exitCode;
    });
    return { code, out: linesOf(out.mock.calls), err: linesOf(err.mock.calls) };
  } finally {
    out.mockRestore();
    err.mockRestore();
  }
}

const linesOf = (calls: readonly unknown[][]): string => calls.map(([text]) => text).join('\n');
