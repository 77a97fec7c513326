import { type FileOps, systemFiles } from '../../src/disk/ops.ts';

type Operation = 'open' | 'write' | 'fdatasync' | 'fsync';
type Fault = { readonly errno: string } | undefined;

function errnoError(errno: string, operation: string): Error {
  return Object.assign(new Error(`${errno}: injected by the test, ${operation}`), { code: errno });
}

/**
 * Real files with faults and a limit of space, for tests of single faults and their messages.
 * `test/simulation` has the disk that tries every fault.
 */
export class FaultyDisk {
  /** The number of bytes until writes fail with ENOSPC. */
  spaceBytes = Number.POSITIVE_INFINITY;
  /** Called before each operation on a path. The operation waits for the result. */
  fault: (operation: Operation, path: string) => Fault | Promise<Fault> = () => undefined;

  files(): FileOps {
    const paths = new Map<number, string>();
    const strike = async (operation: Operation, path: string): Promise<void> => {
      const fault = await this.fault(operation, path);
      if (fault !== undefined) throw errnoError(fault.errno, operation);
    };
    return {
      ...systemFiles,
      canDsync: false,
      open: async (path, ...options) => {
        await strike('open', path);
        const fd = await systemFiles.open(path, ...options);
        paths.set(fd, path);
        return fd;
      },
      write: async (fd, bytes, offset, length) => {
        await strike('write', paths.get(fd)!);
        const count = Math.min(length, this.spaceBytes);
        if (count === 0 && length > 0) throw errnoError('ENOSPC', 'write');
        this.spaceBytes -= count;
        return systemFiles.write(fd, bytes, offset, count);
      },
      fdatasync: (fd) => strike('fdatasync', paths.get(fd)!).then(() => systemFiles.fdatasync(fd)),
      fsync: (fd) => strike('fsync', paths.get(fd)!).then(() => systemFiles.fsync(fd)),
      freeBytes: async (dir) =>
        Number.isFinite(this.spaceBytes) ? this.spaceBytes : systemFiles.freeBytes(dir),
    };
  }
}
