import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { tempDir } from './temp-dir.ts';
import { run, type RunOptions } from './viewlog.ts';

/** Returns the output of `viewlog example NAME …` for a data directory that exists. */
export async function exampleOf(
  name: string,
  args: readonly string[] = [],
  options: RunOptions = {},
): Promise<string> {
  const { code, stdout, stderr } = await run(['example', name, ...args], options);
  // If the tests run as root, some examples warn about it.
  const others = stderr.replace(/^warning: ".*" belongs to root, so .*\n/, '');
  expect([code, others]).toStrictEqual([0, '']);
  return stdout;
}

/** Writes a text to a file in a new directory; returns its path. */
export function fileOf(name: string, text: string): string {
  const path = join(tempDir(), name);
  writeFileSync(path, text);
  return path;
}
