import { type FileOps, systemFiles } from '../../src/disk/ops.ts';
import type { Random } from '../simulation/random.ts';

/** A process, and the number of its file operations before it is killed. */
export interface Life {
  isDead: boolean;
  opsLeft: number;
}

/**
 * No test here cuts the power, so these operations sync nothing: hundreds of syncs would take
 * minutes.
 */
export const unsyncedFiles: FileOps = {
  ...systemFiles,
  fsync: async () => {},
  fdatasync: async () => {},
};

/**
 * Returns the file operations of a process that `kill -9` ends before, during or after one of them.
 */
export function mortalFiles(run: Life, random: Random): FileOps {
  const until =
    <A extends unknown[], R>(call: (...args: A) => Promise<R>, half?: (...args: A) => Promise<R>) =>
    async (...args: A): Promise<R> => {
      if (!run.isDead && run.opsLeft-- > 0) return call(...args);
      if (!run.isDead && random.chance(0.6))
        await (half && random.chance(0.5) ? half : call)(...args);
      run.isDead = true;
      throw new Error('killed');
    };
  return {
    ...unsyncedFiles,
    open: until((path, flags, mode) => unsyncedFiles.open(path, flags, mode)),
    fsync: until((fd) => unsyncedFiles.fsync(fd)),
    fdatasync: until((fd) => unsyncedFiles.fdatasync(fd)),
    write: until(
      (...args) => unsyncedFiles.write(...args),
      (fd, bytes, offset, length) => unsyncedFiles.write(fd, bytes, offset, random.below(length)),
    ),
  };
}
