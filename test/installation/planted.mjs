// Plants one fault of command-faults.txt at a time in a copy of viewlog, and prints which seed finds it first:
//
//   node test/installation/planted.mjs [a part of a fault's name]
//
// INSTALLATION_SEEDS seeds are tried. Each fault has a name, the installations' fault to try first, a
// file, and the text that is replaced.
import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const [NAME = ''] = process.argv.slice(2);
const ROOT = join(import.meta.dirname, '../..');
const WORLD = 'test/installation/installations.world.ts';

const planted = readFileSync(join(import.meta.dirname, 'command-faults.txt'), 'utf8')
  .trimEnd()
  .split('\n\n')
  .slice(1)
  .map((text) => text.split('\n'))
  .filter(([name]) => name.includes(NAME));

/** Builds a viewlog with the fault; returns the directory. */
function build(file, from, to) {
  const dir = mkdtempSync(join(tmpdir(), 'planted-'));
  for (const name of ['src', 'data', 'build.mjs', 'package.json', 'LICENSE']) {
    cpSync(join(ROOT, name), join(dir, name), { recursive: true });
  }
  symlinkSync(join(ROOT, 'node_modules'), join(dir, 'node_modules'));
  const text = readFileSync(join(dir, file), 'utf8');
  if (!text.includes(from)) throw new Error(`no such text: ${from}`);
  writeFileSync(
    join(dir, file),
    text.replaceAll(from, () => to),
  );
  execFileSync('node', ['build.mjs'], { cwd: dir, stdio: 'ignore' });
  return dir;
}

function firstSeedThatFinds([, fault, file, from, to]) {
  const dir = build(file, from.slice(2), to.slice(2));
  try {
    const env = {
      INSTALLATION_SEEDS: '8',
      ...process.env,
      INSTALLATION_BUNDLE: join(dir, 'dist/viewlog.mjs'),
      INSTALLATION_FAULT: fault,
      NO_COLOR: '1',
    };
    const args = ['run', '--config', 'test/vitest.config.ts', '--bail=1', WORLD];
    const { stdout } = spawnSync('node_modules/.bin/vitest', args, { cwd: ROOT, env });
    const [, seed] = /× (seed \d+)/.exec(stdout) ?? [];
    const [, why = ''] = /^Error: (.*)$/m.exec(String(stdout)) ?? [];
    if (seed !== undefined) return `${seed}: ${why.slice(0, 120)}`;
    process.exitCode = 1;
    return 'NOT FOUND';
  } finally {
    rmSync(dir, { recursive: true });
  }
}

for (const fault of planted) {
  console.log(`${fault[0].padEnd(44)} ${firstSeedThatFinds(fault)}`);
}
