import type { FileOps, OpenFlags } from './ops.ts';
import { giveOpenedToOwner, type Warn } from './owner.ts';

interface Guard {
  /** Resolves when the directory that its path names now is locked. */
  ensure(): Promise<void>;
  isInPlace(): boolean;
  /** Whether a file that is open may be written to without asking further. */
  mayWrite(): boolean;
  readonly warn: Warn;
}

const MAKING: ReadonlySet<OpenFlags> = new Set(['w', 'ax+', 'adx+']);

/**
 * File operations in a locked directory: none opens a file for writing, writes or renames while
 * the lock is not held. What root makes there is given to the directory's owner.
 */
export function guardedFiles(files: FileOps, guard: Guard): FileOps {
  return {
    ...files,
    async open(path, flags, mode) {
      if (flags === 'r') return files.open(path, flags, mode);
      await guard.ensure();
      const fd = await files.open(path, flags, mode);
      // The directory may have been replaced just now. Nothing was written yet.
      if (!guard.isInPlace()) {
        await files.close(fd).catch(() => {});
        throw new Error('its directory was replaced meanwhile');
      }
      if (MAKING.has(flags)) await giveOpenedToOwner(files, fd, path, guard.warn);
      return fd;
    },
    write(fd, bytes, offset, length) {
      if (guard.mayWrite()) return files.write(fd, bytes, offset, length);
      return guard.ensure().then(() => files.write(fd, bytes, offset, length));
    },
    async rename(from, to) {
      await guard.ensure();
      return files.rename(from, to);
    },
  };
}
