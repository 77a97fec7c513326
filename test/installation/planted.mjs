// Plants one fault of planted.txt at a time in a copy of viewlog, and prints which seed finds it first:
//
//   node test/installation/planted.mjs [a part of a fault's name]
//
// INSTALLATION_SEEDS seeds are tried, with the installations' fault that the list names.
import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { faultsIn, plant } from '../simulation/planted.mjs';

const [NAME = ''] = process.argv.slice(2);
const ROOT = join(import.meta.dirname, '../..');
const WORLD = 'test/installation/installations.world.ts';

/** Builds a viewlog with the fault; returns the directory. */
function build({ file, replacements }) {
  const dir = mkdtempSync(join(tmpdir(), 'planted-'));
  for (const name of ['src', 'data', 'build.mjs', 'package.json', 'LICENSE']) {
    cpSync(join(ROOT, name), join(dir, name), { recursive: true });
  }
  symlinkSync(join(ROOT, 'node_modules'), join(dir, 'node_modules'));
  const path = join(dir, file);
  writeFileSync(path, plant(readFileSync(path, 'utf8'), replacements));
  execFileSync('node', ['build.mjs'], { cwd: dir, stdio: 'ignore' });
  return dir;
}

function firstSeedThatFinds(fault) {
  const dir = build(fault);
  try {
    const env = {
      INSTALLATION_SEEDS: '8',
      ...process.env,
      INSTALLATION_BUNDLE: join(dir, 'dist/viewlog.mjs'),
      INSTALLATION_FAULT: fault.finders,
      NO_COLOR: '1',
    };
    const args = ['run', '--config', 'test/vitest.config.ts', '--bail=1', WORLD];
    const run = spawnSync('node_modules/.bin/vitest', args, { cwd: ROOT, env, encoding: 'utf8' });
    const output = `${run.stdout}\n${run.stderr}`;
    const [, seed] = /× (seed \d+)/.exec(output) ?? [];
    const [, name, why = ''] = /^ *Error: (.*?), \{.*\}\n(.*)$/m.exec(output) ?? [];
    if (seed !== undefined) return `${seed}: ${name}: ${why.slice(0, 120)}`;
    process.exitCode = 1;
    return 'NOT FOUND';
  } finally {
    rmSync(dir, { recursive: true });
  }
}

for (const fault of faultsIn(import.meta.dirname).filter(({ name }) => name.includes(NAME))) {
  console.log(`${fault.name.padEnd(52)} ${firstSeedThatFinds(fault)}`);
}
