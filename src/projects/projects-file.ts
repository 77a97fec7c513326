import { existsSync } from 'node:fs';
import { readdir, readFile, stat } from 'node:fs/promises';
import { basename, dirname } from 'node:path';
import { errnoOf, EXIT, Fatal, errorText } from '../base/exit.ts';
import { formatSize, MiB, plural } from '../base/format.ts';
import { printable } from '../base/text.ts';
import { lastStartIn } from '../disk/last-start.ts';
import { lastKnownStart } from '../disk/lock.ts';
import { type AccessFix, activate, beginProjects, fixText } from '../installation/commands.ts';
import { ownAnnouncement, withOwners } from '../installation/installation.ts';
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
    if (!stats.isFile()) return new Error("it isn't a regular file; name another with --projects");
    if (stats.size <= FILE_BYTES_MAX) return await readFile(path);
    const [size, max] = [stats.size, FILE_BYTES_MAX].map(formatSize);
    return new Error(`it is too large (${size}; the limit is ${max})`);
  } catch (error) {
    return errnoOf(error) === 'ENOENT' ? undefined : (error as Error);
  }
}

/** Returns why a file can't be read or written. */
export const causeOf = (error: unknown): string =>
  errnoOf(error) === 'EACCES' ? 'permission denied' : errorText(error);

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
  /** The end of the fault if no viewlog used the missing file: what to do, with that command. */
  readonly advice?: string;
  /**
   * The command that begins a new list; set if the file is empty, or missing and a viewlog used it.
   */
  readonly begin?: string;
  /** The fault without what to do; set with `begin`. */
  readonly fact?: string;
};

/**
 * Reads and checks the projects file.
 * @param last the last reading, which is returned again if the file hasn't changed since.
 */
export async function readProjectsFile(path: string, last?: Reading): Promise<Reading> {
  const content = await readContent(path);
  if (last !== undefined && isSameContent(content, last.content)) return last;
  const name = printable(path, Infinity);
  const isEmpty = Buffer.isBuffer(content) && content.toString().trim() === '';
  if (Buffer.isBuffer(content) && !isEmpty) {
    return { content, ...parseProjectsFile(content, name) };
  }
  if (content instanceof Error) return { content, faults: [cannotRead(path, causeOf(content))] };
  const data = basename(path) === 'projects.json' ? dirname(path) : undefined;
  const self = ownAnnouncement({ role: 'collector', data, projects: path, chosen: {} });
  const of = await withOwners(self);
  if (isEmpty || (await wasUsed(path))) {
    const fact = isEmpty
      ? `Projects file "${name}" is empty`
      : cannotRead(path, "it doesn't exist");
    return { content, faults: [`${fact}; ${RESTORE}`], fact, begin: beginProjects(of) };
  }
  const create = activate(of, 'ID');
  const option = data === undefined ? '--projects' : '--data or --projects';
  // A mount point without its disk is empty.
  const names = await readdir(dirname(path)).catch(errnoOf);
  const start = names === 'ENOENT' || names?.length === 0 ? `. ${BRING_BACK} ` : '; ';
  const advice = `${start}check ${option}, or create the file, with a project's id instead of ID: ${create}`;
  return { content, faults: [cannotRead(path, "it doesn't exist")], create, advice };
}

/**
 * The causes that an operator should rule out before a command creates the directory or the file.
 */
export const BRING_BACK =
  "If the directory was moved or its disk isn't mounted, bring it back. Otherwise,";

/** A command that creates the file would shorten the list to one project. */
export const RESTORE = 'restore the file from a backup, or rewrite it with every project';

/** Returns whether a collector whose data directory contains this file runs or ran there. */
async function wasUsed(path: string): Promise<boolean> {
  const dir = dirname(path);
  const start = await lastKnownStart(dir);
  if (start === undefined) return existsSync(lastStartIn(dir));
  // An archive has no projects, and the collector's projects file may be elsewhere.
  return start.projects === `${start.data}/${basename(path)}`;
}

const isSameContent = (a: Content, b: Content): boolean =>
  Buffer.isBuffer(a) && Buffer.isBuffer(b)
    ? Buffer.compare(a, b) === 0
    : a?.toString() === b?.toString() && Buffer.isBuffer(a) === Buffer.isBuffer(b);

/** Returns the faults of a file; that of a missing one with what to do. */
export const faultsOf = ({
  faults,
  advice,
}: Extract<Reading, { readonly faults: unknown }>): readonly string[] =>
  advice === undefined ? faults : faults.map((fault) => fault + advice);

/** @throws {Fatal} exit 78 with every fault. */
export function fileOrFatal(reading: Reading): ProjectsFile {
  if ('file' in reading) return reading.file;
  const message = withFix(faultsOf(reading).join('\n'), reading.access);
  // With a fix, the message is complete.
  const cause = reading.access === undefined ? reading.content : undefined;
  throw new Fatal(EXIT.badConfiguration, message, cause);
}

export const withFix = (fault: string, access: AccessFix | undefined): string =>
  access === undefined ? fault : `${fault}; ${fixText(access)}`;

/** Returns the first fault and how many more there are, in one line. */
export const summaryOfFaults = ([first = '', ...more]: readonly string[]): string =>
  more.length === 0 ? first : `${first} (and ${plural(more.length, 'more fault')})`;
