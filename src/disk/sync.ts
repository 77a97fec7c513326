import { EXIT, errnoOf, Fatal, reasonOf } from '../base/exit.ts';
import type { FileOps } from './ops.ts';

/** Makes the names in a directory durable. File systems that answer EINVAL need no such sync. */
export async function syncDirectory(files: FileOps, dir: string): Promise<void> {
  const fd = await files.open(dir, 'r');
  try {
    await files.fsync(fd).catch((error: unknown) => {
      if (errnoOf(error) !== 'EINVAL') throw cannotSync(dir, error);
    });
  } finally {
    // Not awaited: a disk that hangs must not hold an error up.
    void files.close(fd).catch(() => {});
  }
}

/** @throws {Fatal} exit 74 with the file's name if the sync fails, whatever the error. */
export const synced = (path: string, sync: Promise<void>): Promise<void> =>
  sync.catch((error: unknown) => {
    throw cannotSync(path, error);
  });

export const cannotSync = (path: string, error: unknown): Fatal =>
  new Fatal(
    EXIT.ioError,
    `Cannot sync "${path}": ${reasonOf(error)}; check the disk, then start viewlog again`,
  );
