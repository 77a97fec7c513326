import { mkdtemp, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { onTestFinished } from 'vitest';

/** An empty directory, removed when the test ends. */
export async function projectsDir(): Promise<string> {
  const directory = await mkdtemp(`${await realpath(tmpdir())}/viewlog-projects-`);
  onTestFinished(() => rm(directory, { recursive: true, force: true }));
  return directory;
}
