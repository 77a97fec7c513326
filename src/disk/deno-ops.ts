import type { FileOps, FileStat } from './ops.ts';

/** What is used of Deno's own files. */
interface DenoFile {
  write(bytes: Uint8Array): Promise<number>;
  read(bytes: Uint8Array): Promise<number | null>;
  seek(offset: number, whence: 0): Promise<number>;
  stat(): Promise<DenoStat>;
  sync(): Promise<void>;
  syncData(): Promise<void>;
  close(): void;
}

type DenoStat = Omit<FileStat, 'isFile'> & { readonly isFile: boolean };

type DenoOpening =
  | { read: true; append: true; createNew: boolean }
  | { write: true; truncate: true };

export interface DenoFiles {
  open(path: string, options: DenoOpening & { create: true; mode: number }): Promise<DenoFile>;
  chmod(path: string, mode: number): Promise<void>;
  stat(path: string): Promise<DenoStat>;
}

/**
 * Files open for writing, as Deno has them itself. Its node:fs (2.9) writes on the main thread,
 * where a disk that hangs stops everything; and goes on after a short write, so that on a full
 * disk half a line would be taken for none, and written twice.
 * @param others what does the rest: directories, free space.
 */
export function denoFiles(deno: DenoFiles, others: FileOps): FileOps {
  const opened = new Map<number, { readonly file: DenoFile; readonly path: string }>();
  // Below 0, where no descriptor is.
  let last = 0;
  const fileOf = (fd: number): DenoFile | undefined => opened.get(fd)?.file;

  return {
    ...others,
    canDsync: false, // Deno takes no flags of the system's
    async open(path, flags, mode = 0o666) {
      if (flags === 'r') return others.open(path, flags, mode);
      const opening: DenoOpening =
        flags === 'w'
          ? { write: true, truncate: true }
          : { read: true, append: true, createNew: flags.includes('x') };
      const file = await deno.open(path, { ...opening, create: true, mode });
      last -= 1;
      opened.set(last, { file, path });
      return last;
    },
    write(fd, bytes, offset, length) {
      const file = fileOf(fd);
      if (file === undefined) return others.write(fd, bytes, offset, length);
      return file.write(bytes.subarray(offset, offset + length));
    },
    async read(fd, bytes, position) {
      const file = fileOf(fd);
      if (file === undefined) return others.read(fd, bytes, position);
      await file.seek(position, 0);
      return (await file.read(bytes)) ?? 0;
    },
    fdatasync: (fd) => fileOf(fd)?.syncData() ?? others.fdatasync(fd),
    fsync: (fd) => fileOf(fd)?.sync() ?? others.fsync(fd),
    fchmod(fd, mode) {
      const path = opened.get(fd)?.path;
      return path === undefined ? others.fchmod(fd, mode) : deno.chmod(path, mode);
    },
    async fstat(fd) {
      const file = fileOf(fd);
      return file === undefined ? others.fstat(fd) : statOf(await file.stat());
    },
    stat: async (path) => statOf(await deno.stat(path)),
    async close(fd) {
      const file = fileOf(fd);
      if (file === undefined) return others.close(fd);
      opened.delete(fd);
      file.close();
    },
  };
}

const statOf = ({ dev, ino, size, uid, gid, isFile }: DenoStat): FileStat => ({
  dev,
  ino,
  size,
  uid,
  gid,
  isFile: () => isFile,
});
