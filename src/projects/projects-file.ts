import { readFile, stat } from 'node:fs/promises';
import { errnoOf, EXIT, Fatal, reasonOf } from '../base/exit.ts';
import { formatSize } from '../base/format.ts';
import { MiB } from '../base/size.ts';
import { printable, shellQuoted } from '../base/text.ts';
import { type Faulty, parseProjectsFile, type Sound } from './parse.ts';

/** Enough for some tens of thousands of projects. Parsing them delays views for a moment. */
export const FILE_BYTES_MAX = 4 * MiB;

/** The file's bytes, or why it cannot be read, as a line that names it; `undefined`: no file. */
export type Content = Uint8Array | string | undefined;

/** Reads the file without holding up the event loop, however long the file system takes. */
export async function readContent(path: string): Promise<Content> {
  try {
    // Checks the type first, because reading a named pipe would wait for its writer.
    const stats = await stat(path);
    if (!stats.isFile()) return cannotRead(path, "it isn't a regular file");
    if (stats.size <= FILE_BYTES_MAX) return await readFile(path);
    const [size, max] = [stats.size, FILE_BYTES_MAX].map(formatSize);
    return cannotRead(path, `it is too large (${size}, over ${max})`);
  } catch (error) {
    return errnoOf(error) === 'ENOENT' ? undefined : cannotRead(path, causeOf(error));
  }
}

/** Returns why a file cannot be read or written, and what to do. */
export const causeOf = (error: unknown): string =>
  errnoOf(error) === 'EACCES'
    ? "permission denied; run viewlog as the file's owner"
    : reasonOf(error);

const cannotRead = (path: string, reason: string): string =>
  `Cannot read projects file "${printable(path, Infinity)}": ${reason}`;

/** The file was there, and is not any more. */
export const removedFault = (path: string): string =>
  cannotRead(path, "it doesn't exist any more; restore it, with every project");

/** Returns whether two readings found the same. */
export const isSameContent = (a: Content, b: Content): boolean =>
  typeof a === 'object' && typeof b === 'object' ? Buffer.compare(a, b) === 0 : a === b;

/** Checks what was read; a missing file is a fault, too. */
export function parseContent(content: Content, path: string): Sound | Faulty {
  const name = printable(path, Infinity);
  if (typeof content === 'object') return parseProjectsFile(content, name);
  const create = `it doesn't exist; create it: viewlog activate ID --projects ${shellQuoted(name)}`;
  return { faults: [content ?? cannotRead(path, create)] };
}

/** Reads and checks the projects file. */
export const readProjectsFile = async (path: string): Promise<Sound | Faulty> =>
  parseContent(await readContent(path), path);

/** @throws {Fatal} exit 78 with every fault. */
export function soundOrFatal(reading: Sound | Faulty): Sound {
  if ('file' in reading) return reading;
  throw new Fatal(EXIT.badConfiguration, reading.faults.join('\n'));
}
