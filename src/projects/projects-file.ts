import { Buffer } from 'node:buffer';
import { readFile, stat } from 'node:fs/promises';
import { errnoOf, EXIT, Fatal, reasonOf } from '../base/exit.ts';
import { formatSize } from '../base/format.ts';
import { MiB } from '../base/size.ts';
import { printable, shellQuoted } from '../base/text.ts';
import { type Faulty, parseProjectsFile, type Sound } from './parse.ts';

/** Enough for some tens of thousands of projects. Parsing them delays views for a moment. */
export const FILE_BYTES_MAX = 4 * MiB;

/** Returns `too large (5 MiB, over 4 MiB)`, or `undefined` for a file that isn't. */
export const excessOf = (bytes: number): string | undefined =>
  bytes <= FILE_BYTES_MAX
    ? undefined
    : `too large (${formatSize(bytes)}, over ${formatSize(FILE_BYTES_MAX)})`;

/** The file's content, or why there is none, in one line that names the file. */
export type Content =
  | { readonly bytes: Uint8Array }
  | { readonly fault: string; readonly isMissing: boolean };

/** Reads the file without holding up the event loop, however long the file system takes. */
export async function readContent(path: string): Promise<Content> {
  const name = printable(path, Infinity);
  const cannot = (reason: string, isMissing = false) => ({
    fault: `Cannot read projects file "${name}": ${reason}`,
    isMissing,
  });
  try {
    // Checks the type first, because reading a named pipe would wait for its writer.
    const stats = await stat(path);
    if (!stats.isFile()) return cannot("it isn't a regular file");
    const excess = excessOf(stats.size);
    if (excess !== undefined) return cannot(`it is ${excess}`);
    return { bytes: await readFile(path) };
  } catch (error) {
    if (errnoOf(error) !== 'ENOENT') return cannot(reasonOf(error));
    return cannot(
      `it doesn't exist; create it: viewlog activate ID --projects ${shellQuoted(name)}`,
      true,
    );
  }
}

/** Returns whether two readings found the same. */
export function isSameContent(a: Content, b: Content | undefined): boolean {
  if (b === undefined) return false;
  if ('fault' in a || 'fault' in b) return 'fault' in a && 'fault' in b && a.fault === b.fault;
  return Buffer.compare(a.bytes, b.bytes) === 0;
}

/** Reads and checks the projects file. */
export async function readProjectsFile(path: string): Promise<Sound | Faulty> {
  return parseContent(await readContent(path), path);
}

export function parseContent(content: Content, path: string): Sound | Faulty {
  if ('fault' in content) return { faults: [content.fault], ids: new Set() };
  return parseProjectsFile(content.bytes, printable(path, Infinity));
}

/** @throws {Fatal} exit 78 with every fault. */
export function soundOrFatal(reading: Sound | Faulty): Sound {
  if ('file' in reading) return reading;
  throw new Fatal(EXIT.badConfiguration, reading.faults.join('\n'));
}
