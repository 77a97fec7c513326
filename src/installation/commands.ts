// Builds every command that viewlog prints. A person pastes it into a shell, in any directory, as
// root or as a user who may use `sudo`. So each command names viewlog by its path, has every option
// that it needs, and runs as the account that owns the file that it writes. Every text that a
// person chose or another process answered is quoted.
import * as fs from 'node:fs';
import { readFile, stat } from 'node:fs/promises';
import { basename, dirname } from 'node:path';
import { orElse } from '../base/exit.ts';
import { shellQuoted } from '../base/text.ts';
import {
  closedTo,
  ENTER,
  gidOfCopies,
  groupName,
  isPermitted,
  isService,
  ownAccount,
  type Owner,
  ownerIn,
  ownerOf,
  ownUid,
  primaryGroup,
  READ,
  ROOT,
  WRITE,
} from './accounts.ts';
import {
  absolute,
  type Announced,
  type Installation,
  isInstalled,
  otherProjects,
  programWords,
} from './installation.ts';

export type Options = Readonly<Record<string, string | number | readonly string[] | undefined>>;

/**
 * Returns the command with the prefix that runs it as that account; unchanged if the owner is root
 * or a person.
 */
export function asOwner(
  { hasSudo }: Pick<Installation, 'hasSudo'>,
  owner: Owner | undefined,
  command: string,
): string {
  return owner !== undefined && isService(owner) ? asUser(owner, hasSudo, command) : command;
}

/** Returns the command with the prefix that runs it as that user, who may be root or a person. */
function asUser(owner: Owner, hasSudo: boolean | undefined, command: string): string {
  const { uid, name } = owner;
  // If the runtime lacks the permission to look, sudo is assumed, and `unknownFacts` says so.
  const sudo = hasSudo === false ? '' : 'sudo ';
  if (uid === 0) return sudo + command;
  // Neither sudo nor runuser accepts an id without a name.
  const ids = `--reuid=${uid} --regid=${primaryGroup(owner)} --clear-groups`;
  if (name.startsWith('#')) return `${sudo}setpriv ${ids} -- ${command}`;
  return sudo === '' ? `runuser -u ${name} -- ${command}` : `${sudo}-u ${name} ${command}`;
}

/**
 * Returns the command with the prefix that runs it as root, for commands that only root may run or
 * that show everything only to root.
 */
export const asRoot = (command: string, hasSudo = isInstalled('sudo')): string =>
  asUser(ROOT, hasSudo, command);

/** Returns the command with the option that makes `sudo` pass on this variable. */
export const keeping = (variable: string, command: string): string =>
  command.replace(/^sudo /, `sudo --preserve-env=${variable} `);

/**
 * Returns how to run a command of viewlog that only this user may run: `as viewlog`, and the
 * command.
 * @param variable a variable that the command needs, set in the shell.
 */
export function runAs(owner: Owner, of: Program, command: string, variable?: string): AccessFix {
  const closed = unreachable(owner, of.program);
  if (closed !== undefined) return { words: closed };
  const hasSudo = isInstalled('sudo');
  const how = [
    `as ${owner.name}`,
    ...(hasSudo === false && owner.uid > 0 ? ['in a root shell'] : []),
    ...(variable === undefined ? [] : [`with ${variable} set`]),
  ];
  const words = asUser(owner, hasSudo, command);
  const run = variable === undefined ? words : keeping(variable, words);
  return { words: how.join(', '), command: run };
}

type Program = Pick<Installation, 'program'>;

/** Returns why the account can't use one of these files and what to do; `undefined` if it can. */
export function unreachable(owner: Owner, words: readonly string[]): string | undefined {
  const [path, closed] = firstClosed(owner, words);
  const fix = `let that user enter it or move "${path}", ${ELSEWHERE}`;
  return closed && `user ${owner.name} can't enter "${closed}", where "${path}" is; ${fix}`;
}

const ELSEWHERE = 'for example to /usr/local/bin or /var/lib';

/** Returns the first file in a directory that the account can't enter, and the directory. */
function firstClosed(owner: Owner, words: readonly string[]): [path?: string, closed?: string] {
  for (const path of words) {
    const closed = path.startsWith('/') ? closedTo(owner, path) : undefined;
    if (closed !== undefined) return [path, closed];
  }
  return [];
}

/** Returns a viewlog command line without an account, with those options that have a value. */
export function viewlog(
  { program }: Program,
  command: readonly string[],
  options: Options = {},
): string {
  const flags = Object.entries(options).flatMap(([name, value]) =>
    [value ?? []].flat().flatMap((one) => [`--${name}`, String(one)]),
  );
  return [...program, ...command, ...flags].map(shellQuoted).join(' ');
}

