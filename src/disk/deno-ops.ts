import type { FileOps, FileStat } from './ops.ts';

/** The part of Deno's file API that viewlog uses. */
interface DenoFile {
  write(bytes: Uint8Array): Promise<number>;
  read(bytes: Uint8Array): Promise<number | null>;
  seek(offset: number, whence: 0): Promise<number>;
  stat(): Promise<Omit<FileStat, 'isFile'> & { readonly isFile: boolean }>;
  sync(): Promise<void>;
  syncData(): Promise<void>;
  close(): void;
}

export interface DenoFiles {
  open(path: string, options: object): Promise<DenoFile>;
}

const OPENINGS = {
  r: { read: true },
  w: { create: true, write: true, truncate: true },
  a: { create: true, read: true, append: true },
};

/**
 * File operations on files that Deno's own API opened. Deno's node:fs (2.9) writes on the main
 * thread, where a disk that hangs stops everything. It also continues after a short write, so on a
 * full disk viewlog would miss that part of a line is in the file, and write it twice.
 * @param others performs the other operations.
 */
export function denoFiles(deno: DenoFiles, others: FileOps): FileOps {
  const files = new Map<number, DenoFile>();
  let last = 0;
  return {
    ...others,
    canDsync: false, // Deno's `open` accepts none of the system's flags
    async open(path, flags, mode = 0o666) {
      const opening = OPENINGS[flags === 'ad' ? 'a' : flags];
      const file = await deno.open(path, flags === 'r' ? opening : { ...opening, mode });
      last += 1;
      files.set(last, file);
      return last;
    },
    write: (fd, bytes, offset, length) =>
      files.get(fd)!.write(bytes.subarray(offset, offset + length)),
    async read(fd, bytes, position) {
      const file = files.get(fd)!;
      await file.seek(position, 0);
      return (await file.read(bytes)) ?? 0;
    },
    fdatasync: (fd) => files.get(fd)!.syncData(),
    fsync: (fd) => files.get(fd)!.sync(),
    async fstat(fd) {
      const { dev, ino, size, isFile } = await files.get(fd)!.stat();
      return { dev, ino, size, isFile: () => isFile };
    },
    async close(fd) {
      files.get(fd)!.close();
      files.delete(fd);
    },
  };
}
