import * as fs from 'node:fs';
import { dirname } from 'node:path';
import { builtTexts } from '../base/built.ts';
import { errnoOf, EXIT, Fatal, errorText } from '../base/exit.ts';
import { printable } from '../base/text.ts';
import { prepareDirectory } from '../disk/directory.ts';
import { syncDirectory } from '../disk/durable.ts';
import { systemFiles } from '../disk/ops.ts';
import { editorOf, type Owner, ownUid, primaryGroup, ROOT } from '../installation/accounts.ts';
import { rewritten } from './json-edit.ts';
import { causeOf, readProjectsFile, fileOrFatal } from './projects-file.ts';
import type { ProjectEntry, ProjectsFile } from './projects-schema.ts';

// Edits of the projects file. The new text is written to a draft, which only one edit at a time can
// create. A rename then replaces the file, if it is unchanged since it was read. So an edit that is
// cut short leaves the old file or the new one, and two simultaneous edits don't undo each other.

const SCHEMA = 'projects.schema.json';
const EMPTY = `{\n  "$schema": "./${SCHEMA}",\n  "projects": []\n}\n`;
const FILE_MODE = 0o640;

interface Edit {
  readonly path: string;
  /** The data directory of the collector that uses the file. */
  readonly data: string;
  /** The project to change or to add at the end of the list. */
  readonly id: string;
  /** Gets the listed project and the file, and returns the changed project. */
  readonly change: (before: ProjectEntry | undefined, file: ProjectsFile) => ProjectEntry;
  /** `undefined` leaves it unchanged. */
  readonly operator?: string | undefined;
  /** True: a missing file is created, with its schema and its directory. */
  readonly canCreate?: boolean;
  /** The account that runs viewlog, which must be able to read a new file that root owns. */
  readonly reader?: Owner | undefined;
  /** Returns the command that makes this edit as the file's owner; `undefined` if there is none. */
  readonly asOwner: (owner: Owner) => string | undefined;
}

/**
 * Changes a project in the projects file, through symbolic links. The file keeps its owner, group
 * and mode: otherwise a running viewlog might be unable to read it.
 * @returns what was done, the project before and after, the projects that were listed before, the
 *   operator's address, and the file's directory if this edit created it.
 * @throws {Fatal} exit 78 with every fault of an invalid file, or if a file that was used is
 *   missing; 73 or 74 if the file can't be written, or another program writes it at the same time.
 */
export async function editProject(edit: Edit) {
  const { path, data, id, change, operator, canCreate = false, reader } = edit;
  const reading = await readProjectsFile(path, undefined, data);
  if (errnoOf(reading.content) === 'EACCES') throw await cannotWrite(edit, reading.content);
  const { fact, begin, create } = reading;
  if ('faults' in reading && (canCreate ? fact : create) !== undefined) {
    const anew =
      begin &&
      `. To begin an empty list instead, first run the following; a running viewlog then refuses the views of every project that isn't listed again: ${begin}`;
    const how = canCreate ? (anew ?? '') : '; check --data or --projects';
    throw new Fatal(EXIT.badConfiguration, `${reading.faults[0]}${how}`);
  }
  const isNew = reading.content === undefined && canCreate;
  const file: ProjectsFile = isNew ? { projects: [] } : fileOrFatal(reading);
  const text = reading.content?.toString() ?? EMPTY;
  const listed = file.projects;
  const index = listed.findIndex((project) => project.id === id);
  const before = listed[index];
  const after = change(before, file);
  const projects = before === undefined ? [...listed, after] : listed.with(index, after);
  const changed = rewritten(text, { ...file, ...(operator && { operator }), projects });
  let newDirectory: string | undefined;
  const last = file.operator;
  const edited = { before, after, listed, operator: operator ?? last, lastOperator: last };
  if (changed === text) return { outcome: 'unchanged' as const, newDirectory, ...edited };
  try {
    if (isNew) newDirectory = await prepareDirectory(dirname(path), systemFiles);
    const target = realPath(path);
    const draft = `${target}.draft`;
    const like = fs.statSync(target, { throwIfNoEntry: false });
    const { uid, gid: group } = like ?? fs.statSync(dirname(target));
    const gid = isNew && uid === 0 && reader?.uid ? primaryGroup(reader) : group;
    const rights = { uid, gid, mode: like?.mode ?? FILE_MODE };
    const fd = openDraft(draft);
    try {
      fill(fd, changed, rights, like === undefined);
      if ((await readProjectsFile(path, reading, data)) !== reading)
        throw new Error(SAVED_MEANWHILE);
      if (isNew) createSchema(dirname(target), rights);
      fs.renameSync(draft, target);
    } catch (error) {
      fs.rmSync(draft, { force: true });
      throw error;
    }
    await syncDirectory(systemFiles, dirname(target));
    const outcome = isNew ? ('created' as const) : ('changed' as const);
    return { outcome, newDirectory, ...edited };
  } catch (error) {
    if (error instanceof Fatal) throw error;
    throw await cannotWrite(edit, error);
  }
}

