// The facts about a running viewlog that it shares with other processes.
import * as fs from 'node:fs';
import { basename, dirname, resolve } from 'node:path';
import * as v from 'valibot';
import { BUILD } from '../base/built.ts';
import { readEnv } from '../base/env.ts';
import { errnoOf, orElse } from '../base/exit.ts';
import { accountNamed, editorOf, ownAccount, type Owner, ownerOf } from './accounts.ts';

/**
 * A viewlog on this machine. A service makes this value once; its lock and its status server answer
 * with the value, and every command that it prints is made from it. A command that runs for a
 * moment, such as `activate`, makes the value from its own options.
 */
export interface Installation {
  readonly role: 'collector' | 'archive';
  readonly pid: number;
  /** The ids of the account that the process runs as, if the runtime reveals them. */
  readonly account?: Pick<Owner, 'uid' | 'gid'> | undefined;
  /** When the process started, in milliseconds since the epoch. */
  readonly sinceMs: number;
  /** `0.1.0 (4d80159)` */
  readonly version: string;
  /** How this viewlog is started: the words before the command, with absolute paths. */
  readonly program: readonly string[];
  /** The systemd unit that started the process, if one did: `viewlog.service`. */
  readonly unit?: string | undefined;
  /** The data directory, absolute; `undefined` if views go to a stream or if it is unknown. */
  readonly data?: string | undefined;
  /** The projects file, absolute. An archive has none. */
  readonly projects?: string | undefined;
  /**
   * The other options that were chosen, by flag (`max-view`), as texts that a command line takes,
   * with absolute paths. Never a secret: a stream's address with a password is left out.
   */
  readonly chosen: Chosen;
  /** The URL that the collector listens on, without a slash at its end, once it does. */
  readonly address?: string | undefined;
  /** The URL of the status server, if there is one. */
  readonly status?: string | undefined;
  /** The accounts that own the files, as `stat` shows them. */
  readonly owners: Owners;
  /** True: `sudo` is installed. `undefined` if the runtime lacks the permission to look. */
  readonly hasSudo: boolean | undefined;
}

/** Options by flag, and where each was set. */
export type Chosen = Readonly<Record<string, { readonly text: string; readonly from: From }>>;
export type From = 'flag' | 'variable';

/** Returns what an error calls an option: the variable if that was set, else the flag. */
export const givenAs = (flag: string, { [flag]: choice }: Chosen): string =>
  choice?.from === 'variable' ? `VIEWLOG_${flag.toUpperCase().replaceAll('-', '_')}` : `--${flag}`;

export interface Owners {
  /** The account that viewlog runs as: the owner of the lock, else of the data directory. */
  readonly data?: Owner | undefined;
  /** The owner of the projects file, else of its directory. */
  readonly projects?: Owner | undefined;
  /** The account that can change the projects file. */
  readonly editor?: Owner | undefined;
}

/**
 * An installation as another process describes it. The owners of its files are looked up on this
 * machine.
 */
export type Announced = Omit<Installation, 'owners' | 'hasSudo'>;

/** Returns the projects file, unless it is the data directory's own. */
export const otherProjects = ({ data, projects }: Announced): string | undefined =>
  projects === `${data}/projects.json` ? undefined : projects;

type Known = Pick<Installation, 'role' | 'data' | 'projects' | 'chosen'>;

/** Returns the facts about this process that need no look at a file. */
export function ownAnnouncement({ role, chosen, ...files }: Known): Announced {
  const data = files.data && absolute(files.data);
  const projects = files.projects && absolute(files.projects);
  const dirs = [data, projects && dirname(projects)].filter((dir) => dir !== undefined);
  const secrets = ['status-token-file', 'nats-creds'].flatMap((name) => chosen[name]?.text ?? []);
  return {
    role,
    pid: process.pid,
    account: ownAccount(),
    sinceMs: Math.round(performance.timeOrigin),
    version: BUILD,
    program: programWords([...dirs, ...secrets], dirs),
    unit: unitOf(process.pid),
    data,
    projects,
    chosen,
  };
}

/** Returns the installation with its files' current owners. */
export async function withOwners(announced: Announced): Promise<Installation> {
  const { data, projects } = announced;
  const owners = {
    data: data === undefined ? undefined : await ownerOf(`${data}/viewlog.lock`, data),
    projects: projects === undefined ? undefined : await ownerOf(projects, dirname(projects)),
    editor: projects === undefined ? undefined : await editorOf(projects),
  };
  return { ...announced, owners, hasSudo: isInstalled('sudo') };
}

/** The path of the runtime, if there is one, and of the bundle or the single executable. */
interface OwnProgram {
  readonly runtime: string | undefined;
  readonly file: string;
}

/** Returns real paths, so that neither PATH nor a symbolic link changes what runs. */
export function ownProgram(): OwnProgram {
  const path = orElse(() => process.execPath || 'deno', 'deno');
  const isRuntime = /^(node|deno|bun)/.test(basename(path));
  const file = isRuntime ? (process.argv[1] ?? '') : path;
  return { runtime: isRuntime ? path : undefined, file: realPath(file) };
}

/**
 * Returns the words that start this viewlog, before the command.
 * @param read the paths that viewlog reads, and `write` those that it writes; only Deno needs them.
 */
export function programWords(
  read: readonly string[],
  write: readonly string[],
  { runtime, file }: OwnProgram = ownProgram(),
): string[] {
  if (runtime === undefined) return [file];
  if (!basename(runtime).startsWith('deno')) return [runtime, file];
  const permissions = [
    '--no-prompt',
    '--allow-net',
    '--allow-env',
    '--allow-sys=statfs',
    ...listed('--allow-read', read),
    ...listed('--allow-write', write),
  ];
  return [runtime, 'run', ...permissions, file];
}

