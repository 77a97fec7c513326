import * as fs from 'node:fs';
import { dirname } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import schema from '../../data/projects.schema.json' with { type: 'json' };
import { errnoOf, EXIT, Fatal } from '../base/exit.ts';
import { printable } from '../base/text.ts';
import { systemFiles } from '../disk/ops.ts';
import { syncDirectory } from '../disk/durable.ts';
import { parseProjectsFile, type Sound } from './parse.ts';
import {
  causeOf,
  excessOf,
  isSameContent,
  parseContent,
  readContent,
  soundOrFatal,
} from './projects-file.ts';

// Edits of the projects file. The new text is written to a draft, which only one edit at a time can
// create, and then replaces the file by a rename, if the file is still as it was read. So an edit
// that is cut short leaves the old file or the new one, and two edits at once do not undo each
// other.

/**
 * An edit takes milliseconds. After this wait the draft was probably left behind by a killed edit.
 */
const WAIT_MS = 2_000;
const RETRY_MS = 20;

const EMPTY = Buffer.from('{\n  "$schema": "./projects.schema.json",\n  "projects": []\n}\n');
const FILE_MODE = 0o640;

export type Edited = 'created' | 'changed' | 'unchanged';

interface EditOptions {
  readonly path: string;
  /** True: a missing file is created, with its schema and its directory. */
  readonly canCreate: boolean;
  /**
   * Returns the new text of a file without faults. It is called again if another program changes
   * the file meanwhile.
   */
  readonly change: (text: string, file: Sound['file']) => string;
}

/**
 * Changes the projects file, through symbolic links, keeping its mode and owner.
 * @throws {Fatal} exit 78 with every fault of a faulty file, 73 or 74 if it can't be written, or
 *   would be larger than what a collector reads.
 */
export async function editProjectsFile(options: EditOptions): Promise<Edited> {
  const { path } = options;
  try {
    for (const untilMs = Date.now() + WAIT_MS; Date.now() < untilMs; await sleep(RETRY_MS)) {
      const edited = await edit(options);
      if (edited !== undefined) return edited;
    }
  } catch (error) {
    if (error instanceof Fatal) throw error;
    const isIo = ['EIO', 'ENOSPC', 'EDQUOT'].includes(errnoOf(error) ?? '');
    throw new Fatal(isIo ? EXIT.ioError : EXIT.cannotCreate, cannotWrite(path, causeOf(error)));
  }
  const why = 'exists: another edit is running, or was killed; if none is running, delete it';
  throw new Fatal(EXIT.cannotCreate, `"${printable(draftOf(realPath(path)), Infinity)}" ${why}`);
}

const cannotWrite = (path: string, reason: string): string =>
  `Cannot write projects file "${printable(path, Infinity)}": ${reason}`;

const draftOf = (target: string): string => `${target}.draft`;

/** @returns `undefined` if another edit is under way, or another program changed the file. */
async function edit({ path, canCreate, change }: EditOptions): Promise<Edited | undefined> {
  const before = await readContent(path);
  const isNew = before === undefined && canCreate;
  const { bom, text, file } = soundOrFatal(parseContent(isNew ? EMPTY : before, path));
  const changed = change(text, file);
  if (changed === text) return 'unchanged';
  const after = Buffer.from(bom + changed);
  soundOrFatal(parseProjectsFile(after, printable(path, Infinity)));
  const excess = excessOf(after.length);
  if (excess !== undefined) {
    throw new Fatal(EXIT.cannotCreate, cannotWrite(path, `it would be ${excess}`));
  }
  const directory = dirname(path);
  const created = isNew && fs.mkdirSync(directory, { recursive: true, mode: 0o750 });
  // A service's umask is often 077, which would lock out the shipper's group.
  if (created) fs.chmodSync(directory, 0o750);
  const target = realPath(path);
  const draft = draftOf(target);
  if (!createLike(target, draft, after)) return undefined;
  try {
    if (!isSameContent(await readContent(target), before)) {
      fs.rmSync(draft);
      return undefined;
    }
    if (isNew) createSchema(dirname(target));
    fs.renameSync(draft, target);
  } catch (error) {
    fs.rmSync(draft, { force: true });
    throw error;
  }
  await syncDirectory(systemFiles, dirname(target));
  return isNew ? 'created' : 'changed';
}

/** A rename onto a symbolic link would replace the link. */
const realPath = (path: string): string =>
  fs.lstatSync(path, { throwIfNoEntry: false }) === undefined ? path : fs.realpathSync(path);

/**
 * Creates a file with the owner and mode of `model`, or with its directory's owner if there is no
 * model. Only root can give a file to another user.
 * @returns whether it did not exist.
 */
function createLike(model: string, path: string, bytes: Uint8Array): boolean {
  const like = fs.statSync(model, { throwIfNoEntry: false });
  const { uid, gid } = like ?? fs.statSync(dirname(path));
  let fd: number;
  try {
    fd = fs.openSync(path, 'wx', FILE_MODE);
  } catch (error) {
    if (errnoOf(error) === 'EEXIST') return false;
    throw error;
  }
  try {
    for (let done = 0; done < bytes.length;) done += fs.writeSync(fd, bytes, done);
    const own = fs.fstatSync(fd);
    if (own.uid !== uid || own.gid !== gid) giveAway(fd, uid, gid);
    fs.fchmodSync(fd, like === undefined ? FILE_MODE : like.mode & 0o7777);
    fs.fsyncSync(fd);
    return true;
  } catch (error) {
    fs.rmSync(path, { force: true });
    throw error;
  } finally {
    fs.closeSync(fd);
  }
}

function giveAway(fd: number, uid: number, gid: number): void {
  try {
    fs.fchownSync(fd, uid, gid);
  } catch (error) {
    if (errnoOf(error) !== 'EPERM') throw error;
  }
}

function createSchema(directory: string): void {
  const path = `${directory}/projects.schema.json`;
  // Root must not write through a link.
  fs.rmSync(path, { force: true });
  createLike(path, path, Buffer.from(`${JSON.stringify(schema, null, 2)}\n`));
}
