import * as fs from 'node:fs';
import { within } from '../base/time.ts';
import { systemFiles } from '../disk/ops.ts';
import { doubtful, type Finding, well } from './finding.ts';

const CHECK = 'write and sync';

const ROUNDS = 15;
const LINE = Buffer.alloc(512, 0x20);
const SLOW_MS = 50;
const TIMEOUT_MS = 5_000;
/** Linux's O_TMPFILE, which Node does not name: a file in the directory that has no name there. */
const O_TMPFILE = 0o20000000 | fs.constants.O_DIRECTORY;

/**
 * What a write and a sync take in the directory. The file has no name, or for an instant one that no
 * shipper's pattern matches; it is gone with this process, whatever happens.
 */
export async function checkWriting(data: string, durability: 'disk' | 'os'): Promise<Finding> {
  const times: number[] = [];
  await within(TIMEOUT_MS, writeAndSync(data, times));
  const isDone = times.length === ROUNDS;
  times.sort((a, b) => a - b);
  const median = isDone ? times[ROUNDS >> 1]! : Infinity;
  const what = isDone
    ? `A write and sync take ${ms(median)}, the longest of ${ROUNDS} ${ms(times.at(-1)!)}`
    : `${times.length} writes and syncs in ${TIMEOUT_MS / 1000} s`;
  if (median <= SLOW_MS || (isDone && durability === 'os')) return well(CHECK, what);
  return doubtful(
    CHECK,
    what,
    'answers wait for them',
    'See dmesg and iostat -x; is the disk failing?',
  );
}

const ms = (time: number): string => `${time.toFixed(time < 10 ? 2 : 0)} ms`;

async function writeAndSync(data: string, times: number[]): Promise<void> {
  const fd = openNameless(data);
  try {
    for (let round = 0; round < ROUNDS; round++) {
      const begunMs = performance.now();
      await systemFiles.write(fd, LINE, 0, LINE.length);
      await systemFiles.fdatasync(fd);
      times.push(performance.now() - begunMs);
    }
  } finally {
    fs.closeSync(fd);
  }
}

function openNameless(dir: string): number {
  try {
    return fs.openSync(dir, O_TMPFILE | fs.constants.O_RDWR, 0o600);
  } catch {
    // Not Linux, not Node, or a file system that has no such files.
  }
  const path = `${dir}/.viewlog-doctor-${process.pid}`;
  const fd = fs.openSync(path, 'wx', 0o600);
  fs.unlinkSync(path);
  return fd;
}
