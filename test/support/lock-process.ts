// A process that acquires a lock, on any runtime. It reports in lines of JSON.
import * as fs from 'node:fs';
import { acquireLock } from '../../src/disk/lock.ts';

const [mode, dir] = process.argv.slice(2) as [string, string];
const say = (value: object): void => console.log(JSON.stringify({ pid: process.pid, ...value }));

/** Starts as soon as the file `go` appears. */
if (mode === 'at go') {
  say({ ready: true });
  while (!fs.existsSync(`${dir}/go`));
}
try {
  await acquireLock(dir, { onLost: ({ exitCode, message }) => say({ lost: message, exitCode }) });
  say({ held: true });
  if (mode !== 'end') setInterval(() => {}, 60_000);
} catch (error) {
  const { message, exitCode } = error as Error & { exitCode?: number };
  say({ refused: message, exitCode });
}
