import { isUtf8 } from 'node:buffer';
import * as fs from 'node:fs';
import { pipeline, type Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { EXIT, errnoOf, Fatal, errorText } from '../base/exit.ts';
import { formatSize, KiB, MiB } from '../base/format.ts';
import { NEWLINE, printable, shellQuoted } from '../base/text.ts';

/**
 * Some lines of a file, in order. A file is read block by block, in constant memory. Lines are
 * slices of their block's text: retain only copies of them (`copyOf`).
 */
export type Block = ReturnType<typeof blockOf>;

/** Longer than any stored line. A refused view of 1 MiB can take twice that: quotes are escaped. */
export const READ_LINE_BYTES_MAX = 4 * MiB;
const CHUNK_BYTES = 64 * KiB;
const NONE: ReadonlySet<number> = new Set();

/**
 * Yields the lines of a file, of a decompressed `.gz` file, or of stdin (`-`).
 * @param encoding `latin1` gives one character per byte and is twice as fast as UTF-8.
 * @throws {Fatal} exit 74 if the file can't be read, 65 if it can't be decompressed or has a line
 *   that is far too long.
 */
export async function* readBlocks(
  path: string,
  encoding: 'utf8' | 'latin1' = 'utf8',
): AsyncGenerator<Block> {
  if (path.endsWith('.zst')) {
    const what = `Can't read "${path}": it is compressed with zstd`;
    throw new Fatal(EXIT.badData, `${what}; run: zstd -d --rm ${shellQuoted(path)}`);
  }
  // The start of a line whose end is still to come, in pieces: a long line is joined only once.
  let pieces: Buffer[] = [];
  let pieceBytes = 0;
  for await (const chunk of chunksOf(path)) {
    const end = chunk.lastIndexOf(NEWLINE) + 1;
    if (end > 0) {
      yield blockOf(Buffer.concat([...pieces, chunk.subarray(0, end)]), encoding);
      [pieces, pieceBytes] = [[], 0];
    }
    if (end === chunk.length) continue;
    pieces.push(chunk.subarray(end));
    pieceBytes += chunk.length - end;
    if (pieceBytes > READ_LINE_BYTES_MAX) {
      const most = formatSize(READ_LINE_BYTES_MAX);
      throw new Fatal(
        EXIT.badData,
        `"${path}" has a line longer than ${most}, so viewlog didn't write this file`,
      );
    }
  }
  if (pieceBytes > 0) yield blockOf(Buffer.concat(pieces), encoding);
}

function blockOf(bytes: Buffer, encoding: BufferEncoding) {
  const text = bytes.toString(encoding);
  return {
    /** All lines, each with its newline. */
    text,
    // Not a getter: V8 frees objects with getters late, so reading took twice as long.
    /**
     * Without newlines. Leaves out a last line that has no newline yet: its writer may not have
     * finished.
     */
    lines: () => text.split('\n').slice(0, -1),
    /** Indices in `lines` of lines that aren't UTF-8. */
    damaged: isUtf8(bytes) ? NONE : damagedIn(bytes),
    /** Includes the newlines and a last line without a newline. */
    bytes: bytes.length,
    /** True: there is a last line without a newline. */
    isUnended: bytes[bytes.length - 1] !== NEWLINE,
  };
}

function damagedIn(bytes: Buffer): Set<number> {
  const lines = bytes.toString('latin1').split('\n');
  const isDamaged = (line: string): boolean => !isUtf8(Buffer.from(line, 'latin1'));
  return new Set(lines.flatMap((line, i) => (isDamaged(line) ? [i] : [])));
}

async function* chunksOf(path: string): AsyncGenerator<Buffer> {
  const file: Readable =
    path === '-' ? process.stdin : fs.createReadStream(path, { highWaterMark: CHUNK_BYTES });
  const decompress = (): Readable =>
    pipeline(file, createGunzip({ chunkSize: CHUNK_BYTES }), () => {});
  try {
    for await (const chunk of path.endsWith('.gz') ? decompress() : file) yield chunk as Buffer;
  } catch (error) {
    if (errnoOf(error)?.startsWith('Z_') !== true) throw cannotRead(path, error);
    throw new Fatal(
      EXIT.badData,
      `Can't decompress "${path}": ${errorText(error)}; restore it from a backup`,
    );
  } finally {
    file.destroy();
  }
}

/** @throws {Fatal} exit 74 if there is no such file, or only a directory. */
export function checkReadable(path: string): void {
  if (path === '-') return;
  try {
    // Not `access`, for which Deno demands one more permission.
    if (fs.statSync(path).isDirectory()) fs.readFileSync(path);
  } catch (error) {
    throw cannotRead(path, error);
  }
}

/** Returns what to do about a directory without view files. */
export const noViewFiles = (dir: string): string =>
  `No view files in "${printable(dir, Infinity)}". If it is the data directory, no view has been stored yet; otherwise, name the data directory`;

/**
 * Returns a Fatal with exit 74: the file, the reason and the fix.
 * @param source what named the file.
 */
export function cannotRead(path: string, error: unknown, source = 'the path'): Fatal {
  const causes: Readonly<Record<string, string>> = {
    ENOENT: `it doesn't exist; check ${source}`,
    EISDIR: 'it is a directory; name a file in it',
    ENOTDIR: `it isn't a directory, or a part of its path isn't; check ${source}`,
  };
  const why = causes[errnoOf(error) ?? ''] ?? errorText(error);
  const message = `Can't read "${printable(path, Infinity)}": ${why}`;
  return new Fatal(EXIT.ioError, message, error);
}
