import { existsSync } from 'node:fs';
import { readdir, readFile, stat } from 'node:fs/promises';
import { basename, dirname } from 'node:path';
import { errnoOf, EXIT, Fatal, errorText } from '../base/exit.ts';
import { endsTooEarly } from '../base/json.ts';
import { formatCount, MiB, plural } from '../base/format.ts';
import { capitalised, printable } from '../base/text.ts';
import { lastProjectsIn, lastStartIn } from '../disk/last-start.ts';
import { lastKnownStart } from '../disk/lock.ts';
import {
  type AccessFix,
  activate,
  beginProjects,
  check,
  fixText,
  restoreProjects,
} from '../installation/commands.ts';
import {
  absolute,
  type Announced,
  ownAnnouncement,
  withOwners,
} from '../installation/installation.ts';
import { type Parsed, parseProjectsFile } from './parse.ts';
import type { ProjectsFile } from './projects-schema.ts';

/** Enough for some tens of thousands of projects. Parsing them delays views for a moment. */
export const FILE_BYTES_MAX = 4 * MiB;

/** The file's bytes or why it can't be read; `undefined`: no file. */
type Content = Buffer | Error | undefined;

/** Reads the file without holding up the event loop, however slow the file system is. */
async function readContent(path: string): Promise<Content> {
  try {
    // Checks the type first, because reading a named pipe would wait for its writer.
    const stats = await stat(path);
    if (stats.isDirectory()) {
      const name = `name a file, such as ${printable(path, Infinity)}/projects.json`;
      const isDefault = basename(path) === 'projects.json';
      const fix = isDefault ? 'if it is empty, remove it and create the file' : name;
      return new Error(`it is a directory; ${fix}`);
    }
    if (!stats.isFile())
      return new Error("it isn't a regular file; move it away, or name another with --projects");
    if (stats.size <= FILE_BYTES_MAX) return await readFile(path);
    const [size, max] = [plural(stats.size, 'byte'), formatCount(FILE_BYTES_MAX)];
    return new Error(`it is too large (${size}; the limit is ${max})`);
  } catch (error) {
    return errnoOf(error) === 'ENOENT' ? undefined : (error as Error);
  }
}

const CAUSES: Readonly<Record<string, string>> = {
  EACCES: 'permission denied',
  ENOTDIR: 'a part of this path is a file; check --data or --projects',
};

/** Returns why a file can't be read or written. */
export const causeOf = (error: unknown): string => CAUSES[errnoOf(error) ?? ''] ?? errorText(error);

/** @param reason what is wrong and what to do if that is known. */
export const cannotRead = (path: string, reason: string): string =>
  `Can't read projects file "${printable(path, Infinity)}": ${reason}`;

/** A reading of the projects file; a missing file is a fault, too. */
export type Reading = Parsed & {
  readonly content: Content;
  /** How to let viewlog's account read the file; set only in the collector's own readings. */
  readonly access?: AccessFix;
  /** The command that creates the file; set only if the file is missing and no viewlog used it. */
  readonly create?: string;
  /** The fix, to be appended to the fault, with the command in `create`. Set with `create`. */
  readonly advice?: string;
  /** The command that begins a new list; set with `fact` if no list can be restored. */
  readonly begin?: string;
  /** The fault without its fix; set if the file is empty, or missing although viewlog used it. */
  readonly fact?: string;
  /** The copy of the last good list, if there is one; set if the file has a fault. */
  readonly saved?: SavedList;
  /** The command that lists every fault; set if there are several. */
  readonly check?: string;
};

export interface SavedList {
  readonly path: string;
  /**
   * The command that replaces the projects file with it; `undefined` if the file's directory
   * doesn't exist: its disk may not be mounted.
   */
  readonly restore: string | undefined;
  /** How many projects it lists, if this user may read it. */
  readonly projects: number | undefined;
}