/**
 * Returns the options that name the files; with a stream, which has no lock to ask, also those of
 * the address.
 */
function files(of: Announced): Options {
  const { data } = of;
  const projects = otherProjects(of);
  if (data === undefined) return { projects, ...picked(of, ['host', 'port']) };
  return { data, projects };
}

/** Returns those of these options that were chosen. */
export const picked = ({ chosen }: Announced, names: readonly string[]): Options =>
  Object.fromEntries(names.map((name) => [name, chosen[name]?.text]));

/**
 * Returns a viewlog command line to run as that account or, if the account can't run this program,
 * what to do first.
 */
function asAccount(
  of: Installation,
  owner: Owner | undefined,
  command: readonly string[],
  options: Options,
): string {
  const words = viewlog(of, command, { ...files(of), ...options });
  // This process runs the program, so its own account can.
  const isAnother = owner !== undefined && isService(owner) && owner.uid !== ownUid();
  const [path, closed] = isAnother ? firstClosed(owner, of.program) : [];
  return closed === undefined
    ? asOwner(of, owner, words)
    : `first let user ${owner!.name} enter "${closed}", or move "${path}", ${ELSEWHERE}`;
}

/** Returns a command that reads what viewlog reads: as viewlog's own account. */
const reading = (of: Installation, command: readonly string[], options: Options = {}): string =>
  asAccount(of, of.owners.data ?? of.owners.projects, command, options);

/** Returns a command that edits the projects file, such as `activate 1`. */
const editing = (of: Installation, command: readonly string[], options: Options): string =>
  asAccount(of, of.owners.editor, command, options);

/**
 * Returns a command that activates a project, adds an origin, or raises the project's limit
 * (`max-views-per-minute`).
 */
export const activate = (of: Installation, id: string, options: Options = {}): string =>
  editing(of, ['activate', id], options);

/** An entry of the projects file. */
interface Entry {
  readonly id: string;
  readonly name?: string | undefined;
  readonly origins?: readonly string[] | undefined;
  readonly contact?: string | undefined;
  readonly maxViewsPerMinute?: number | undefined;
  /** The operator's address, if that must be listed again, too. */
  readonly operator?: string | undefined;
}

/**
 * Returns the command that lists a project again as it was.
 * @param listed the operator's address in the projects file, which the command must not replace.
 */
export const activateAsWas = (
  of: Installation,
  { id, name, origins, contact, maxViewsPerMinute, operator }: Entry,
  listed?: string,
): string =>
  activate(of, id, {
    name,
    origin: origins,
    contact,
    'max-views-per-minute': maxViewsPerMinute,
    operator: listed ? undefined : operator,
  });

export const deactivate = (of: Installation, id: string): string =>
  editing(of, ['deactivate', id], {});

/**
 * Returns a command that replaces the projects file.
 * @param copy another file, in the data directory.
 */
export function restoreProjects(
  { projects = '', owners, hasSudo }: Installation,
  copy: string,
): string {
  const [from, to] = [copy, projects].map(shellQuoted);
  const { data: reader, editor } = owners;
  if (reader?.uid === editor?.uid) return asOwner({ hasSudo }, editor, `cp ${from} ${to}`);
  return `${asOwner({ hasSudo }, reader, `cat ${from}`)} | ${asOwner({ hasSudo }, editor, `tee ${to}`)}`;
}

/** Returns a command that creates a projects file that lists no project. */
export function beginProjects({ projects = '', owners, hasSudo }: Installation): string {
  const write = `tee ${shellQuoted(projects)}`;
  return `echo '{"projects": []}' | ${asOwner({ hasSudo }, owners.editor, write)}`;
}

/** Returns a command that creates a file with a new status token, for its directory's owner. */
export async function createToken(path: string): Promise<string> {
  const write = `umask 077; openssl rand -hex 16 > ${shellQuoted(path)}`;
  const owner = await ownerOf(dirname(path));
  return asOwner({ hasSudo: isInstalled('sudo') }, owner, `sh -c ${shellQuoted(write)}`);
}

/** Returns a command that checks the projects file. */
export const check = (of: Installation): string => reading(of, ['check']);

/** Returns a command of this program that prints the help on these words. */
export const helpCommand = (...words: string[]): string =>
  viewlog({ program: programWords([], []) }, ['help', ...words]);

/**
 * Returns the end of an error about an unknown name: the nearest known one, or how to list all.
 * @param words the words of the help that lists them.
 */
