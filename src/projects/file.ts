import { readFile, stat } from 'node:fs/promises';
import { errnoOf, reasonOf } from '../fatal.ts';
import { formatSize } from '../settings.ts';
import { printable } from '../text.ts';
import { type Faulty, parseProjectsFile, type Sound } from './parse.ts';

/** Some tens of thousands of projects; parsing them holds up the collector for a moment. */
export const FILE_BYTES_MAX = 4 * 1024 * 1024;

/** The file's content, or why there is none, in one line that names it. */
export type Content = { readonly bytes: Uint8Array } | { readonly fault: string };

export async function readContent(path: string): Promise<Content> {
  const name = printable(path, Infinity);
  try {
    const stats = await stat(path);
    // Opening a named pipe would wait for its writer for ever.
    if (!stats.isFile()) return { fault: `Cannot read projects file "${name}": it is not a file` };
    const { size } = stats;
    if (size <= FILE_BYTES_MAX) return { bytes: await readFile(path) };
    const limit = `at most ${formatSize(FILE_BYTES_MAX)}`;
    return { fault: `Projects file "${name}" is too large: ${limit}, not ${formatSize(size)}` };
  } catch (error) {
    const reason =
      errnoOf(error) === 'ENOENT'
        ? 'it does not exist; "viewlog activate ID" makes it'
        : reasonOf(error);
    return { fault: `Cannot read projects file "${name}": ${reason}` };
  }
}

/** Reads and checks the projects file. */
export async function readProjectsFile(path: string): Promise<Sound | Faulty> {
  const content = await readContent(path);
  if ('fault' in content) return { faults: [content.fault] };
  return parseProjectsFile(content.bytes, printable(path, Infinity));
}
