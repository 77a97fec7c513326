import { Buffer } from 'node:buffer';
import { KiB } from '../base/size.ts';
import { NEWLINE } from '../base/text.ts';
import { openToRead } from './open-to-read.ts';
import { type FileStat, systemFiles } from './ops.ts';

const CHUNK_BYTES = 64 * KiB;

/** A file, and how much of it is meant. */
export interface FilePart extends Pick<FileStat, 'dev' | 'ino' | 'size'> {
  readonly path: string;
}

/** Lines that follow each other in a file. */
interface Lines {
  /** The newest last, without their newlines. */
  readonly lines: readonly string[];
  /** That were read for them. */
  readonly bytes: number;
}

/**
 * The lines of the first so many bytes of a file, some at a time, the newest first; in constant
 * memory. A last line without its newline is left out, and any of `lineBytesMax` or more.
 * @param encoding with `latin1` a character stands for a byte.
 * @returns none where another file, or no regular one, is at the path.
 * @throws the system's error.
 */
export async function* readBackwards(
  { path, dev, ino, size }: FilePart,
  encoding: 'utf8' | 'latin1',
  lineBytesMax: number,
): AsyncGenerator<Lines> {
  const fd = await openToRead(path);
  try {
    const found = await systemFiles.fstat(fd);
    if (!found.isFile() || found.dev !== dev || found.ino !== ino) return;
    // A line whose beginning is further up, its newline included.
    let end: Buffer = Buffer.alloc(0);
    for (let at = Math.min(size, found.size); at > 0;) {
      const start = Math.max(0, at - CHUNK_BYTES);
      const chunk = await readAll(fd, start, at - start);
      if (chunk === undefined) return;
      at = start;
      const newline = chunk.indexOf(NEWLINE);
      if (start > 0 && newline < 0) {
        // What is too long already stays so.
        if (end.length <= lineBytesMax) end = Buffer.concat([chunk, end]);
        yield { lines: [], bytes: chunk.length };
        continue;
      }
      const text = Buffer.concat([chunk, end]);
      const whole = start === 0 ? 0 : newline + 1;
      end = text.subarray(0, whole);
      const lines = text.subarray(whole).toString(encoding).split('\n').slice(0, -1);
      yield { lines: lines.filter(({ length }) => length < lineBytesMax), bytes: chunk.length };
    }
  } finally {
    await systemFiles.close(fd).catch(() => {});
  }
}

/** `undefined` where the file has been cut short meanwhile. */
async function readAll(fd: number, start: number, length: number): Promise<Buffer | undefined> {
  const bytes = Buffer.alloc(length);
  for (let filled = 0; filled < length;) {
    const read = await systemFiles.read(fd, bytes.subarray(filled), start + filled);
    if (read === 0) return undefined;
    filled += read;
  }
  return bytes;
}
