import { NEWLINE, printable } from '../base/text.ts';
import { MiB } from '../base/size.ts';
import { isUtf8 } from 'node:buffer';
import * as fs from 'node:fs';
import type { Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { EXIT, errnoOf, Fatal, reasonOf } from '../base/exit.ts';

/** Some lines of a file, in order. A file is read block by block, in constant memory. */
export interface Block {
  /** Without their newlines. */
  readonly lines: readonly string[];
  /** Indices in `lines` of lines that are not UTF-8, or were cut because they are too long. */
  readonly damaged: ReadonlySet<number>;
  /** Bytes of these lines, newlines included. */
  readonly bytes: number;
  /** Whether the last line has no newline, which is so only at the end of the file. */
  readonly isUnended: boolean;
}

const CHUNK_BYTES = 64 * 1024;
/** Far longer than any stored line. A longer line is cut here, and counts as damaged. */
export const READ_LINE_BYTES_MAX = 16 * MiB;
const NONE: ReadonlySet<number> = new Set();

type Encoding = 'utf8' | 'latin1';

/**
 * Yields the lines of a file, of an unpacked `.gz` file, or of stdin (`-`).
 * @param onRead is called with the bytes read from the file, before they are unpacked.
 * @param encoding `latin1` gives one character per byte, and is twice as fast as UTF-8.
 * @param start the byte to begin at.
 * @throws {Fatal} exit 74 if the file can't be read, 65 if it can't be unpacked.
 */
export async function* readBlocks(
  path: string,
  onRead: (bytes: number) => void = () => {},
  encoding: Encoding = 'utf8',
  start = 0,
): AsyncGenerator<Block> {
  const blockOf = (bytes: Buffer, isCut: boolean): Block => decoded(bytes, isCut, encoding);
  let pending: Buffer[] = [];
  let pendingBytes = 0;
  let isCut = false;
  for await (const chunk of chunksOf(path, onRead, start)) {
    const end = chunk.lastIndexOf(NEWLINE) + 1;
    if (end > 0) {
      pending.push(chunk.subarray(0, end));
      yield blockOf(Buffer.concat(pending), isCut);
      pending = [];
      pendingBytes = 0;
      isCut = false;
    }
    const rest = chunk.subarray(end, end + READ_LINE_BYTES_MAX - pendingBytes);
    if (rest.length < chunk.length - end) isCut = true;
    if (rest.length > 0) pending.push(rest);
    pendingBytes += rest.length;
  }
  if (pendingBytes > 0) yield blockOf(Buffer.concat(pending), isCut);
}

function decoded(bytes: Buffer, isFirstCut: boolean, encoding: Encoding): Block {
  const isUnended = bytes[bytes.length - 1] !== NEWLINE;
  const lines = bytes.toString(encoding).split('\n');
  if (!isUnended) lines.pop();
  const damaged = isFirstCut || !isUtf8(bytes) ? damagedIn(bytes, isFirstCut) : NONE;
  return { lines, damaged, bytes: bytes.length, isUnended };
}

function damagedIn(bytes: Buffer, isFirstCut: boolean): Set<number> {
  const damaged = new Set<number>(isFirstCut ? [0] : []);
  let start = 0;
  for (let line = 0; start < bytes.length; line++) {
    const newline = bytes.indexOf(NEWLINE, start);
    const end = newline < 0 ? bytes.length : newline;
    if (!isUtf8(bytes.subarray(start, end))) damaged.add(line);
    start = end + 1;
  }
  return damaged;
}

async function* chunksOf(
  path: string,
  onRead: (bytes: number) => void,
  start: number,
): AsyncGenerator<Buffer> {
  const file: Readable =
    path === '-' ? process.stdin : fs.createReadStream(path, { highWaterMark: CHUNK_BYTES, start });
  const isPacked = path.endsWith('.gz');
  file.on('data', (chunk: Buffer) => onRead(chunk.length));
  let readError: unknown;
  let stream = file;
  if (isPacked) {
    stream = createGunzip({ chunkSize: CHUNK_BYTES });
    file.once('error', (error) => {
      readError = error;
      stream.destroy(error);
    });
    file.pipe(stream as ReturnType<typeof createGunzip>);
  }
  try {
    for await (const chunk of stream) yield chunk as Buffer;
  } catch (error) {
    if (isPacked && readError === undefined) {
      throw new Fatal(EXIT.badData, `Cannot unpack "${path}": ${reasonOf(error)}`);
    }
    throw cannotRead(path, error);
  } finally {
    file.destroy();
  }
}

/** Returns a Fatal with exit 74: which file could not be read, why, and what to do. */
export function cannotRead(path: string, error: unknown): Fatal {
  const errno = errnoOf(error) ?? '';
  // Without the name of the system call and the path, which the message has already.
  const reason = reasonOf(error).replace(/, \w+( '.*')?$/s, '');
  const hint = Object.hasOwn(ADVICE, errno) ? `; ${ADVICE[errno]}` : '';
  return new Fatal(EXIT.ioError, `Cannot read "${printable(path, Infinity)}": ${reason}${hint}`);
}

const ADVICE: Readonly<Record<string, string>> = {
  EACCES: 'let this user read it',
  EISDIR: 'give the names of the files in it',
};
