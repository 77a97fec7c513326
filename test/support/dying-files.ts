import { systemFiles, type FileOps } from '../../src/disk/ops.ts';
import { ARCHIVE_RECORD } from '../../src/disk/names.ts';

export type Operation = Exclude<keyof FileOps, 'canDsync'>;

/** When the process dies: before or after an operation, or in the middle of a write. */
type Fate = 'before' | 'after' | { readonly bytes: number; readonly errno?: string } | undefined;

/** Files of a process that dies at a chosen operation. Later operations have no effect. */
export interface DyingFiles extends FileOps {
  /** Resolves when the process has died. */
  readonly died: Promise<void>;
  /** Returns the number of operations so far. */
  readonly count: () => number;
}

/**
 * @param fate called for each operation, with its number from 1, its name and the file's path.
 *   `bytes`: writes so many bytes, then dies or fails with `errno`.
 */
export function dyingFiles(
  fate: (number: number, operation: Operation, path: string) => Fate = () => undefined,
): DyingFiles {
  let count = 0;
  let isDead = false;
  let die!: () => void;
  const died = new Promise<void>((resolve) => (die = resolve));
  const paths = new Map<number, string>();
  const unsynced = new Set<string>();
  const never = (): Promise<never> => {
    isDead = true;
    die();
    return new Promise<never>(() => {});
  };

  async function enter<T>(
    operation: Operation,
    path: string,
    run: (bytesMax: number) => Promise<T>,
  ): Promise<T> {
    if (isDead) return never();
    const what = fate(++count, operation, path);
    if (what === 'before') return never();
    const bytesMax = typeof what === 'object' ? what.bytes : Infinity;
    if (typeof what === 'object' && bytesMax === 0 && what.errno !== undefined) {
      throw Object.assign(new Error(`${what.errno}: made up by the test`), { code: what.errno });
    }
    const result = await run(bytesMax);
    if (what === 'after' || (typeof what === 'object' && what.errno === undefined)) return never();
    return result;
  }

  return {
    ...systemFiles,
    // A write and a sync are two operations.
    canDsync: false,
    died,
    count: () => count,
    open: (path, flags, mode) =>
      enter('open', path, async () => {
        const fd = await systemFiles.open(path, flags, mode);
        paths.set(fd, path);
        return fd;
      }),
    write: (fd, bytes, offset, length) =>
      enter('write', paths.get(fd)!, (max) => {
        unsynced.add(paths.get(fd)!);
        return systemFiles.write(fd, bytes, offset, Math.min(length, max));
      }),
    read: (fd, bytes, position) =>
      enter('read', paths.get(fd)!, () => systemFiles.read(fd, bytes, position)),
    fdatasync: (fd) =>
      enter('fdatasync', paths.get(fd)!, () => {
        unsynced.delete(paths.get(fd)!);
        return systemFiles.fdatasync(fd);
      }),
    rename: (from, to) =>
      enter('rename', to, () => {
        const lines = [...unsynced].filter((path) => path.endsWith('.ndjson'));
        if (to.endsWith(ARCHIVE_RECORD) && lines.length > 0) {
          throw new Error(`recorded before ${lines.join(', ')} was synced`);
        }
        return systemFiles.rename(from, to);
      }),
  };
}
