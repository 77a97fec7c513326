import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';

type End = () => unknown;

/** Of what several tests share; where none is made for several, each test's own end is meant. */
let shared: End[] | undefined;

/** Does it when the test is over that this is for. */
export function whenOver(end: End): void {
  if (shared) shared.unshift(end);
  else onTestFinished(async () => void (await end()));
}

/** Makes something that several tests share, before them; `end` ends what it needed. */
export function untilEnd<T>(make: () => Promise<T>) {
  const ends: End[] = [];
  shared = ends;
  const made = make().finally(() => (shared = undefined));
  const end = async (): Promise<void> => {
    for (const one of ends) await one();
  };
  return { made, end };
}

/** A new directory, gone when the test is over. */
export function tempDir(): string {
  const dir = mkdtempSync(join(tmpdir(), 'viewlog-test-'));
  whenOver(() => rmSync(dir, { recursive: true, force: true }));
  return dir;
}
