import * as fs from 'node:fs';
import { errnoOf } from '../base/exit.ts';
import { NEWLINE } from '../base/text.ts';
import { NoRegularFile } from '../disk/daily-file.ts';
import { readBlocks } from '../disk/lines.ts';

/** What a file still lacks of the lines that a process, now dead, was appending to it. */
export interface Written {
  /** The lines that are not there as a whole, newlines included: a begun one, then in order. */
  readonly missing: Buffer;
  /** What completes the file's torn last line, where that is the start of one of them. */
  readonly ending: Uint8Array | undefined;
  /** The file is shorter than it was: somebody has moved or emptied it. */
  readonly hasShrunk: boolean;
}

/**
 * Looks in the file, from byte `from` on, for lines that may stand there already. It goes by the
 * lines themselves, whatever else is between them: a power cut leaves NULs, and other hands may
 * have written too. Memory grows with the lines looked for, not with the file.
 * @param isSure `from` is not too large, which would hide lines.
 * @throws {NoRegularFile | Fatal} exit 74 if it can't be read.
 */
export async function findWritten(
  path: string,
  from: number,
  lines: Buffer,
  isSure = true,
): Promise<Written> {
  const size = sizeOf(path);
  const hasShrunk = size < from;
  const wanted = lines.toString('latin1').split('\n').slice(0, -1);
  const isMissing = wanted.map(() => true);
  let torn = '';
  if (size > 0) {
    const placesOf = indexed(wanted);
    // In one that is not what it was, a line may be anywhere.
    const start = hasShrunk ? 0 : isSure ? from : await startOf(path, size, from, lines);
    for await (const block of readBlocks(path, () => {}, 'latin1', start)) {
      const found = [...block.lines];
      torn = block.isUnended ? found.pop()! : '';
      for (const line of found) {
        const place = placesOf.get(line)?.shift();
        if (place !== undefined) isMissing[place] = false;
      }
    }
  }
  const missing = wanted.filter((_, i) => isMissing[i]).map((line) => `${line}\n`);
  const begun = torn === '' ? -1 : missing.findIndex((line) => line.startsWith(torn));
  if (begun > 0) missing.unshift(...missing.splice(begun, 1));
  return {
    missing: latin1(missing.join('')),
    ending: begun < 0 ? undefined : latin1(missing[0]!.slice(torn.length)),
    hasShrunk,
  };
}

/**
 * Where the lines begin in the file: before `from` only if all that follows there, to the file's end,
 * is the start of them. One among others may be another message's.
 */
async function startOf(path: string, size: number, from: number, lines: Buffer): Promise<number> {
  // With the newline before them.
  const start = Math.max(0, size - lines.length - 1);
  if (from <= start) return from;
  const tail = await readTail(path, start, size);
  let at = start === 0 ? 0 : tail.indexOf(NEWLINE) + 1;
  while (start + at < from) {
    if (lines.subarray(0, tail.length - at).equals(tail.subarray(at))) return start + at;
    const end = tail.indexOf(NEWLINE, at);
    if (end < 0) break;
    at = end + 1;
  }
  return from;
}

async function readTail(path: string, start: number, end: number): Promise<Buffer> {
  const file = await fs.promises.open(path);
  try {
    const tail = Buffer.alloc(end - start);
    const { bytesRead } = await file.read(tail, 0, tail.length, start);
    return tail.subarray(0, bytesRead);
  } finally {
    await file.close();
  }
}

/** The places of each line: the same one may be wanted more than once. */
function indexed(lines: readonly string[]): Map<string, number[]> {
  const places = new Map<string, number[]>();
  for (const [place, line] of lines.entries()) {
    const known = places.get(line);
    if (known === undefined) places.set(line, [place]);
    else known.push(place);
  }
  return places;
}

function sizeOf(path: string): number {
  try {
    const there = fs.statSync(path);
    if (!there.isFile()) throw new NoRegularFile();
    return there.size;
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return 0;
    throw error;
  }
}

const latin1 = (text: string): Buffer => Buffer.from(text, 'latin1');
