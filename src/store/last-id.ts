import * as fs from 'node:fs';
import { errnoOf } from '../base/exit.ts';
import { fileNameOf, type FileKind } from '../disk/names.ts';
import { lastIdIn } from '../view/line.ts';

const TAIL_BYTES = 64 * 1024;

/**
 * The id of the last line in the day's file that has one; `undefined` where there is no such file
 * or line. Synchronous: a line is stamped in one go, and the day changes once a day.
 */
export function lastIdOf(dir: string, kind: FileKind, day: string): string | undefined {
  const path = `${dir}/${fileNameOf(kind, day)}`;
  let fd: number;
  try {
    // Opening a FIFO would wait for its writer. The flag is for what gets there after this look.
    if (fs.statSync(path).isFIFO()) return undefined;
    fd = fs.openSync(path, fs.constants.O_RDONLY | fs.constants.O_NONBLOCK);
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return undefined;
    throw error;
  }
  try {
    const { size } = fs.fstatSync(fd);
    for (let length = TAIL_BYTES; ; length *= 4) {
      const from = Math.max(0, size - length);
      const tail = Buffer.alloc(size - from);
      const read = fs.readSync(fd, tail, 0, tail.length, from);
      const text = tail.toString('latin1', 0, read);
      // A tail that starts in mid-file starts in mid-line, so what stands at its start is no head.
      const id = lastIdIn(from === 0 ? text : `-${text}`);
      if (id !== undefined || from === 0) return id;
    }
  } finally {
    fs.closeSync(fd);
  }
}
