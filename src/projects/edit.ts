import * as fs from 'node:fs';
import { dirname } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import schema from '../../data/projects.schema.json' with { type: 'json' };
import { errnoOf, EXIT, Fatal, reasonOf } from '../base/exit.ts';
import { printable } from '../base/text.ts';
import { parseProjectsFile, type Sound } from './parse.ts';
import {
  type Content,
  excessOf,
  isSameContent,
  readContent,
  soundOrFatal,
} from './projects-file.ts';

// Edits of the projects file. The new text is written to a draft, which only one edit at a time can
// create, and then replaces the file by a rename. So an edit that is cut short leaves the old file
// or the new one, and two edits at once do not undo each other.

/** An edit takes milliseconds; one that waits this long waits for a draft that was left behind. */
const DRAFT_WAIT_MS = 2_000;
const DRAFT_POLL_MS = 20;

const EMPTY = '{\n  "$schema": "./projects.schema.json",\n  "projects": []\n}\n';
const FILE_MODE = 0o640;

export type Edited = 'created' | 'changed' | 'unchanged';

interface EditOptions {
  readonly path: string;
  /** True: a missing file is created, with its schema and its directory. */
  readonly canCreate: boolean;
  /** Returns the new text of a file without faults. */
  readonly change: (text: string, file: Sound['file']) => string;
}

/**
 * Changes the projects file, through symbolic links, keeping its mode and owner.
 * @throws {Fatal} exit 78 with every fault of a faulty file, 73 or 74 if it can't be written, or
 *   would be larger than what a collector reads.
 */
export async function editProjectsFile(options: EditOptions): Promise<Edited> {
  const { path } = options;
  const isNew = isMissing(await readContent(path), options);
  try {
    if (isNew) createDirectory(dirname(path));
    const target = realTarget(path);
    const draft = `${target}.draft`;
    const fd = await openDraft(draft);
    let isDraft = true;
    try {
      const edited = await writeDraft(fd, target, options);
      if (edited === 'unchanged') return edited;
      fs.renameSync(draft, target);
      isDraft = false;
      syncDirectory(dirname(target));
      return edited;
    } finally {
      fs.closeSync(fd);
      if (isDraft) fs.rmSync(draft, { force: true });
    }
  } catch (error) {
    if (error instanceof Fatal) throw error;
    const isIo = ['EIO', 'ENOSPC', 'EDQUOT'].includes(errnoOf(error) ?? '');
    throw new Fatal(isIo ? EXIT.ioError : EXIT.cannotCreate, cannotWrite(path, reasonOf(error)));
  }
}

const cannotWrite = (path: string, reason: string): string =>
  `Cannot write projects file "${printable(path, Infinity)}": ${reason}`;

/** @throws {Fatal} exit 78 if the file cannot be read, or is missing and must not be created. */
function isMissing(content: Content, { canCreate }: EditOptions): boolean {
  if (!('fault' in content)) return false;
  if (content.isMissing && canCreate) return true;
  throw new Fatal(EXIT.badConfiguration, content.fault);
}

/** Writes the changed text, with the owner and mode that the file will have. */
async function writeDraft(fd: number, target: string, options: EditOptions): Promise<Edited> {
  const { path, change } = options;
  const name = printable(path, Infinity);
  const before = await readContent(target);
  const isNew = isMissing(before, options);
  const bytes = 'bytes' in before ? before.bytes : Buffer.from(EMPTY);
  const { bom, text, file } = soundOrFatal(parseProjectsFile(bytes, name));
  const changed = change(text, file);
  if (changed === text) return 'unchanged';
  const after = Buffer.from(bom + changed);
  soundOrFatal(parseProjectsFile(after, name));
  const excess = excessOf(after.length);
  if (excess !== undefined) {
    throw new Fatal(EXIT.cannotCreate, cannotWrite(path, `it would be ${excess}`));
  }
  const directory = dirname(target);
  if (isNew) createSchema(directory);
  writeFor(fd, after, fs.statSync(isNew ? directory : target));
  fs.fchmodSync(fd, isNew ? FILE_MODE : fs.statSync(target).mode & 0o7777);
  fs.fsyncSync(fd);
  if (isSameContent(await readContent(target), before)) return isNew ? 'created' : 'changed';
  // Editors do not know the draft, and may have saved meanwhile.
  const reason = 'another program changed it meanwhile; run the command again';
  throw new Fatal(EXIT.cannotCreate, cannotWrite(path, reason));
}

interface Owner {
  readonly uid: number;
  readonly gid: number;
}

/** Writes a new file for `owner`; only root can give a file to another user. */
function writeFor(fd: number, bytes: Uint8Array, { uid, gid }: Owner): void {
  for (let done = 0; done < bytes.length;) done += fs.writeSync(fd, bytes, done);
  const own = fs.fstatSync(fd);
  if (own.uid === uid && own.gid === gid) return;
  try {
    fs.fchownSync(fd, uid, gid);
  } catch (error) {
    if (errnoOf(error) !== 'EPERM') throw error;
  }
}

async function openDraft(draft: string): Promise<number> {
  for (const untilMs = Date.now() + DRAFT_WAIT_MS; ; await sleep(DRAFT_POLL_MS)) {
    try {
      return fs.openSync(draft, 'wx', FILE_MODE);
    } catch (error) {
      if (errnoOf(error) !== 'EEXIST') throw error;
    }
    if (Date.now() > untilMs) {
      const name = `"${printable(draft, Infinity)}"`;
      const why = 'another edit is running, or was killed';
      throw new Fatal(EXIT.cannotCreate, `${name} exists: ${why}; if none is running, delete it`);
    }
  }
}

/** Returns where the file is or will be. A rename onto a symbolic link would replace the link. */
function realTarget(path: string): string {
  try {
    return fs.realpathSync(path);
  } catch (error) {
    if (errnoOf(error) !== 'ENOENT') throw error;
  }
  if (fs.lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() !== true) return path;
  const link = `"${printable(path, Infinity)}"`;
  throw new Fatal(EXIT.cannotCreate, `${link} is a symbolic link to a file that doesn't exist`);
}

function createDirectory(directory: string): void {
  const created = fs.mkdirSync(directory, { recursive: true, mode: 0o750 });
  // A service's umask is often 077, which would lock out the shipper's group.
  if (created !== undefined) fs.chmodSync(directory, 0o750);
}

function createSchema(directory: string): void {
  const path = `${directory}/projects.schema.json`;
  // Root must not write through a link.
  fs.rmSync(path, { force: true });
  const fd = fs.openSync(path, 'wx', FILE_MODE);
  try {
    const text = `${JSON.stringify(schema, null, 2)}\n`;
    writeFor(fd, Buffer.from(text), fs.statSync(directory));
  } finally {
    fs.closeSync(fd);
  }
}

/** Makes the new name durable. A file system that can't sync a directory does so by itself. */
function syncDirectory(directory: string): void {
  const fd = fs.openSync(directory, 'r');
  try {
    fs.fsyncSync(fd);
  } catch (error) {
    if (errnoOf(error) !== 'EINVAL') throw error;
  } finally {
    fs.closeSync(fd);
  }
}
