import * as fs from 'node:fs';
import { type FileOps, systemFiles } from '../../src/disk/ops.ts';

/** The fault of one operation. With `wait` it succeeds, but ends only when that resolves. */
export type Fault = { readonly errno: string } | { readonly wait: () => Promise<void> } | undefined;

export type Operation = Exclude<keyof FileOps, 'canDsync'>;

function errnoError(errno: string, operation: string): Error {
  return Object.assign(new Error(`${errno}: made up by the test, ${operation}`), { code: errno });
}

/**
 * Real files with faults and a limit of space, for tests of single faults and their messages.
 * `test/simulation` has the disk that tries every fault.
 */
export class FaultyDisk {
  /** Bytes until ENOSPC. */
  spaceBytes = Number.POSITIVE_INFINITY;
  /** Called before an operation on a path, which waits for the fault. */
  fault: (operation: Operation, path: string) => Fault | Promise<Fault> = () => undefined;

  files(): FileOps {
    const paths = new Map<number, string>();
    const around = <A extends [string | number, ...unknown[]], R>(
      operation: Operation,
      run: (...args: A) => Promise<R>,
    ): ((...args: A) => Promise<R>) => {
      return async (...args) => {
        const [on] = args;
        const fault = await this.fault(operation, typeof on === 'string' ? on : paths.get(on)!);
        if (fault !== undefined && 'errno' in fault) throw errnoError(fault.errno, operation);
        const result = await run(...args);
        await fault?.wait();
        return result;
      };
    };
    const write: FileOps['write'] = async (fd, bytes, offset, length) => {
      const count = Math.min(length, this.spaceBytes);
      if (count === 0 && length > 0) throw errnoError('ENOSPC', 'write');
      this.spaceBytes -= count;
      return systemFiles.write(fd, bytes, offset, count);
    };
    return {
      ...systemFiles,
      canDsync: false,
      open: around('open', async (...args: Parameters<FileOps['open']>) => {
        const fd = await systemFiles.open(...args);
        paths.set(fd, args[0]);
        return fd;
      }),
      write: around('write', write),
      fdatasync: around('fdatasync', (fd: number) => systemFiles.fdatasync(fd)),
      rename: around('rename', (from: string, to: string) => systemFiles.rename(from, to)),
      fsync: around('fsync', (fd: number) => systemFiles.fsync(fd)),
      stat: around('stat', async (path: string) => fs.statSync(path)),
      freeBytes: around('freeBytes', async (dir: string) =>
        Number.isFinite(this.spaceBytes) ? this.spaceBytes : systemFiles.freeBytes(dir),
      ),
    };
  }
}
