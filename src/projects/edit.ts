import { chmod, chown, lstat, open, realpath, rename, rm, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import schema from '../../data/projects.schema.json' with { type: 'json' };
import { errnoOf, EXIT, Fatal, reasonOf } from '../base/exit.ts';
import { makeDirectory } from '../disk/directory.ts';
import { systemFiles } from '../disk/ops.ts';
import { giveOpenFileToOwnerOf, type Warn } from '../disk/owner.ts';
import { syncDirectory } from '../disk/sync.ts';
import { printable } from '../base/text.ts';
import { excessOf, isSameContent, readContent } from './projects-file.ts';
import { parseProjectsFile, type Sound } from './parse.ts';

// Edits of the projects file. The new text is written to `projects.json.lock`, which only one
// edit can create, and takes the file's place by a rename: whenever an edit is cut short, the file
// is the old one or the new one, and of two edits at once neither undoes the other's.

/** An edit takes milliseconds; a lock this old was left behind by one that was killed. */
const LOCK_AGE_MAX_MS = 10_000;
const LOCK_POLL_MS = 20;

const EMPTY = '{\n  "$schema": "./projects.schema.json",\n  "projects": []\n}\n';
const FILE_MODE = 0o640;

/** Written to; older Denos' has no other method, so the rest is asked of its descriptor. */
type Handle = Awaited<ReturnType<typeof open>>;

/** What became of the file. */
export type Edited = 'created' | 'changed' | 'unchanged';

interface EditOptions {
  readonly path: string;
  /** Whether a missing file is made, with its schema and its directory. */
  readonly canCreate: boolean;
  /** @returns the new text of a sound file. */
  readonly change: (text: string, file: Sound['file']) => string;
  /** Told of what is not as it should be, and keeps the edit from nothing. */
  readonly warn: Warn;
}

/**
 * Changes the projects file, through symbolic links, keeping its mode and owner.
 * @throws {Fatal} exit 78 with every fault of a faulty file, 73 or 74 where it can't be written, or
 *   would be larger than what a collector reads.
 */
export async function editProjectsFile(options: EditOptions): Promise<Edited> {
  const { path, canCreate, warn } = options;
  const content = await readContent(path);
  const isMissing = 'fault' in content && content.isMissing;
  if ('fault' in content && !(isMissing && canCreate)) {
    throw new Fatal(EXIT.badConfiguration, content.fault);
  }
  try {
    if (isMissing) makeDirectory(dirname(path), warn);
    const target = await realTarget(path);
    for (;;) {
      const edited = await editOnce(target, options);
      if (edited !== 'interrupted') return edited;
    }
  } catch (error) {
    if (error instanceof Fatal) throw error;
    const isIo = ['EIO', 'ENOSPC', 'EDQUOT'].includes(errnoOf(error) ?? '');
    const message = `Cannot write projects file "${printable(path, Infinity)}": ${reasonOf(error)}`;
    throw new Fatal(isIo ? EXIT.ioError : EXIT.cannotCreate, message);
  }
}

/** One attempt, under the lock; `interrupted` where somebody else took the lock or saved the file. */
async function editOnce(
  target: string,
  { path, canCreate, change, warn }: EditOptions,
): Promise<Edited | 'interrupted'> {
  const lock = `${target}.lock`;
  const handle = await openLock(lock);
  let isHeld = true;
  try {
    // Root's too, so that what a kill -9 leaves is nobody else's.
    giveOpenFileToOwnerOf(dirname(target), lock, handle.fd, warn);
    const before = await readContent(target);
    const isNew = 'fault' in before && before.isMissing && canCreate;
    if ('fault' in before && !isNew) throw new Fatal(EXIT.badConfiguration, before.fault);
    const bytes = 'bytes' in before ? before.bytes : new TextEncoder().encode(EMPTY);
    const { bom, text, file } = sound(bytes, path);
    const changed = change(text, file);
    if (changed === text) return 'unchanged';
    const after = new TextEncoder().encode(bom + changed);
    sound(after, path);
    const excess = excessOf(after.length);
    if (excess !== undefined) {
      const name = `"${printable(path, Infinity)}"`;
      throw new Fatal(
        EXIT.cannotCreate,
        `Cannot write projects file ${name}: it would be ${excess}`,
      );
    }
    if (isNew) await writeSchema(target, warn);
    await handle.writeFile(after);
    if (!isNew) await keepOwnerAndMode(lock, target);
    await systemFiles.fsync(handle.fd);
    isHeld = await isSameFile(lock, handle);
    // An editor heeds no lock.
    if (!isHeld || !isSameContent(await readContent(target), before)) return 'interrupted';
    await rename(lock, target);
    isHeld = false;
    await syncDirectory(systemFiles, dirname(target));
    return isNew ? 'created' : 'changed';
  } finally {
    await handle.close();
    if (isHeld) await rm(lock, { force: true });
  }
}

function sound(bytes: Uint8Array, path: string): Sound {
  const parsed = parseProjectsFile(bytes, printable(path, Infinity));
  if ('faults' in parsed) throw new Fatal(EXIT.badConfiguration, parsed.faults.join('\n'));
  return parsed;
}

async function isSameFile(path: string, handle: Handle): Promise<boolean> {
  const { ino } = await systemFiles.fstat(handle.fd);
  return stat(path).then(
    (named) => named.ino === ino,
    () => false,
  );
}

async function openLock(lock: string): Promise<Handle> {
  for (;;) {
    try {
      return await open(lock, 'wx', FILE_MODE);
    } catch (error) {
      if (errnoOf(error) !== 'EEXIST') throw error;
    }
    try {
      const ageMs = Date.now() - (await stat(lock)).mtimeMs;
      if (Math.abs(ageMs) > LOCK_AGE_MAX_MS) await rm(lock, { force: true });
    } catch (error) {
      if (errnoOf(error) !== 'ENOENT') throw error;
    }
    await sleep(LOCK_POLL_MS);
  }
}

async function keepOwnerAndMode(lock: string, target: string): Promise<void> {
  const model = await stat(target);
  const own = await stat(lock);
  if (own.uid !== model.uid || own.gid !== model.gid) {
    try {
      await chown(lock, model.uid, model.gid);
    } catch (error) {
      if (errnoOf(error) !== 'EPERM') throw error;
    }
  }
  // After the owner, whose change clears bits of the mode.
  await chmod(lock, model.mode & 0o7777);
}

/** Where the file is, or will be; a rename onto a symbolic link would replace the link. */
async function realTarget(path: string): Promise<string> {
  try {
    return await realpath(path);
  } catch (error) {
    if (errnoOf(error) !== 'ENOENT') throw error;
  }
  // Not merely there: another edit may have made the file since.
  const isLink = await lstat(path).then(
    (stats) => stats.isSymbolicLink(),
    () => false,
  );
  if (!isLink) return path;
  const link = `"${printable(path, Infinity)}"`;
  throw new Fatal(EXIT.cannotCreate, `${link} is a symbolic link to a file that does not exist`);
}

async function writeSchema(target: string, warn: Warn): Promise<void> {
  const path = `${dirname(target)}/projects.schema.json`;
  // Not through a link: root must not write where it leads to.
  await rm(path, { force: true });
  const handle = await open(path, 'wx', FILE_MODE);
  try {
    giveOpenFileToOwnerOf(dirname(path), path, handle.fd, warn);
    await handle.writeFile(`${JSON.stringify(schema, null, 2)}\n`);
  } finally {
    await handle.close();
  }
}
