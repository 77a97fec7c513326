import * as fs from 'node:fs';
import { errnoOf } from '../base/exit.ts';
import { MiB } from '../base/size.ts';
import { HEAD_BYTES, LINE_START, readHead } from '../view/line.ts';

const NEXT = `\n${LINE_START}`;
const CHUNK_BYTES = 4 * MiB;
/** Lines stand in the stream's order, and collectors' clocks part by less. */
const SKEW_MS = 5 * 60_000;

/**
 * Where the file has this line, by its `ts` and `id`. Looks from the end back to lines that are
 * older, so that a file with nothing but older lines costs little, whatever its size.
 */
export async function findLine(path: string, line: Buffer): Promise<'nowhere' | 'last' | 'within'> {
  const head = line.toString('latin1', 0, HEAD_BYTES);
  const oldestMs = Date.parse(readHead(head)?.ts ?? '') - SKEW_MS;
  try {
    // Opening a FIFO would wait for its writer.
    if (!fs.statSync(path).isFile()) return 'nowhere';
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return 'nowhere';
    throw error;
  }
  const file = await fs.promises.open(path);
  try {
    const chunk = Buffer.alloc(CHUNK_BYTES);
    const { size } = await file.stat();
    for (let end = size; ;) {
      const start = Math.max(0, end - CHUNK_BYTES);
      const { bytesRead } = await file.read(chunk, 0, end - start, start);
      const text = chunk.toString('latin1', 0, bytesRead);
      const at = text.lastIndexOf(head);
      if (at >= 0) return end === size && !text.includes(NEXT, at) ? 'last' : 'within';
      const first = text.indexOf(NEXT) + 1;
      const ts = readHead(text.slice(first, first + HEAD_BYTES))?.ts;
      if (start === 0 || (ts !== undefined && Date.parse(ts) < oldestMs)) return 'nowhere';
      // The head may stand across.
      end = start + HEAD_BYTES;
    }
  } finally {
    await file.close();
  }
}
