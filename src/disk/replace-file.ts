import { dirname } from 'node:path';
import { writeAll } from './daily-file.ts';
import { type FileOps, ifPresent } from './ops.ts';
import { syncDirectory, synced } from './sync.ts';

/**
 * Replaces a file's text. A reader finds the whole old text or the whole new one, also after a power
 * cut; once this resolves, the new one.
 * @throws {Fatal} exit 74 if a sync fails; else the system's error, and the file is as it was.
 */
export async function replaceFile(files: FileOps, path: string, text: string): Promise<void> {
  const draft = `${path}.new`;
  // Opening a FIFO waits for a reader.
  if ((await ifPresent(files.stat(draft)))?.isFile() === false) {
    throw new Error(`"${draft}" isn't a regular file; move it away`);
  }
  const fd = await files.open(draft, 'w', 0o640);
  try {
    // Services often run with umask 077. A file system without modes refuses this call.
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
