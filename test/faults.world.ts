import { execFileSync } from 'node:child_process';
import { mkdirSync, symlinkSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import {
  disturbFile,
  errOnDisk,
  fillAndEnd,
  fillAndFree,
  fillWithRefused,
  hangDisk,
  killRepeatedly,
  overload,
  passMidnight,
  randomFrom,
  remountReadOnly,
  standInTheWay,
  startAtOnce,
  stopTwice,
  stopTwiceHanging,
} from './support/faults.ts';
import { BUN, DENO, isHere, isPresent, NODE } from './support/runtimes.ts';
import { canMount, canMountThin } from './support/small-disk.ts';

// Every fault once on every runtime; `npm run soak` repeats them for as long as it is told.

const seed = Number(process.env['VIEWLOG_TEST_SEED'] ?? Math.floor(Math.random() * 1e9));
console.log(`faults from seed ${seed}; repeat them with VIEWLOG_TEST_SEED=${seed}`);

const canFill = canMount();
const canHang = canMountThin();
if (!canFill) console.warn('SKIPPED: tests of a full disk; they need root, to mount a small one');

describe.each([NODE, DENO, BUN].filter(isPresent))('viewlog on $name', (runtime) => {
  const random = randomFrom(seed);

  it('loses nothing it acknowledged when it is killed under load', async () => {
    const { acknowledged, stored } = await killRepeatedly(runtime, random, 3);
    expect(stored).toBeGreaterThanOrEqual(acknowledged!);
  });

  it.skipIf(!canFill)('goes on by itself when a full disk has space again', async () => {
    await fillAndFree(runtime, random);
  });

  it.skipIf(!canFill)('is killed on a full disk, and starts on it', async () => {
    await fillAndEnd(runtime, random, 'SIGKILL');
  });

  it.skipIf(!canFill)('is stopped on a full disk, says so, and starts on it', async () => {
    await fillAndEnd(runtime, random, 'SIGTERM');
  });

  it.skipIf(!canFill)('keeps what it promised when refused views fill the disk', async () => {
    await fillWithRefused(runtime, random);
  });

  it.skipIf(!canFill)('waits for a file system that was remounted read-only', async () => {
    await remountReadOnly(runtime);
  });

  it.skipIf(!canHang)('ends with 74 when the system finds an error on the disk', async () => {
    const { acknowledged, stored } = await errOnDisk(runtime);
    expect(stored).toBeGreaterThanOrEqual(acknowledged!);
  });

  it('ends at once at a second signal, whatever is under way', async () => {
    const { acknowledged, stored } = await stopTwice(runtime, random, 3);
    expect(stored).toBeGreaterThanOrEqual(acknowledged!);
  });

  it.skipIf(!canHang)('ends at a second signal while the last write hangs', async () => {
    await stopTwiceHanging(runtime);
  });

  it.skipIf(!canHang)('answers 503 while the disk hangs, and goes on by itself', async () => {
    await hangDisk(runtime);
  });

  it('opens a new file when somebody moves the one it writes', async () => {
    await disturbFile(runtime, random);
  });

  it.each([
    ['a FIFO', (path: string) => execFileSync('mkfifo', [path])],
    ['a link to /dev/null', (path: string) => symlinkSync('/dev/null', path)],
    ['a directory', (path: string) => mkdirSync(path)],
  ])('writes nothing to %s in the place of a file, and goes on without it', async (_, make) => {
    await standInTheWay(runtime, make);
  });

  it('runs once a directory, however many start at the same time', async () => {
    await startAtOnce(runtime, 4);
  });

  it('does not grow when it is overloaded', async () => {
    const { overloaded } = await overload(runtime, 2, 500);
    expect(overloaded).toBeGreaterThan(0);
  });
});

const FAKETIME = '/usr/bin/faketime';

it.skipIf(!isHere(FAKETIME))('midnight under load closes one file and opens the next', async () => {
  const { acknowledged } = await passMidnight(NODE, FAKETIME);
  expect(acknowledged).toBeGreaterThan(0);
});
