// The lines at a file's end that the record does not cover. Messages that are still to come may be
// among them.
//
// There can be many: a whole day's if the record is lost. So no ids are kept in memory, only the
// range of times in each block of a mebibyte; the ids of a batch are looked for in the blocks that
// have lines of the same times. For files in the stream's order that is a block or two.
import { isJson } from '../base/json.ts';
import { MiB } from '../base/size.ts';
import { NEWLINE } from '../base/text.ts';
import type { FileOps } from '../disk/ops.ts';
import { HEAD_BYTES, readHead } from '../view/line.ts';
import type { ArchiveLine } from './archive-batch.ts';

const BLOCK_BYTES = MiB;
/** Longer than any line: what has no newline for so long is no view. */
const UNENDED_BYTES_MAX = 16 * MiB;

/** Some whole lines of a file: where they are, and the earliest and latest `ts` among them. */
export interface Block {
  readonly start: number;
  readonly end: number;
  readonly from: string;
  readonly to: string;
}

/** Returns the blocks of the file from byte `start` to byte `end` that have lines of views. */
export async function blocksOf(
  files: FileOps,
  path: string,
  start: number,
  end: number,
): Promise<Block[]> {
  const blocks: Block[] = [];
  for await (const { lines, ...place } of linesOf(files, path, start, end)) {
    const times = lines.map((line) => headOf(line)?.ts).filter((ts) => ts !== undefined);
    if (times.length > 0) blocks.push({ ...place, ...rangeOf(times) });
  }
  return blocks;
}

/** Returns the ids, among those of `wanted`, whose lines are whole in these blocks of the file. */
export async function findIds(
  files: FileOps,
  path: string,
  blocks: readonly Block[],
  wanted: readonly ArchiveLine[],
): Promise<ReadonlySet<string>> {
  const found = new Set<string>();
  if (blocks.length === 0) return found;
  const ids = new Set(wanted.map(({ id }) => id));
  const { from, to } = rangeOf(wanted.map(({ ts }) => ts));
  for (const block of blocks) {
    if (block.to < from || block.from > to) continue;
    for await (const { lines } of linesOf(files, path, block.start, block.end)) {
      for (const line of lines) {
        const id = headOf(line)?.id;
        // A crash leaves half a line, which has an id too.
        if (id !== undefined && ids.has(id) && isJson(line)) found.add(id);
      }
    }
  }
  return found;
}

const headOf = (line: string) => readHead(line.slice(0, HEAD_BYTES));

/** As texts, RFC 3339 times in UTC sort by time. */
function rangeOf(times: readonly string[]): { from: string; to: string } {
  let [from, to] = [times[0]!, times[0]!];
  for (const ts of times) {
    if (ts < from) from = ts;
    if (ts > to) to = ts;
  }
  return { from, to };
}

/** Yields lines with a character for each byte, some at a time, and where they are. */
async function* linesOf(files: FileOps, path: string, start: number, end: number) {
  if (start === end) return;
  const fd = await files.open(path, 'r');
  try {
    let pending: Buffer = Buffer.alloc(0);
    let pendingAt = start;
    for (let at = start; at < end;) {
      const chunk = Buffer.alloc(Math.min(BLOCK_BYTES, end - at));
      const count = await files.read(fd, chunk, at);
      // Somebody has cut the file short.
      if (count === 0) return;
      at += count;
      const bytes = Buffer.concat([pending, chunk.subarray(0, count)]);
      const isUnended = at < end && bytes.length < UNENDED_BYTES_MAX;
      const length = isUnended ? bytes.lastIndexOf(NEWLINE) + 1 : bytes.length;
      const lines = bytes.toString('latin1', 0, length).split('\n');
      if (length > 0) yield { start: pendingAt, end: pendingAt + length, lines };
      pending = bytes.subarray(length);
      pendingAt += length;
    }
  } finally {
    await files.close(fd).catch(() => {});
  }
}