export const nearOrList = (near: string | undefined, all: string, ...words: string[]): string =>
  near === undefined ? `. To list ${all}: ${helpCommand(...words)}` : `. Did you mean ${near}?`;

/** Returns a command that prints a page of the manual. */
export const help = (of: Installation, topic: string): string => viewlog(of, ['help', topic]);

/** Returns a command that prints a file for another program with the options that were chosen. */
export const example = (of: Installation, name: string): string =>
  reading(of, ['example', name], picked(of, Object.keys(of.chosen)));

/** Returns a command that prints the script for a project's pages. */
export const snippet = (of: Installation, id: string, url: string): string =>
  reading(of, ['snippet', id], { url });

/**
 * Returns a command that examines the installation; with `url`, including what the proxy in front
 * passes on.
 */
export function doctor(of: Installation, options: Options = {}): string {
  const more = of.data === undefined ? ['store', 'status'] : [];
  return reading(of, ['doctor'], { ...picked(of, [...more, 'status-token-file']), ...options });
}

/**
 * Returns a command that sends a project's stored refused views again.
 * @param names the files' names in the data directory.
 */
export function replay(of: Installation, project: string, names: readonly string[]): string {
  const paths = names.map((name) => `${of.data}/${name}`);
  const to = of.address === undefined ? picked(of, ['host', 'port']) : { to: of.address };
  return reading(of, ['replay', ...paths], { ...to, project, ...picked(of, ['max-view']) });
}

/** Returns a command that explains the view with this body, on one line. */
export function explain(of: Installation, body: string, options: Options = {}): string {
  const command = reading(of, ['explain'], { ...picked(of, ['max-view']), ...options });
  return `printf %s ${shellQuoted(body)} | ${command}`;
}

/** Returns a command that explains the last line of a file; without one, of a FILE to be named. */
export function explainLast(of: Installation, file: string, isGzip = false): string {
  const name = file === '-' ? 'FILE' : shellQuoted(absolute(file));
  const last = isGzip ? `zcat ${name} | tail -n 1` : `tail -n 1 ${name}`;
  return `${last} | ${reading(of, ['explain'])}`;
}

/** Returns a command that checks these files, or a directory's view files, as their owner. */
export async function verify(operands: readonly string[], isReceipt = false): Promise<string> {
  const paths = operands.map((path) => (path === '-' ? path : absolute(path)));
  const of = { program: programWords(paths, []), hasSudo: isInstalled('sudo') };
  const flags = isReceipt ? ['--receipt'] : [];
  return asOwner(of, await ownerOf(...paths), viewlog(of, ['verify', ...flags, ...paths]));
}

/** Returns the account and its group, by id if they have no names. */
const ownerAndGroup = (owner: Owner, gid = primaryGroup(owner)): string[] =>
  [owner.name, groupName(gid)].map((name) => name.replace('#', ''));

const makeDirectory = (path: string, [user, group]: string[], hasSudo?: boolean): string =>
  asRoot(`install -d -o ${user} -g ${group} -m 750 ${shellQuoted(path)}`, hasSudo);

/**
 * Returns a command that creates the data directory for the owner of the projects file, else for a
 * user `viewlog`.
 */
export function create({ data = '', owners, hasSudo }: Installation): string {
  const owner = owners.projects?.uid ? owners.projects : undefined;
  const names = owner ? ownerAndGroup(owner) : ['viewlog', 'viewlog'];
  const make = makeDirectory(data, names, hasSudo);
  if (owner !== undefined) return make;
  const add = 'useradd --system --user-group --shell /usr/sbin/nologin viewlog';
  return `id viewlog || ${asRoot(add, hasSudo)} && ${make}`;
}

/**
 * Returns a command that gives the data directory and everything in it to the account that runs
 * viewlog.
 * @param account if it isn't known, the command has `USER` in its place.
 * @param gid the group, by default the account's own.
 */
export function giveBack(
  { data = '', hasSudo }: Pick<Installation, 'data' | 'hasSudo'>,
  account: Owner | undefined,
  gid?: number,
): string {
  const owner = account === undefined ? 'USER:' : ownerAndGroup(account, gid).join(':');
  return asRoot(`chown -R ${owner} ${shellQuoted(data)}`, hasSudo);
}

/** Returns a command that lets the owner of the data directory create files there. */
export const openDirectory = (of: Pick<Installation, 'data' | 'hasSudo' | 'owners'>): string =>
  asOwner(of, of.owners.data, `chmod u+rwx ${shellQuoted(of.data ?? '')}`);

