import { basename, dirname, resolve } from 'node:path';
import type { CommandLine } from '../base/arguments.ts';
import { fetchOnce } from '../base/fetch-once.ts';
import type { ReadEnv } from '../base/env.ts';
import { errnoOf, EXIT, type ExitCode, Fatal } from '../base/exit.ts';
import type { Log } from '../base/log.ts';
import { columnOf, echo, printable } from '../base/text.ts';
import { lastStart } from '../disk/last-start.ts';
import { askHolder } from '../disk/lock.ts';
import { dayOfFileName, dayOfName } from '../disk/names.ts';
import { isFromViewlog, preflightFrom } from '../doctor/reply.ts';
import { type Address, ownAddress } from '../http/listener.ts';
import { type Owner, ownerOf, ownUid } from '../installation/accounts.ts';
import { accessFix, fixText, LIST_LOCKS, runAs, viewlog } from '../installation/commands.ts';
import {
  absolute,
  type Announced,
  type Chosen,
  ownAnnouncement,
} from '../installation/installation.ts';
import { isOrigin } from '../projects/origins.ts';
import type { AsOwner } from '../disk/root.ts';
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
  /** Prints the result and a newline on stdout. */
  readonly print: (text: string) => void;
  /** Prints a hint on stderr. */
  readonly note: (text: string) => void;
  readonly log: Log;
}

/** The parameters of a command, besides its settings. */
export interface Invocation extends Output {
  /** This process as its options describe it, for the commands that viewlog prints. */
  readonly self: Announced;
  /**
   * Returns this command line as that user would run it; `undefined` if the line contains a secret.
   */
  readonly asOwner: AsOwner;
}

