// Plants one fault of DIRECTORY/planted.txt at a time in a copy of viewlog and prints which test
// finds it first:
//
//   node test/planted.mjs test/http|test/installation [a part of a fault's name]
import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { faultsIn, plant } from './simulation/planted.mjs';

const [DIRECTORY = '', PART = ''] = process.argv.slice(2);
const ROOT = join(import.meta.dirname, '..');
const COPIED = ['src', 'test', 'data', 'build.mjs', 'package.json', 'LICENSE'];
/** The tests of each directory, and the variable that selects those that a fault's line names. */
const FINDERS = {
  'test/http': { tests: ['http/node.unit', 'http/connections.world'], variable: 'TABLE_RUNTIMES' },
  'test/installation': {
    tests: ['installation/installations.world'],
    variable: 'INSTALLATION_FAULT',
  },
};

function finderOf({ file, finders, replacements }) {
  const { tests, variable } = FINDERS[DIRECTORY];
  const dir = mkdtempSync(join(tmpdir(), 'planted-'));
  try {
    for (const name of COPIED) cpSync(join(ROOT, name), join(dir, name), { recursive: true });
    for (const name of ['node_modules', '.ci']) symlinkSync(join(ROOT, name), join(dir, name));
    writeFileSync(join(dir, file), plant(readFileSync(join(dir, file), 'utf8'), replacements));
    execFileSync('node', ['build.mjs'], { cwd: dir, stdio: 'ignore' });
    const args = ['run', '--config', 'test/vitest.config.ts', '--bail=1', ...tests];
    const env = { ...process.env, [variable]: finders, NO_COLOR: '1' };
    const options = { cwd: dir, env, encoding: 'utf8' };
    const { stdout, stderr } = spawnSync('node_modules/.bin/vitest', args, options);
    const output = `${stdout}\n${stderr}`;
    const [, test] = /^ *FAIL +\S+ +(.*)$/m.exec(output) ?? [];
    // A row of the table, or what happened to an installation.
    const [, row, cause = ''] = /^\+ +"(.*)",$|^ *Error: .*\n(.*)$/m.exec(output) ?? [];
    if (test !== undefined) return `${test}: ${(row ?? cause).slice(0, 120)}`;
    process.exitCode = 1;
    return 'NOT FOUND';
  } finally {
    rmSync(dir, { recursive: true });
  }
}

for (const fault of faultsIn(DIRECTORY).filter(({ name }) => name.includes(PART))) {
  console.log(`${fault.name.padEnd(60)} ${finderOf(fault)}`);
}