/**
 * Reads and checks the projects file.
 * @param last the last reading, which is returned again if the file hasn't changed since.
 * @param data the data directory of the collector that uses the file, if that isn't the file's own.
 */
export async function readProjectsFile(
  path: string,
  last?: Reading,
  data?: string,
): Promise<Reading> {
  const content = await readContent(path);
  if (last !== undefined && isSameContent(content, last.content)) return last;
  const name = printable(path, Infinity);
  const isEmpty = Buffer.isBuffer(content) && content.toString().trim() === '';
  const parsed: Parsed =
    Buffer.isBuffer(content) && !isEmpty
      ? parseProjectsFile(content, name)
      : { faults: content instanceof Error ? [cannotRead(path, causeOf(content))] : [] };
  if ('file' in parsed) return { content, ...parsed };
  const own = basename(path) === 'projects.json' ? dirname(path) : undefined;
  const self = ownAnnouncement({ role: 'collector', data: own, projects: path, chosen: {} });
  const of = await withOwners(self);
  const user = await userOf(path, data);
  const isUsed = user !== undefined;
  const saved = isUsed ? await savedList(self, user) : undefined;
  if (parsed.faults.length > 0) {
    const all = parsed.faults.length > 1 ? { check: check(of) } : {};
    return { content, ...parsed, ...(saved && { saved }), ...all };
  }
  if (isEmpty || isUsed) {
    const isMoved = !existsSync(dirname(path));
    const what = isMoved ? "its directory doesn't exist" : "it doesn't exist";
    const fact = isEmpty ? `Projects file "${name}" is empty` : cannotRead(path, what);
    const restore = saved?.restore;
    const fix = restore ? `to restore the last good list, run: ${restore}` : RESTORE;
    const faults = [`${fact}; ${isMoved ? BRING_BACK : fix}`];
    const begin = saved || isMoved ? undefined : beginProjects(of);
    return { content, faults, fact, ...(saved && { saved }), ...(begin && { begin }) };
  }
  const create = activate(of, 'ID');
  const option = own === undefined ? '--projects' : '--data or --projects';
  // A mount point without its disk is empty.
  const names = await readdir(dirname(path)).catch(errnoOf);
  const start = names === 'ENOENT' || names?.length === 0 ? `. ${BRING_BACK_FIRST} ` : '; ';
  const advice = `${start}check ${option}, or create the file (replace ID with a project's id): ${create}`;
  return { content, faults: [cannotRead(path, "it doesn't exist")], create, advice };
}

export const BRING_BACK = 'move the directory back, or mount its disk';

/**
 * The causes that an operator should rule out before a command creates the directory or the file.
 */
export const BRING_BACK_FIRST =
  "If the directory was moved, move it back; if its disk isn't mounted, mount it. Otherwise,";

/** Names no command, because one that creates the file would reduce the list to one project. */
export const RESTORE = 'restore the file from a backup, or list every project in it again';

/**
 * Returns which directory, the file's own or `data`, is that of a collector that used this file.
 */
async function userOf(path: string, data: string | undefined): Promise<string | undefined> {
  for (const dir of new Set([dirname(path), data ?? dirname(path)])) {
    if (await wasUsed(path, dir)) return dir;
  }
  return undefined;
}

/** Returns whether a collector that uses this file runs or ran in the data directory. */
async function wasUsed(path: string, data: string): Promise<boolean> {
  const start = await lastKnownStart(data);
  const isInside = absolute(dirname(path)) === absolute(data);
  if (start === undefined) return isInside && existsSync(lastStartIn(data));
  // An archive has no projects, and the collector's projects file may be elsewhere. The collector
  // may see the directory at another path.
  return start.projects === (isInside ? `${start.data}/${basename(path)}` : absolute(path));
}

/**
 * Returns the last good list that is saved in a data directory; `undefined` if none is, or if the
 * list is the reading's own.
 */
