import { isJson } from '../base/json.ts';
import { MiB } from '../base/format.ts';
import { copyOf, NEWLINE } from '../base/text.ts';
import type { DayWriter } from '../disk/day-writer.ts';
import { readHead } from '../view/line.ts';

type OpenFile = Pick<DayWriter, 'read'>;

/** Yields the ids of the views between two offsets of the open view file. */
export async function* idsIn(file: OpenFile, start: number, end: number): AsyncGenerator<string> {
  for await (const line of linesOf(file, start, end)) {
    const id = readHead(line)?.id;
    // A fragment can have an id too, but isn't JSON.
    if (id !== undefined && isJson(line)) yield copyOf(id);
  }
}

/** Returns the offset at which the last `count` lines before `end` begin; 0 if there are fewer. */
export async function startOfLast(file: OpenFile, count: number, end: number): Promise<number> {
  let newlines = 0;
  for (let at = end; at > 0;) {
    const size = Math.min(MiB, at);
    at -= size;
    const chunk = Buffer.alloc(size);
    await file.read(chunk, at);
    for (let i = chunk.lastIndexOf(NEWLINE); i >= 0; i = chunk.lastIndexOf(NEWLINE, i - 1)) {
      if (newlines++ === count) return at + i + 1;
      if (i === 0) break;
    }
  }
  return 0;
}

/** Yields the lines from byte `start` to byte `end`, with one character per byte. */
async function* linesOf(file: OpenFile, start: number, end: number) {
  let rest = '';
  for (let at = start; at < end;) {
    const chunk = Buffer.alloc(Math.min(MiB, end - at));
    const count = await file.read(chunk, at);
    // Another program has cut the file short.
    if (count === 0) return;
    at += count;
    const lines = (rest + chunk.toString('latin1', 0, count)).split('\n');
    rest = lines.pop()!;
    yield* lines;
  }
}
