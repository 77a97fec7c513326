import { signals } from './base/install-signals.ts';
import { envNames } from './base/env.ts';
import { EXIT, type ExitCode, Fatal } from './base/exit.ts';
import { createLog } from './base/log.ts';
import { note, OutputClosed, print } from './base/output.ts';
import { activate, deactivate } from './commands/activate.ts';
import { type Command, readAccess, readCommand } from './commands/command.ts';
import { doctor } from './commands/doctor.ts';
import { example } from './commands/example.ts';
import { explain } from './commands/explain.ts';
import { findCommand, helpOn, version } from './commands/help.ts';
import { check, projects } from './commands/projects.ts';
import { replay } from './commands/replay.ts';
import { report } from './commands/report.ts';
import { archive, serve } from './commands/serve.ts';
import { snippet } from './commands/snippet.ts';
import { verify } from './commands/verify.ts';
import type { AsOwner } from './disk/root.ts';
import { readArguments, strayVariables } from './settings.ts';

const COMMANDS: readonly Command[] = [
  serve,
  doctor,
  check,
  explain,
  activate,
  deactivate,
  projects,
  snippet,
  verify,
  replay,
  report,
  archive,
  example,
  helpOn(() => COMMANDS),
  version,
];

async function main(args: readonly string[]): Promise<ExitCode> {
  let log = createLog('text');
  let asOwner: AsOwner | undefined;
  try {
    const optionsOf = (name: string = serve.name) =>
      COMMANDS.find((command) => command.name === name)?.options;
    // A question may contain the name of an option.
    const [first, ...words] = args;
    const isQuestion = first === 'help' && !/^(-h|--help|--)?$/.test(words[0] ?? '');
    const line = readArguments(isQuestion ? [first, '--', ...words] : args, optionsOf);
    const command = findCommand(line.command ?? serve.name, COMMANDS);
    const { settings, operands, ...known } = readCommand(command, line);
    if (command.options.includes('log')) log = createLog(settings.log);
    for (const warning of strayVariables(envNames())) log.warn(warning);
    if (!command.isService) signals.release();
    ({ asOwner } = known);
    return await command.run(settings, operands, { print, note, log, ...known });
  } catch (error) {
    if (error instanceof OutputClosed) return EXIT.done;
    if (!(error instanceof Fatal)) throw error;
    const fix = asOwner && (await readAccess(error.cause, asOwner));
    const message = fix === undefined ? error.message : `${error.message}; ${fix}`;
    for (const line of message.split('\n')) log.error(line);
    return error.exitCode;
  }
}

// Without `exit`, a connection that never sent anything would keep the process alive on Bun.
process.exit(await main(process.argv.slice(2)));