/** A longer command is hard to paste. */
export const PATHS_MAX = 20;

const quotedPaths = (paths: readonly string[]): string =>
  paths.slice(0, PATHS_MAX).map(shellQuoted).join(' ');

const pathsOf = ({ data }: Installation, names: readonly string[]): string =>
  quotedPaths(names.map((name) => `${data}/${name}`));

/** Returns a command that removes files of the data directory, as many as fit. */
export function remove(of: Installation, names: readonly string[]): string {
  return asOwner(of, of.owners.data, `rm ${pathsOf(of, names)}`);
}

/**
 * Returns a command that lets viewlog's account read files or read and write them: by the mode if
 * it owns the files, otherwise by the group, because the reason for another owner is unknown.
 * @param owner the owner of all of them.
 */
export function grant(
  account: Owner,
  paths: readonly string[],
  owner: Pick<Owner, 'uid'>,
  what: 'r' | 'rw',
): string {
  const hasSudo = isInstalled('sudo');
  const names = quotedPaths(paths);
  if (owner.uid === account.uid) {
    return asOwner({ hasSudo }, account, `chmod u+${what} ${names}`);
  }
  const [, group] = ownerAndGroup(account);
  return [`chgrp ${group} ${names}`, `chmod g+${what} ${names}`]
    .map((command) => asRoot(command, hasSudo))
    .join(' && ');
}

/**
 * Returns how to let the account read a file; `undefined` if it can, or if this user can't examine
 * the file.
 */
export async function grantToRead(account: Owner, path: string): Promise<string | undefined> {
  const stats = await stat(path).catch(() => undefined);
  if (stats === undefined || isPermitted(account, stats, READ)) return undefined;
  return grant(account, [path], stats, 'r');
}

/**
 * Returns the lock's owner, in place of this process's user, whom Deno may not be allowed to
 * reveal; `undefined` if root owns the lock, or if there is none.
 */
function lockOwner(dir: string): Owner | undefined {
  const stats = orElse(() => fs.statSync(`${dir}/viewlog.lock`), undefined);
  // Root can use every file, so viewlog isn't running as root: if root owns the lock, the owner was
  // changed and doesn't show viewlog's account.
  return stats?.uid ? ownerIn(stats) : undefined;
}

/** How to let an account use a file: in words and with a command if that is known. */
export interface AccessFix {
  readonly words: string;
  readonly command?: string;
  /** The directory of the file, if the account owns it but can't use it. */
  readonly directory?: string;
}

const ASK = 'ask the doctor';

/** Returns the fix as the end of a message. Without sudo, its command needs a root shell. */
export function fixText({ words, command }: AccessFix): string {
  const run = isInstalled('sudo') === false ? 'run as root' : 'run';
  // The doctor's command is no fix.
  const goal = words === ASK ? 'to find the cause, ' : '';
  return command === undefined ? words : `${goal}${run}: ${command}`;
}

/**
 * Returns how to let an account, by default viewlog's own, read (`r`) or write a file.
 * @param data the data directory, if it is known; the lock and the daily files are always in one.
 * @param wasUsed true: the account has worked in the directory until now.
 */
export function accessFix(
  path: string,
  what: 'r' | 'rw',
  account: Owner | undefined = ownAccount() ?? lockOwner(dirname(path)),
  data = /^(viewlog\.(replay\.)?lock$|views-|refused-)/.test(basename(path))
    ? dirname(path)
    : undefined,
  wasUsed = false,
): AccessFix {
  const use = what === 'r' ? 'read the file' : 'write to the file';
  if (account === undefined) return { words: `let the user that runs viewlog ${use}` };
  const { name } = account;
  const [file, directory] = [path, dirname(path)].map((one) =>
    orElse(() => fs.statSync(one), undefined),
  );
  const isTaken = directory?.uid !== account.uid;
  const dir = dirname(path);
  const hasSudo = isInstalled('sudo');
  const back = (gid?: number): AccessFix => {
    const command = giveBack({ data: dir, hasSudo }, account, gid);
    return { words: `give "${dir}" back to user ${name}`, command };
  };
  if (isTaken && directory !== undefined && data === dir) {
    if (wasUsed) return back();
    // The directory may be another installation's. Root can see all of it.
    const program = programWords([data], [data]);
    const command = asRoot(viewlog({ program }, ['doctor'], { data }), hasSudo);
    return { words: ASK, command };
  }
  const gid = file?.uid === 0 ? gidOfCopies(account, dir) : undefined;
  if (gid !== undefined) return back(gid);
  const closed = closedTo(account, path);
  const needed = what === 'r' ? ENTER : READ | WRITE | ENTER;
  const isOwnClosed = !isTaken && !isPermitted(account, directory, needed);
  if (isOwnClosed && [undefined, dir].includes(closed)) {
    const command = openDirectory({ data: dir, owners: { data: account }, hasSudo });
    return { words: `let user ${name} read and write in "${dir}"`, command, directory: dir };
  }
  if (closed !== undefined) return { words: `let user ${name} enter "${closed}"` };
  if (file === undefined && what === 'rw') {
    // In a known data directory, the missing file isn't a directory.
    const command = makeDirectory(path, ownerAndGroup(account), hasSudo);
    return { words: `create it for user ${name}`, ...(data === undefined && { command }) };
  }
  const words = `let user ${name} ${use}`;
  // viewlog writes only in a directory that its account owns.
  if (file === undefined || file.isDirectory() || (isTaken && what === 'rw')) return { words };
  return { words, command: grant(account, [path], file, what) };
}