/** A command of viewlog; `K` are the names of its options. */
export interface Command<K extends OptionName = OptionName> {
  readonly name: string;
  /**
   * The operands in the help's usage line: in brackets if optional, with `…` if there may be
   * several.
   */
  readonly operands?: string;
  readonly summary: string;
  /** Command lines that work when pasted. */
  readonly examples: readonly [string, ...string[]];
  readonly options: readonly K[];
  /** Help for options whose effect isn't the same as in `serve`. */
  readonly optionHelp?: Partial<Record<K, string>>;
  /** A note under the list of options, in lines for a terminal. */
  readonly optionNote?: string;
  /** True: the command runs until it is stopped, and handles signals from its first line on. */
  readonly isService?: true;
  /**
   * Runs the command. `settings` contains exactly the options that the command takes.
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
  const { name, operands: wanted = '', options } = command;
  // `viewlog example archive` prints a unit for an archive, which stores views in files.
  const isArchive = operands[0] === 'archive';
  const given = readSettings(flags, options, env, isArchive);
  const settings = isArchive ? { ...given, store: undefined } : given;
  checkOperands(command, operands);
  const self = selfOf(command, settings, chosenOptions(flags, options, env));
  const asOwner = (owner: Owner): string | undefined => {
    const again = repeatedFlags(flags, options, self.data !== undefined, env);
    const paths = wanted.includes('FILE') ? operands.map(fileOperand) : operands;
    const command = again && viewlog(self, [name, ...paths, ...again]);
    const variable = needsTokenVariable(self.chosen) ? TOKEN_ENV : undefined;
    if (!command) return undefined;
    const { words, command: run } = runAs(owner, self, command, variable);
    return run === undefined ? words : `run the command ${words}: ${run}`;
  };
  return { settings, operands, self, asOwner };
}

/** Returns the absolute path of a file, or `-`, which is stdin. */
const fileOperand = (file: string): string => (file === '-' ? file : absolute(file));

/** @throws {Fatal} exit 64 if the command needs more operands, or takes fewer. */
function checkOperands(
  {
    name,
    operands: wanted = '',
    examples,
    options,
  }: Pick<Command, 'name' | 'operands' | 'examples' | 'options'>,
  operands: readonly string[],
): void {
  const wrong = wanted === 'ID' ? operands.find((operand) => !PROJECT_ID.test(operand)) : undefined;
  const [noun = ''] = /\w+/.exec(wanted) ?? [];
  if (operands.length === 0 && /^\w/.test(wanted)) {
    const needed = noun === 'ID' ? 'a project ID' : `a ${noun}`;
    throw new Fatal(EXIT.usage, `${name} needs ${needed}. For example: ${examples[0]}`);
  }
  const max = wanted.includes('…') ? Infinity : Math.sign(wanted.length);
  if (operands.length > max) {
    const excess = echo(wrong ?? operands[max]!);
    if (max === 0) throw new Fatal(EXIT.usage, `${name} takes no arguments; found "${excess}"`);
    const most = wanted === noun ? 'only one' : 'at most one';
    // `--origin https://a.example https://b.example`, `--name My site 1000001`
    const isOneMore = options.includes('origin') && isOrigin(excess);
    const hint = isOneMore
      ? 'Give --origin once per origin'
      : 'A value that contains spaces needs quotes';
    throw new Fatal(EXIT.usage, `${name} takes ${most} ${noun}; also found "${excess}". ${hint}`);
  }
  if (wrong === undefined) return;
  throw new Fatal(
    EXIT.usage,
    `A project ID must be 1 to 20 digits, such as 1000001; found "${echo(wrong)}"`,
  );
}

/**
 * Refuses files of refused views.
 * @throws {Fatal} exit 64.
 */
export function refuseRefused(command: string, files: readonly string[]): void {
  const wrong = files.find((file) => dayOfName('refused', basename(file)) !== undefined);
  if (wrong === undefined) return;
  const what = `"${echo(wrong)}" is named like a file of refused views`;
  throw new Fatal(EXIT.usage, `${what}; ${command} reads only files of accepted views`);
}

/**
 * Refuses view files whose views would count twice: a file that is named twice or is also compressed.
 * @throws {Fatal} exit 65.
 */
export function refuseTwice(files: readonly string[]): void {
  const paths = files.map((file) => resolve(file));
  const again = files.find((_, i) => paths.indexOf(paths[i]!) < i);
  if (again !== undefined)
    throw new Fatal(EXIT.badData, `"${printable(again, Infinity)}" is given twice; name it once`);
  const all = alsoCompressed(files);
  const [twice] = all;
  if (twice === undefined) return;
  const others = all.length > 1 ? ` (as do ${all.length - 1} more)` : '';
  throw new Fatal(
    EXIT.badData,
    `"${printable(twice, Infinity)}" also exists as a .gz file${others}; name only one of the two, or remove one, so that each view counts once`,
  );
}

/** Returns the files that are listed beside their compressed copies. */
export function alsoCompressed(files: readonly string[]): string[] {
  const paths = new Set(files.map((file) => resolve(file)));
  return files.filter((file) => paths.has(`${resolve(file)}.gz`));
}

/**
 * Returns how to run a command that failed because this user isn't allowed to read a file;
 * `undefined` if the failure had another cause, or the file's owner is unknown.
 */
export async function readAccess(cause: unknown, asOwner: AsOwner): Promise<string | undefined> {
  if (errnoOf(cause) !== 'EACCES') return undefined;
  const { path } = cause as NodeJS.ErrnoException;
  if (path === undefined) return undefined;
  const [owner, keeper] = [await ownerOf(path, dirname(path)), await ownerOf(dirname(path))];
  if (owner === undefined) return undefined;
  // In another user's directory, viewlog doesn't run as root. Deno may not reveal this user.
  const uid = ownUid() ?? (owner.uid === keeper?.uid ? undefined : keeper?.uid);
  const ownOwner = uid === undefined ? undefined : [owner, keeper].find((one) => one?.uid === uid);
  // viewlog adds to the latest file of refused views.
  const what = dayOfFileName('refused', basename(path)) === undefined ? 'r' : 'rw';
  return ownOwner ? fixText(accessFix(absolute(path), what, ownOwner)) : asOwner(owner);
}

function selfOf(
  { name, options }: Pick<Command, 'name' | 'options'>,
  { data = '', projects, store }: Partial<Settings<'data' | 'projects' | 'store'>>,
  chosen: Chosen,
): Announced {
  const role = name === 'archive' ? 'archive' : 'collector';
  // A command that edits a projects file elsewhere doesn't know the data directory.
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
 * Returns the address of the running collector that holds the command's data directory, or else of
 * the one that holds the directory of its projects file. If neither is known to run, returns the
 * address that the options choose, or else that of the last start. `isRunning` is `undefined` if
 * this user isn't allowed to ask; `status` is the address of a running one's status page.
 */
export async function collectorAddress(
  options: Address & { readonly projects: string },
  { data = dirname(options.projects), chosen }: Announced,
): Promise<{
  readonly address: string;
  readonly isRunning: boolean | undefined;
  readonly status?: string | undefined;
}> {
  let isRunning: false | undefined = false;
  const projectsDir = dirname(options.projects);
  for (const dir of new Set([data, projectsDir])) {
    const holder = await askHolder(dir).catch(() => 'unknown' as const);
    const { address, status }: Partial<Announced> = typeof holder === 'object' ? holder : {};
    if (address !== undefined) return { address, isRunning: true, status };
    if (typeof holder === 'string') isRunning = undefined;
  }
  const isChosen = chosen['host'] !== undefined || chosen['port'] !== undefined;
  const last = isChosen ? undefined : ((await lastStart(data)) ?? (await lastStart(projectsDir)));
  return { address: last?.address ?? ownAddress(options), isRunning };
}

/**
 * Returns a warning if a viewlog with other data listens at the address. It may refuse the views of
 * a project that is listed here, and store those of one that isn't.
 */
export async function otherCollector(address: string): Promise<string | undefined> {
  // viewlog doesn't count this request.
  const reply = await fetchOnce(`${address}/view`, preflightFrom('https://www.example.com'), 1_000);
  return isFromViewlog(reply)
    ? `The viewlog that listens at ${address} uses another data directory; give its --data. To list the data directories of running viewlogs, run: ${LIST_LOCKS}`
    : undefined;
}

/** Aligns rows in columns for a terminal. Every row must have a text for each column. */
export function tableOf(rows: readonly (readonly string[])[], indent = '  '): string[] {
  const columns = rows[0]!.map((_, i) => {
    const texts = rows.map((row) => row[i]!.trimEnd());
    return columnOf(texts, false);
  });
  return rows.map((_, i) => (indent + columns.map((texts) => texts[i]).join('  ')).trimEnd());
}
