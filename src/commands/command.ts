import { dirname } from 'node:path';
import type { CommandLine } from '../base/arguments.ts';
import type { ReadEnv } from '../base/env.ts';
import { errnoOf, EXIT, type ExitCode, Fatal } from '../base/exit.ts';
import type { Log } from '../base/log.ts';
import { columnOf, echo } from '../base/text.ts';
import { askHolder } from '../disk/lock.ts';
import { type Address, ownAddress } from '../http/listener.ts';
import { type Owner, ownerOf, ownUid } from '../installation/accounts.ts';
import { accessFix, fixText, runAs, viewlog } from '../installation/commands.ts';
import {
  absolute,
  type Announced,
  type Chosen,
  ownAnnouncement,
} from '../installation/installation.ts';
import type { AsOwner } from '../disk/root.ts';
import { ID_EXPECTED } from '../projects/projects-schema.ts';
import {
  chosenOptions,
  needsTokenVariable,
  OPTIONS,
  type OptionName,
  projectsIn,
  readSettings,
  repeatedFlags,
  type Settings,
} from '../settings.ts';
import { TOKEN_ENV } from '../status/token.ts';
import { PROJECT_ID } from '../view/view-schema.ts';

/** A command's output. */
export interface Output {
  /** Prints the result on stdout, with a newline after it. */
  readonly print: (text: string) => void;
  /** Prints a hint on stderr. */
  readonly note: (text: string) => void;
  readonly log: Log;
}

/** The parameters of a command, besides its settings. */
export interface Invocation extends Output {
  /** This process as its options describe it, for the commands that it prints. */
  readonly self: Announced;
  /** Returns this command line as that user would run it; `undefined` if it contains a secret. */
  readonly asOwner: AsOwner;
}

/** A command of the command line; `K` are the options that it takes. */
export interface Command<K extends OptionName = OptionName> {
  readonly name: string;
  /** The help's usage: in brackets if optional, with `…` if there may be several. */
  readonly operands?: string;
  readonly summary: string;
  /** Command lines that work when pasted. */
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
  run(
    settings: Settings<K>,
    operands: readonly string[],
    invocation: Invocation,
  ): Promise<ExitCode>;
}

/** Lets TypeScript infer the options of a command. */
export const defineCommand = <const K extends OptionName>(command: Command<K>): Command<K> =>
  command;

/**
 * Returns the settings and operands of a command.
 * @throws {Fatal} exit 64.
 */
export function readCommand<K extends OptionName>(
  command: Command<K>,
  { flags, operands }: CommandLine,
  env?: ReadEnv,
): { settings: Settings<K>; operands: readonly string[]; self: Announced; asOwner: AsOwner } {
  const { name, operands: wanted = '', options, examples } = command;
  const settings = readSettings(flags, options, env);
  if (operands.length === 0 && /^\w/.test(wanted)) {
    throw new Fatal(EXIT.usage, `${name} needs ${wanted}, as in "${examples[0]}"`);
  }
  const excess = wanted.includes('…') ? undefined : operands[wanted === '' ? 0 : 1];
  if (excess !== undefined) {
    const taken = wanted === '' ? 'no argument' : `only ${wanted}`;
    throw new Fatal(EXIT.usage, `${name} takes ${taken}, not "${echo(excess)}"`);
  }
  if (wanted === 'ID' && !PROJECT_ID.test(operands[0]!)) {
    throw new Fatal(EXIT.usage, `A project id ${ID_EXPECTED}; found "${echo(operands[0]!)}"`);
  }
  const self = selfOf(command, settings, chosenOptions(flags, options, env));
  const asOwner = (owner: Owner): string | undefined => {
    const again = repeatedFlags(flags, options, self.data !== undefined, env);
    const paths = wanted.includes('FILE') ? operands.map(absolute) : operands;
    const command = again && viewlog(self, [name, ...paths, ...again]);
    const variable = needsTokenVariable(self.chosen) ? TOKEN_ENV : undefined;
    return command && runAs(owner, self, command, variable);
  };
  return { settings, operands, self, asOwner };
}

/**
 * Returns how to run a command that failed because this user isn't allowed to read a file;
 * `undefined` if that wasn't the cause, or no other user is known.
 */
export async function readAccess(cause: unknown, asOwner: AsOwner): Promise<string | undefined> {
  if (errnoOf(cause) !== 'EACCES') return undefined;
  const { path = '' } = cause as NodeJS.ErrnoException;
  const owner = await ownerOf(path, dirname(path));
  if (owner === undefined) return undefined;
  const isOwn = owner.uid === ownUid();
  return isOwn ? fixText(accessFix(absolute(path), 'r', owner)) : asOwner(owner);
}

function selfOf(
  { name, options }: Pick<Command, 'name' | 'options'>,
  { data = '', projects, store }: Partial<Settings<'data' | 'projects' | 'store'>>,
  chosen: Chosen,
): Announced {
  const role = name === 'archive' ? 'archive' : 'collector';
  // An edit of a projects file elsewhere has no data directory.
  const isDefault =
    !options.includes('min-free') &&
    data === OPTIONS.data.fallback &&
    projects !== projectsIn(data);
  const isKnown = store === undefined && !isDefault;
  return ownAnnouncement({
    role,
    data: isKnown && data !== '' ? data : undefined,
    projects,
    chosen,
  });
}

/**
 * Returns the address of the running collector that uses these files; if none is known to run, the
 * address that the options give it. `isRunning` is `undefined` if this user isn't allowed to ask.
 */
export async function collectorAddress(
  options: Address & { readonly data: string; readonly projects: string },
): Promise<{ readonly address: string; readonly isRunning: boolean | undefined }> {
  let isRunning: false | undefined = false;
  for (const dir of [dirname(options.projects), options.data]) {
    const holder = await askHolder(dir).catch(() => 'unknown' as const);
    const address = typeof holder === 'object' ? holder.address : undefined;
    if (address !== undefined) return { address, isRunning: true };
    if (holder === 'unknown') isRunning = undefined;
  }
  return { address: ownAddress(options), isRunning };
}

/** Returns lines of columns, for a terminal. Every row has a text for each column. */
export function tableOf(rows: readonly (readonly string[])[], indent = '  '): string[] {
  const columns = rows[0]!.map((_, i) => {
    const texts = rows.map((row) => row[i]!.trimEnd());
    return columnOf(texts, false);
  });
  return rows.map((_, i) => (indent + columns.map((texts) => texts[i]).join('  ')).trimEnd());
}