const listed = (flag: string, paths: readonly string[]): string[] =>
  paths.length === 0 ? [] : [`${flag}=${[...new Set(paths)].join(',')}`];

export const realPath = (path: string): string => orElse(() => fs.realpathSync(path), path);

/** Returns an absolute path. Old Denos don't reveal the working directory. */
export const absolute = (path: string): string => orElse(() => resolve(path), path);

/** Returns the unit of a process that systemd itself started, as its main process. */
function unitOf(pid: number): string | undefined {
  if (readEnv('SYSTEMD_EXEC_PID') !== String(pid)) return undefined;
  const groups = orElse(() => fs.readFileSync('/proc/self/cgroup', 'utf8'), '');
  return /\/([\w@.:-]+\.service)$/m.exec(groups)?.[1];
}

/** The directories in which systemd looks for units; an earlier one takes precedence. */
const UNIT_DIRS = ['/etc', '/run', '/usr/local/lib', '/usr/lib', '/lib'].map(
  (dir) => `${dir}/systemd/system`,
);

/**
 * Returns the unit's name, which another process chose, if a unit file of that name starts this
 * viewlog: only root can write the file, and it contains one of these paths.
 */
export const ownUnit = (
  name: string | undefined,
  paths: readonly string[],
  dirs = UNIT_DIRS,
): string | undefined => (unitText(name, paths, dirs) === '' ? undefined : name);

/** The unit's name unless the operator chose another. */
export const UNIT = 'viewlog.service';

/** Returns the account that the unit of the usual name runs viewlog as, if it is known. */
export function unitUser(paths: readonly string[], dirs = UNIT_DIRS): Owner | undefined {
  const [, name] = /^\s*User\s*=\s*(\S+)\s*$/m.exec(unitText(UNIT, paths, dirs)) ?? [];
  return name === undefined ? undefined : accountNamed(name);
}

/** Returns the contents of the unit file; empty unless it starts this viewlog. */
function unitText(name: string | undefined, paths: readonly string[], dirs: readonly string[]) {
  if (!/^[\w@.:-]+\.service$/.test(name ?? '')) return '';
  const file = dirs.map((dir) => `${dir}/${name}`).find((path) => isFile(path)) ?? '';
  const text = orElse(() => {
    const { uid, mode } = fs.statSync(file);
    return uid > 0 || (mode & 0o022) > 0 ? '' : fs.readFileSync(file, 'utf8');
  }, '');
  return text.split(/[\s="']+/).some((word) => paths.includes(word)) ? text : '';
}

const SYSTEM_PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';

/** Returns whether a program is installed; `undefined` without permission to look. */
export function isInstalled(program: string): boolean | undefined {
  const places = `${readEnv('PATH') ?? ''}:${SYSTEM_PATH}`.split(':').filter(Boolean);
  const found = new Set(places.map((dir) => isFile(`${dir}/${program}`)));
  if (found.has(true)) return true;
  return found.has(undefined) ? undefined : false;
}

function isFile(path: string): boolean | undefined {
  try {
    return fs.statSync(path, { throwIfNoEntry: false })?.isFile() === true;
  } catch (error) {
    // A directory on the PATH that this user can't enter. Deno's own refusal has no code.
    return errnoOf(error) === undefined ? undefined : false;
  }
}

/** The longest answer accepted from a lock. */
export const ANNOUNCED_BYTES_MAX = 64 * 1024;

const TEXT = v.pipe(v.string(), v.maxLength(4096));
const WORDS = v.pipe(v.array(TEXT), v.maxLength(64));
const ID = v.pipe(v.number(), v.integer(), v.minValue(0));
const CHOICE = v.object({ text: TEXT, from: v.picklist(['flag', 'variable']) });
const FLAG = v.pipe(v.string(), v.regex(/^[a-z][a-z-]{0,40}$/));
const optional = <const S extends v.GenericSchema>(schema: S) =>
  v.fallback(v.optional(schema), undefined);

const ANNOUNCED = v.object({
  pid: v.pipe(v.number(), v.integer(), v.minValue(1)),
  account: optional(v.object({ uid: ID, gid: ID })),
  sinceMs: v.number(),
  role: v.fallback(v.picklist(['collector', 'archive']), 'collector'),
  version: v.fallback(TEXT, ''),
  program: v.fallback(WORDS, []),
  unit: optional(TEXT),
  data: optional(TEXT),
  projects: optional(TEXT),
  chosen: v.fallback(v.record(FLAG, CHOICE), {}),
  address: optional(TEXT),
  status: optional(TEXT),
});

/**
 * Reads what a process said about itself. The process may be another user's, so the result names no
 * account, and every text in it must be quoted or escaped.
 * @returns `undefined` if the text names no process.
 */
export function readAnnounced(text: string): Announced | undefined {
  const { output, success } = v.safeParse(v.pipe(v.string(), v.parseJson(), ANNOUNCED), text);
  return success ? output : undefined;
}

/** Options whose values may contain a secret or show where one is. */
const PRIVATE = new Set(['store', 'from', 'nats-creds', 'status-token-file']);

/** Returns an installation as `/status.json` contains it. */
export function shownPart(of: Installation): Installation {
  const chosen = Object.entries(of.chosen).filter(([name]) => !PRIVATE.has(name));
  return { ...of, chosen: Object.fromEntries(chosen) };
}