export async function savedProjects(
  dir: string,
  { content }: Pick<Reading, 'content'> = { content: undefined },
): Promise<ProjectsFile | undefined> {
  const text = await readFile(lastProjectsIn(dir)).catch(() => Buffer.of());
  return isSameContent(text, content) ? undefined : listIn(text);
}

async function savedList(self: Announced, data: string): Promise<SavedList | undefined> {
  const path = lastProjectsIn(absolute(data));
  if (!existsSync(path)) return undefined;
  const text = await readFile(path).catch(() => undefined);
  const projects = text && listIn(text)?.projects.length;
  // An empty list isn't worth restoring, and a damaged one is no list.
  if (text !== undefined && !projects) return undefined;
  const of = await withOwners({ ...self, data: absolute(data) });
  const hasDirectory = existsSync(dirname(of.projects ?? ''));
  const restore = hasDirectory ? restoreProjects(of, path) : undefined;
  return { path, restore, projects };
}

/** Returns the list in a text; `undefined` if the text isn't a valid projects file. */
function listIn(text: Buffer): ProjectsFile | undefined {
  const parsed = parseProjectsFile(text, '');
  return 'file' in parsed ? parsed.file : undefined;
}

const isSameContent = (a: Content, b: Content): boolean =>
  Buffer.isBuffer(a) && Buffer.isBuffer(b)
    ? Buffer.compare(a, b) === 0
    : a?.toString() === b?.toString() && Buffer.isBuffer(a) === Buffer.isBuffer(b);

/** Returns the faults of a file. If the file is missing, the fault includes the fix. */
export const faultsOf = ({
  faults,
  advice,
}: Extract<Reading, { readonly faults: unknown }>): readonly string[] =>
  advice === undefined ? faults : faults.map((fault) => fault + advice);

/** @throws {Fatal} exit 78 with every fault. */
export function fileOrFatal(reading: Reading): ProjectsFile {
  if ('file' in reading) return reading.file;
  const { saved, line, access } = reading;
  // The hint isn't about the last of several faults.
  const hint =
    line && saved
      ? `correct the file or, if parts of it are missing, restore the ${listWords(saved)}: ${saved.restore}`
      : '';
  const more = reading.faults.length > 1 && hint ? `\n${capitalised(hint)}` : hint && `; ${hint}`;
  const message = withFix(faultsOf(reading).join('\n') + more, access);
  // `main` adds the cause's own advice to a message, which this one already has.
  const cause = access === undefined ? reading.content : undefined;
  throw new Fatal(EXIT.badConfiguration, message, cause);
}

/** Returns whether the file's text ends too early. */
export const isCut = ([first = '']: readonly string[]): boolean => endsTooEarly(first);

/** `last good list (2 projects)` */
export const listWords = ({ projects }: Partial<SavedList> = {}): string =>
  `last good list${projects === undefined ? '' : ` (${plural(projects, 'project')})`}`;

/** `saved in "/var/lib/viewlog/last-projects.json"` */
export const savedIn = ({ path }: SavedList): string => `saved in "${printable(path, Infinity)}"`;

/**
 * @param saved the copy of the last good list, if there is one.
 * @param isUnreadable true: viewlog isn't allowed to read the file, and perhaps not the copy
 *   either.
 */
export function continues(saved: SavedList | undefined, isUnreadable: boolean): string {
  const where = saved ? `, ${savedIn(saved)}` : '';
  const lost = saved || isUnreadable ? 'fail' : 'lose it and fail';
  return `viewlog continues with the last good list${where}, but a restart would ${lost}`;
}

export const withFix = (fault: string, access: AccessFix | undefined): string =>
  access === undefined ? fault : `${fault}; ${fixText(access)}`;

/** Returns the first fault and how many more there are, in one line. */
export const summaryOfFaults = ([first = '', ...more]: readonly string[]): string =>
  more.length === 0 ? first : `${first} (and ${plural(more.length, 'more fault')})`;
