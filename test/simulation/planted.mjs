// Plants one fault of planted.txt at a time and prints which seed finds it first:
//
//   node test/simulation/planted.mjs [a part of a fault's name] [a directory: test/replay]
//
// Plants a fault while it bundles the simulation and changes no file. Tries SIM_SEEDS seeds. The
// directory has the list of faults, and the simulation in simulate.ts.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { build } from 'esbuild';

const SEEDS = Number(process.env.SIM_SEEDS ?? 200);

/**
 * Returns the faults in a directory's list; `finders` follows a fault's name: ` | finders`.
 * @param {string} directory
 */
export function faultsIn(directory) {
  const [, ...texts] = readFileSync(join(directory, 'planted.txt'), 'utf8').trimEnd().split('\n\n');
  return texts.map((text) => {
    const [title = '', file = '', ...replacements] = text.split('\n');
    const [name = '', finders = ''] = title.split(' | ');
    return { name, finders, file, replacements };
  });
}

/**
 * Returns the source with the fault in it.
 * @param {string} source
 * @param {readonly string[]} replacements
 * @throws if a piece that is to be replaced isn't in the source exactly once.
 */
export function plant(source, replacements) {
  let planted = source;
  for (let i = 0; i < replacements.length; i += 2) {
    const parts = planted.split(replacements[i].slice(2));
    if (parts.length !== 2) throw new Error(`${parts.length - 1} times: ${replacements[i]}`);
    planted = parts.join(replacements[i + 1].slice(2));
  }
  return planted;
}

async function firstSeedThatFinds({ file, replacements }, directory) {
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
    const entryPoints = [join(directory, 'simulate.ts')];
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

if (process.argv[1] === import.meta.filename) {
  const [part = '', directory = import.meta.dirname] = process.argv.slice(2);
  for (const fault of faultsIn(directory).filter(({ name }) => name.includes(part))) {
    console.log(`${fault.name.padEnd(52)} ${await firstSeedThatFinds(fault, directory)}`);
  }
}
