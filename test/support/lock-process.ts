// A process that competes for a lock, on any of the runtimes. What it has to say is a line of JSON.
import * as fs from 'node:fs';
import { acquireLock, type Lock } from '../../src/disk/lock.ts';

const [mode, dir, argument] = process.argv.slice(2) as [string, string, string];
const say = (value: object): void => console.log(JSON.stringify({ pid: process.pid, ...value }));
const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** Starts on the very instant that the file `go` appears. */
async function once(): Promise<void> {
  say({ ready: true });
  while (!fs.existsSync(`${dir}/go`));
  await attempt();
}

async function attempt(): Promise<void> {
  try {
    await acquireLock(dir);
    say({ held: true });
    await sleep(600_000);
  } catch (error) {
    say({ refused: (error as Error).message, exitCode: (error as { exitCode?: number }).exitCode });
  }
}

/** Takes it and lets it go for a while; whoever holds it alone can make the file `alone`. */
async function loop(ms: number): Promise<void> {
  const endMs = Date.now() + ms;
  const counts = { held: 0, refused: 0, shared: 0 };
  while (Date.now() < endMs) {
    const lock = await acquireLock(dir).catch((error: unknown) => {
      if ((error as { exitCode?: number }).exitCode !== 73) throw error;
      counts.refused += 1;
    });
    if (lock === undefined) continue;
    counts.held += 1;
    try {
      fs.closeSync(fs.openSync(`${dir}/alone`, 'wx'));
      if (Math.random() < 0.5) await sleep(Math.random() * 5);
      fs.rmSync(`${dir}/alone`);
    } catch {
      counts.shared += 1;
    }
    await lock.release();
  }
  say(counts);
}

/**
 * Holds it whenever it can, and writes lines that name who holds it, until it is killed. With
 * `stop` it stops itself in between, on the very instant before it writes again: stopped from
 * outside, it might have a write under way, which ends when it goes on, whoever holds it then.
 */
async function write(): Promise<void> {
  for (let tenure = 1; ; tenure++) {
    let isLost = false;
    const onLost = (): void => void (isLost = true);
    const lock = await acquireLock(dir, { onLost }).catch((error: unknown) => {
      if ((error as { exitCode?: number }).exitCode !== 73) throw error;
    });
    if (lock === undefined) {
      await sleep(20);
      continue;
    }
    say({ held: true });
    while (!isLost) await writeLines(lock, `${process.pid}.${tenure}\n`).catch(() => sleep(10));
    await lock.release();
    say({ lost: true });
  }
}

async function writeLines({ files }: Lock, line: string): Promise<void> {
  const bytes = Buffer.from(line);
  const fd = await files.open(`${dir}/views-2026-01-01.ndjson`, 'a+', 0o640);
  try {
    for (let i = 0; i < 10; i++) {
      if (i === 1 && argument === 'stop') {
        say({ stopped: true });
        process.kill(process.pid, 'SIGSTOP');
      }
      await files.write(fd, bytes, 0, bytes.length);
      await sleep(Math.random() * 10);
    }
  } finally {
    await files.close(fd);
  }
}

if (mode === 'once') await once();
else if (mode === 'try') await attempt();
else if (mode === 'end') await acquireLock(dir);
else if (mode === 'write') await write();
else await loop(Number(argument));
