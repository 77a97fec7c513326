// Plants one fault of planted.txt at a time, and prints which seed finds it first:
//
//   node test/simulation/planted.mjs [a part of a fault's name] [a directory: test/replay]
//
// A fault is planted while the simulation is bundled; no file is changed. SIM_SEEDS seeds are tried.
// The directory has the list, and the simulation in simulate.ts.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { build } from 'esbuild';

const SEEDS = Number(process.env.SIM_SEEDS ?? 300);
const [NAME = '', HERE = import.meta.dirname] = process.argv.slice(2);

const faults = readFileSync(join(HERE, 'planted.txt'), 'utf8')
  .trimEnd()
  .split('\n\n')
  .slice(1)
  .map((text) => text.split('\n'))
  .filter(([name]) => name.includes(NAME));

/** Returns the source with the fault in it. */
function plant(source, replacements) {
  let planted = source;
  for (let i = 0; i < replacements.length; i += 2) {
    const before = planted;
    planted = planted.replaceAll(replacements[i].slice(2), () => replacements[i + 1].slice(2));
    if (planted === before) throw new Error(`no such text: ${replacements[i]}`);
  }
  return planted;
}

async function firstSeedThatFinds([, file, ...replacements]) {
  const plugin = {
    name: 'plant',
    setup: ({ onLoad }) =>
      onLoad({ filter: /\.ts$/ }, ({ path }) =>
        path.endsWith(`/${file}`)
          ? { contents: plant(readFileSync(path, 'utf8'), replacements), loader: 'ts' }
          : undefined,
      ),
  };
  const dir = mkdtempSync(join(tmpdir(), 'planted-'));
  try {
    const outfile = join(dir, 'simulate.mjs');
    const entryPoints = [join(HERE, 'simulate.ts')];
    const options = {
      bundle: true,
      platform: 'node',
      format: 'esm',
      mainFields: ['module', 'main'],
      logLevel: 'silent',
    };
    await build({ entryPoints, outfile, plugins: [plugin], ...options });
    const { simulate, SEEDS_AT_ONCE = 1 } = await import(pathToFileURL(outfile).href);
    for (let seed = 1; seed <= SEEDS; seed += SEEDS_AT_ONCE) {
      const seeds = Array.from({ length: SEEDS_AT_ONCE }, (_, i) => seed + i);
      const runs = await Promise.all(seeds.map(simulate));
      const i = runs.findIndex(({ violation }) => violation !== undefined);
      if (i >= 0) return `seed ${seed + i}: ${runs[i].violation.slice(0, 80)}`;
    }
    process.exitCode = 1;
    return 'NOT FOUND';
  } finally {
    rmSync(dir, { recursive: true });
  }
}

for (const fault of faults) {
  console.log(`${fault[0].padEnd(52)} ${await firstSeedThatFinds(fault)}`);
}
