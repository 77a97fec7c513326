import * as fs from 'node:fs';
import * as path from 'node:path';
import { EXIT, Fatal } from '../base/exit.ts';

/** A directory, under a name short enough for the address of a socket in it. */
export interface SocketDir {
  pathOf(name: string): string;
  /** The paths end to be valid. */
  close(): void;
}

/** sun_path: 108 bytes on Linux, 104 elsewhere, its NUL among them. */
const ADDRESS_BYTES_MAX = process.platform === 'linux' ? 107 : 103;
const NAME_BYTES_MAX = 32;

/**
 * Node 20 cuts a longer address off, without an error, and so makes a socket of another name in
 * another directory; Deno refuses it.
 * @throws {Fatal} exit 73 where no name is short enough.
 */
export function socketDir(dir: string): SocketDir {
  // As it was given, where that will do: older Denos tell the working directory only where they
  // may read it.
  if (fits(dir)) return plain(dir);
  const absolute = path.resolve(dir);
  const relative = path.relative(process.cwd(), absolute) || '.';
  if (fits(relative)) return plain(relative);
  let fd: number | undefined;
  try {
    fd = fs.openSync(absolute, 'r');
    const alias = `/proc/self/fd/${fd}`;
    // Deno refuses to look there; other systems have no such directory.
    fs.statSync(alias);
    const opened = fd;
    return { pathOf: (name) => `${alias}/${name}`, close: () => fs.closeSync(opened) };
  } catch {
    if (fd !== undefined) fs.closeSync(fd);
    throw new Fatal(
      EXIT.cannotCreate,
      `Cannot lock "${dir}": a socket's path has at most ${ADDRESS_BYTES_MAX} bytes; ` +
        'start viewlog in that directory or near it, or choose a shorter --data',
    );
  }
}

const plain = (dir: string): SocketDir => ({ pathOf: (name) => `${dir}/${name}`, close() {} });

const fits = (dir: string): boolean =>
  Buffer.byteLength(dir) + 1 + NAME_BYTES_MAX <= ADDRESS_BYTES_MAX;
