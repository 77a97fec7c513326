import { dirname } from 'node:path';
import { statIfThere, writeAll } from './daily-file.ts';
import type { FileOps } from './ops.ts';
import { syncDirectory, synced } from './sync.ts';

/**
 * Puts a text in the place of a file: whoever reads it, after a power cut too, finds the old text
 * or the new one, whole. When it resolves, the new one is there to stay.
 * @throws {Fatal} exit 74 if a sync fails; else the system's error, and the old text stands.
 */
export async function replaceFile(files: FileOps, path: string, text: string): Promise<void> {
  const draft = `${path}.new`;
  // Opening a FIFO would wait for its reader.
  if ((await statIfThere(files, draft))?.isFile() === false) {
    throw new Error(`"${draft}" is in the way, and no regular file; move it away`);
  }
  const fd = await files.open(draft, 'w', 0o640);
  try {
    // A service's umask is often 077; a file system without modes refuses.
    await files.fchmod(fd, 0o640).catch(() => {});
    const { error } = await writeAll(files, fd, Buffer.from(text));
    if (error !== undefined) throw error;
    await synced(draft, files.fdatasync(fd));
  } finally {
    await files.close(fd).catch(() => {});
  }
  await files.rename(draft, path);
  await syncDirectory(files, dirname(path));
}
