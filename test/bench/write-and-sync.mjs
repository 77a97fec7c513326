// What the disk itself takes for a line: a bare loop of write and fdatasync.
import { closeSync, fdatasyncSync, openSync, rmSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { quantile } from './rounds.mjs';

const LINES = 2000;
const LINE_BYTES = 560;

/** @returns microseconds. */
export function writeAndSync() {
  const path = join(process.env.BENCH_DIR ?? tmpdir(), `viewlog-bench-sync-${process.pid}`);
  const fd = openSync(path, 'a');
  const line = Buffer.alloc(LINE_BYTES, 'x');
  const times = Array.from({ length: LINES }, () => {
    const before = performance.now();
    writeSync(fd, line);
    fdatasyncSync(fd);
    return (performance.now() - before) * 1000;
  });
  closeSync(fd);
  rmSync(path);
  return { p50: quantile(times, 0.5), p99: quantile(times, 0.99), p999: quantile(times, 0.999) };
}
