import { isJson } from '../base/json.ts';
import { MiB } from '../base/format.ts';
import { NEWLINE } from '../base/text.ts';
import type { FileOps } from '../disk/ops.ts';
import { readHead } from '../view/line.ts';

/** Yields the ids of the views between two offsets of a view file. */
export async function* idsIn(
  files: FileOps,
  path: string,
  start: number,
  end: number,
): AsyncGenerator<string> {
  for await (const line of linesOf(files, path, start, end)) {
    const id = readHead(line)?.id;
    // A crash leaves half a line, which has an id too. A copy, because a part of a line would keep
    // all of it in memory.
    if (id !== undefined && isJson(line)) yield Buffer.from(id).toString('latin1');
  }
}

/** Returns the offset at which the last `count` lines before `end` begin; 0 if there are fewer. */
export async function startOfLast(
  files: FileOps,
  path: string,
  count: number,
  end: number,
): Promise<number> {
  if (end === 0) return 0;
  const fd = await files.open(path, 'r');
  try {
    let newlines = 0;
    for (let at = end; at > 0;) {
      const size = Math.min(MiB, at);
      at -= size;
      const chunk = Buffer.alloc(size);
      await files.read(fd, chunk, at);
      for (let i = chunk.lastIndexOf(NEWLINE); i >= 0; i = chunk.lastIndexOf(NEWLINE, i - 1)) {
        if (newlines++ === count) return at + i + 1;
        if (i === 0) break;
      }
    }
    return 0;
  } finally {
    await files.close(fd).catch(() => {});
  }
}

/** Yields the lines from byte `start` to byte `end`, with a character for each byte. */
async function* linesOf(files: FileOps, path: string, start: number, end: number) {
  if (start === end) return;
  const fd = await files.open(path, 'r');
  try {
    let rest = '';
    for (let at = start; at < end;) {
      const chunk = Buffer.alloc(Math.min(MiB, end - at));
      const count = await files.read(fd, chunk, at);
      // Another program has cut the file short.
      if (count === 0) return;
      at += count;
      const lines = (rest + chunk.toString('latin1', 0, count)).split('\n');
      rest = lines.pop()!;
      yield* lines;
    }
  } finally {
    await files.close(fd).catch(() => {});
  }
}
