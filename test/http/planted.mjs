// Plants one fault of planted.txt at a time in a copy of viewlog, and prints which test finds it first:
//
//   node test/http/planted.mjs [a part of a fault's name]
//
// The tests are Node's, and the table of connections with the rows of the runtimes that the list names.
import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { faultsIn, plant } from '../simulation/planted.mjs';

const [NAME = ''] = process.argv.slice(2);
const ROOT = join(import.meta.dirname, '../..');
const PARTS = ['src', 'test', 'data', 'build.mjs', 'package.json', 'LICENSE'];
const TESTS = ['http/node.unit', 'http/connections.world'];

function finderOf({ file, finders, replacements }) {
  const dir = mkdtempSync(join(tmpdir(), 'planted-'));
  try {
    for (const part of PARTS) cpSync(join(ROOT, part), join(dir, part), { recursive: true });
    for (const part of ['node_modules', '.ci']) symlinkSync(join(ROOT, part), join(dir, part));
    writeFileSync(join(dir, file), plant(readFileSync(join(dir, file), 'utf8'), replacements));
    execFileSync('node', ['build.mjs'], { cwd: dir, stdio: 'ignore' });
    const args = ['run', '--config', 'test/vitest.config.ts', '--bail=1', ...TESTS];
    const env = { ...process.env, TABLE_RUNTIMES: finders, NO_COLOR: '1' };
    const options = { cwd: dir, env, encoding: 'utf8' };
    const { stdout, stderr } = spawnSync('node_modules/.bin/vitest', args, options);
    const [, test] = /^ *FAIL +\S+ +(.*)$/m.exec(`${stdout}\n${stderr}`) ?? [];
    const [, row = ''] = /^\+ +"(.*)",$/m.exec(`${stdout}\n${stderr}`) ?? [];
    if (test !== undefined) return `${test} ${row}`;
    process.exitCode = 1;
    return 'NOT FOUND';
  } finally {
    rmSync(dir, { recursive: true });
  }
}

for (const fault of faultsIn(import.meta.dirname).filter(({ name }) => name.includes(NAME))) {
  console.log(`${fault.name.padEnd(60)} ${finderOf(fault)}`);
}