const SAVED_MEANWHILE = 'another program has just saved it; run the command again';

/** A rename onto a symbolic link would replace the link. */
const realPath = (path: string): string =>
  fs.lstatSync(path, { throwIfNoEntry: false }) === undefined ? path : fs.realpathSync(path);

function openDraft(path: string): number {
  try {
    return fs.openSync(path, 'wx', FILE_MODE);
  } catch (error) {
    if (errnoOf(error) !== 'EEXIST') throw error;
    const what = `"${printable(path, Infinity)}" exists: another edit is running or was killed`;
    throw new Error(`${what}; if no edit is running, delete that .draft file`, { cause: error });
  }
}

/**
 * Returns the error. If another user may edit the file, the message ends with that user's command.
 */
async function cannotWrite({ path, asOwner }: Edit, error: unknown): Promise<Fatal> {
  const errno = errnoOf(error) ?? '';
  const what = `Can't write projects file "${printable(path, Infinity)}": `;
  if (['EIO', 'ENOSPC', 'EDQUOT'].includes(errno))
    return new Fatal(EXIT.ioError, what + causeOf(error));
  const isForbidden = ['EACCES', 'EPERM'].includes(errno);
  const [own, editor = ROOT] = [ownUid(), await editorOf(path)];
  // Only root can give the new file a group that this user isn't in.
  const other = editor.uid === own ? ROOT : editor;
  const command = isForbidden && other.uid !== own ? asOwner(other) : undefined;
  const cause = command === undefined ? causeOf(error) : `${errorText(error)}; ${command}`;
  return new Fatal(EXIT.cannotCreate, what + cause);
}

type Rights = Pick<fs.Stats, 'uid' | 'gid' | 'mode'>;

/** Writes a new file's text durably and closes it. */
function fill(fd: number, text: string, { uid, gid, mode }: Rights, isNew: boolean): void {
  try {
    fs.writeFileSync(fd, text);
    const stats = fs.fstatSync(fd);
    try {
      if (stats.uid !== uid || stats.gid !== gid) fs.fchownSync(fd, uid, gid);
    } catch (error) {
      // Only root can change a file's owner. A new file may keep its creator as its owner if the
      // directory belongs to the creator or to root.
      if (!isNew || ![0, stats.uid].includes(uid)) throw error;
    }
    fs.fchmodSync(fd, mode & 0o7777);
    fs.fsyncSync(fd);
  } finally {
    fs.closeSync(fd);
  }
}

function createSchema(directory: string, rights: Rights): void {
  const path = `${directory}/${SCHEMA}`;
  // Root must not write through a link.
  fs.rmSync(path, { force: true });
  fill(fs.openSync(path, 'wx', FILE_MODE), builtTexts()[SCHEMA] ?? '', rights, true);
}