/** Returns a command that lets the group of these files of the data directory read them. */
export const share = (of: Installation, names: readonly string[]): string =>
  asOwner(of, of.owners.data, `chmod g+r ${pathsOf(of, names)}`);

/** Returns a command that lists the data directory, the largest files first. */
export const list = (of: Installation): string =>
  asOwner(of, of.owners.data, `ls -lhS ${shellQuoted(of.data ?? '')}`);

/** A command that shows the locks of running viewlogs, which are in their data directories. */
export const LIST_LOCKS = 'ss -xl | grep -F /viewlog.lock';

/**
 * Returns a command that shows the process that listens at a lock. `ss` shows the path at which the
 * process created the socket, which begins with the lock's path.
 */
export const findHolder = (lock: string, hasSudo = isInstalled('sudo')): string =>
  asRoot(`ss -xlp | grep -F ${shellQuoted(` ${lock}`)}`, hasSudo);

/** Returns a command that shows the process that listens on a port. */
export const findListener = (port: number | undefined, hasSudo = isInstalled('sudo')): string =>
  asRoot(`ss -ltnp 'sport = :${port}'`, hasSudo);

/**
 * Returns a command that ends the process that answered at a lock, as its own user. `undefined` if
 * it isn't a process of the lock's owner that runs this program: the process may be in a container,
 * or its answer may be false.
 */
export async function killCommand(
  { pid, program }: Pick<Installation, 'pid' | 'program'>,
  lock: string,
): Promise<string | undefined> {
  const [owner, runner] = [await ownerOf(lock), await ownerOf(`/proc/${pid}`)];
  const words = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '');
  const file = basename(program.at(-1) ?? '');
  if (owner === undefined || owner.uid !== runner?.uid || file === '') return undefined;
  const runs = words.split('\0').some((word) => basename(word) === file);
  return runs ? asOwner({ hasSudo: isInstalled('sudo') }, owner, `kill ${pid}`) : undefined;
}

/**
 * Returns a command that starts a collector or an archive as this one was started.
 * @param options replace those that were chosen.
 * @returns `undefined` if the stream's address is a secret.
 */
export function start(of: Installation, options: Options = {}): string | undefined {
  const { role, data, chosen } = of;
  const isSecret = role === 'archive' ? !chosen['from'] : data === undefined && !chosen['store'];
  if (isSecret) return undefined;
  const command = [role === 'archive' ? 'archive' : 'serve'];
  const wanted = { ...picked(of, Object.keys(chosen)), ...options };
  const owner = of.owners.data;
  // viewlog refuses to run as root in a person's directory.
  if (owner === undefined || owner.uid === 0 || isService(owner) || ownUid() !== 0)
    return reading(of, command, wanted);
  return asUser(owner, of.hasSudo, viewlog(of, command, { ...files(of), ...wanted }));
}

/** Returns a command that restarts the process, if systemd started it; else `undefined`. */
export const restart = ({ unit, hasSudo }: Installation): string | undefined =>
  unit === undefined ? undefined : asRoot(`systemctl restart ${shellQuoted(unit)}`, hasSudo);

/** Returns what the commands assume without permission to look; `undefined`: nothing. */
export function unknownFacts({ hasSudo, owners }: Installation): string | undefined {
  const owner = [owners.data, owners.projects].find((one) => one !== undefined);
  if (hasSudo !== undefined && owner !== undefined) return undefined;
  const what = owner === undefined ? 'who owns the files' : 'whether sudo is installed';
  return `viewlog can't see ${what}: the runtime lacks permission. The commands may need another account`;
}
