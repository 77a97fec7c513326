import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';

type End = () => unknown;

/** Functions that end the things that several tests share; set while they are created. */
let shared: End[] | undefined;

/** Calls `end` when the test is over, or the tests that share something. */
export function whenOver(end: End): void {
  if (shared) shared.unshift(end);
  else onTestFinished(async () => void (await end()));
}

/** Creates something that several tests share, before them; `end` calls the ends that it needed. */
export function untilEnd<T>(make: () => Promise<T>) {
  const ends: End[] = [];
  shared = ends;
  const made = make().finally(() => (shared = undefined));
  const end = async (): Promise<void> => {
    for (const one of ends) await one();
  };
  return { made, end };
}

/** Creates a directory, and removes it when the test is over. */
export function tempDir(): string {
  const dir = mkdtempSync(join(tmpdir(), 'viewlog-test-'));
  whenOver(() => rmSync(dir, { recursive: true, force: true }));
  return dir;
}
