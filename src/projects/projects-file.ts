import { formatSize } from '../base/format.ts';
import { Buffer } from 'node:buffer';
import * as fs from 'node:fs';
import { errnoOf, reasonOf } from '../base/exit.ts';
import { openToRead } from '../disk/open-to-read.ts';
import { MiB } from '../base/size.ts';
import { printable } from '../base/text.ts';
import { type Faulty, parseProjectsFile, type Sound } from './parse.ts';

/** Some tens of thousands of projects; parsing them holds up the collector for a moment. */
export const FILE_BYTES_MAX = 4 * MiB;

/** `too large (5 MiB, over 4 MiB)`; undefined for a file that is not. */
export const excessOf = (bytes: number): string | undefined =>
  bytes <= FILE_BYTES_MAX
    ? undefined
    : `too large (${formatSize(bytes)}, over ${formatSize(FILE_BYTES_MAX)})`;

/** The file's content, or why there is none, in one line that names it. */
export type Content =
  | { readonly bytes: Uint8Array }
  | { readonly fault: string; readonly isMissing: boolean };

/**
 * Only opening the file waits for the disk in the background: once it is open, what is left is read
 * from memory, or of a file that has just been saved. In the background too, each of these calls
 * would cost several times what it does, for as long as the collector runs.
 */
export async function readContent(path: string): Promise<Content> {
  const name = printable(path, Infinity);
  const cannot = `Cannot read projects file "${name}"`;
  let fd: number | undefined;
  try {
    fd = await openToRead(path);
    const stats = fs.fstatSync(fd);
    if (!stats.isFile()) return { fault: `${cannot}: it is not a file`, isMissing: false };
    const excess = excessOf(stats.size);
    if (excess !== undefined) return { fault: `${cannot}: it is ${excess}`, isMissing: false };
    return { bytes: readAll(fd, stats.size) };
  } catch (error) {
    const isMissing = errnoOf(error) === 'ENOENT';
    const reason = isMissing
      ? `it does not exist; "viewlog activate ID --projects ${name}" makes it`
      : reasonOf(error);
    return { fault: `${cannot}: ${reason}`, isMissing };
  } finally {
    if (fd !== undefined) fs.closeSync(fd);
  }
}

/** Deno's `readFileSync` took a descriptor for a path once. */
function readAll(fd: number, size: number): Uint8Array {
  const bytes = Buffer.alloc(size);
  let end = 0;
  for (let read = -1; end < size && read !== 0; end += read) {
    read = fs.readSync(fd, bytes, end, size - end, null);
  }
  return bytes.subarray(0, end);
}

/** Whether two readings found the same. */
export function isSameContent(a: Content, b: Content | undefined): boolean {
  if (b === undefined) return false;
  if ('fault' in a || 'fault' in b) return 'fault' in a && 'fault' in b && a.fault === b.fault;
  return Buffer.compare(a.bytes, b.bytes) === 0;
}

/** Reads and checks the projects file. */
export async function readProjectsFile(path: string): Promise<Sound | Faulty> {
  const content = await readContent(path);
  if ('fault' in content) return { faults: [content.fault] };
  return parseProjectsFile(content.bytes, printable(path, Infinity));
}
