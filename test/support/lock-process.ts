// A process that wants a lock, on any of the runtimes. It says what happens in lines of JSON.
import * as fs from 'node:fs';
import { acquireLock } from '../../src/disk/lock.ts';

const [mode, dir] = process.argv.slice(2) as [string, string];
const say = (value: object): void => console.log(JSON.stringify({ pid: process.pid, ...value }));

/** Starts on the very instant that the file `go` appears. */
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
