// Bundles viewlog into dist/viewlog.mjs: one file that runs on Node, Deno and Bun with nothing
// beside it. With --compile also into dist/viewlog, which needs no runtime either.
import { chmodSync } from 'node:fs';
import { build } from 'esbuild';

const common = {
  absWorkingDir: import.meta.dirname,
  entryPoints: ['src/main.ts'],
  bundle: true,
  platform: 'node',
  target: 'node20',
  legalComments: 'none',
  logLevel: 'warning',
};

await build({
  ...common,
  format: 'esm',
  outfile: 'dist/viewlog.mjs',
  banner: { js: '#!/usr/bin/env node' },
});
chmodSync(new URL('dist/viewlog.mjs', import.meta.url), 0o755);

if (process.argv.includes('--compile')) {
  const { compile } = await import('./compile.mjs');
  await compile(common);
}
