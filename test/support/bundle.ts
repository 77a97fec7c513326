import { buildSync } from 'esbuild';
import { join } from 'node:path';
import { tempDir } from './temp-dir.ts';

/** Bundles a TypeScript file of this folder into one that every runtime can start. */
export function bundle(name: string): string {
  const outfile = join(tempDir(), `${name}.mjs`);
  buildSync({
    entryPoints: [join(import.meta.dirname, `${name}.ts`)],
    bundle: true,
    format: 'esm',
    platform: 'node',
    outfile,
    logLevel: 'error',
  });
  return outfile;
}
