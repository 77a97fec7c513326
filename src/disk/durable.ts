// Writes that are durable once they resolve.
import { dirname } from 'node:path';
import { EXIT, errnoOf, Fatal, errorText } from '../base/exit.ts';
import type { FileOps } from './ops.ts';

/** A file system that is busy this many times in a row counts as full. */
const BUSY_MAX = 100;

/**
 * Writes all of `bytes`. Short writes are ordinary, and EINTR and EAGAIN are retried. A file system
 * that accepts no bytes counts as full.
 * @param onError gets an error and the number of bytes written before it. It may throw.
 */
export async function writeAll(
  files: FileOps,
  fd: number,
  bytes: Uint8Array,
  onError?: (error: unknown, written: number) => Promise<void>,
): Promise<{ written: number; error?: unknown }> {
  let written = 0;
  let busy = 0;
  while (written < bytes.length) {
    try {
      const count = await files.write(fd, bytes, written, bytes.length - written);
      written += count;
      busy = count === 0 ? BUSY_MAX : 0;
    } catch (error) {
      await onError?.(error, written);
      if (!['EINTR', 'EAGAIN'].includes(errnoOf(error) ?? '')) return { written, error };
      busy += 1;
    }
    if (busy >= BUSY_MAX) return { written, error: nothingWritten() };
  }
  return { written };
}

/** The code makes callers retry later, as on a full disk. */
const nothingWritten = (): Error =>
  Object.assign(new Error('ENOSPC: the file system accepted no bytes, write'), { code: 'ENOSPC' });

/**
 * A failed sync is never retried, because no later sync reports what it lost.
 * @throws {Fatal} exit 74 with the file's name if the sync fails, whatever the error.
 */
export const synced = (path: string, sync: Promise<void>): Promise<void> =>
  sync.catch((error: unknown) => {
    throw cannotSync(path, error);
  });

export const cannotSync = (path: string, error: unknown): Fatal =>
  new Fatal(EXIT.ioError, `Can't sync "${path}": ${errorText(error)}; check the disk`);

/** Makes the names in a directory durable. File systems that answer EINVAL need no such sync. */
export async function syncDirectory(files: FileOps, dir: string): Promise<void> {
  const fd = await files.open(dir, 'r');
  try {
    await files.fsync(fd).catch((error: unknown) => {
      if (errnoOf(error) !== 'EINVAL') throw cannotSync(dir, error);
    });
  } finally {
    // Not awaited, because a disk that hangs must not delay an error.
    void files.close(fd).catch(() => {});
  }
}

/**
 * Replaces a file's text. A reader finds either the whole old text or the whole new text, even
 * after a power cut. Once the promise resolves, a reader finds the new text.
 * @throws {Fatal} exit 74 if a sync fails; else the system's error, and the file is unchanged.
 */
export async function replaceFile(
  files: FileOps,
  path: string,
  text: string | Generator<string>,
): Promise<void> {
  const draft = `${path}.new`;
  const fd = await files.open(draft, 'w', 0o640);
  try {
    for (const part of typeof text === 'string' ? [text] : text) {
      const { error } = await writeAll(files, fd, Buffer.from(part));
      if (error !== undefined) throw error;
    }
    await synced(draft, files.fdatasync(fd));
  } finally {
    await files.close(fd).catch(() => {});
  }
  await files.rename(draft, path);
  await syncDirectory(files, dirname(path));
}
