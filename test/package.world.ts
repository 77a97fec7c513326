import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { read, ROOT } from './support/documents.ts';
import { BUNDLE } from './support/runtimes.ts';
import { tempDir } from './support/temp-dir.ts';

// Tests the package, and the notes of a release.

const { version: VERSION } = JSON.parse(read('package.json')) as { version: string };

/** Runs npm without a registry, and without the user's settings. */
function npm(...args: string[]): string {
  const home = tempDir();
  const env = { PATH: process.env['PATH'], HOME: home, npm_config_cache: join(home, 'cache') };
  const options = [...args, '--offline', '--ignore-scripts', '--no-audit', '--no-fund'];
  return execFileSync('npm', options, { cwd: ROOT, env, encoding: 'utf8', stdio: 'pipe' });
}

it(
  'the package contains only the intended files and puts viewlog on the PATH',
  { timeout: 120_000 },
  () => {
    const dir = tempDir();
    const [{ files }] = JSON.parse(npm('pack', '--json', '--pack-destination', dir)) as [
      { files: { path: string }[] },
    ];
    expect(files.map(({ path }) => path).toSorted()).toStrictEqual([
      'LICENSE',
      'README.md',
      'data/projects.schema.json',
      'data/report.schema.json',
      'data/view.schema.json',
      'dist/THIRD_PARTY_LICENSES',
      'dist/viewlog.mjs',
      'package.json',
    ]);
    const prefix = join(dir, 'usr');
    npm('install', '--global', '--prefix', prefix, join(dir, `viewlog-${VERSION}.tgz`));
    const installed = join(prefix, 'lib/node_modules/viewlog');
    expect(readFileSync(join(installed, 'dist/viewlog.mjs'))).toStrictEqual(readFileSync(BUNDLE));
    expect(existsSync(join(installed, 'node_modules'))).toBe(false);
    const env = { PATH: `${join(prefix, 'bin')}:${process.env['PATH']!}` };
    const said = execFileSync('sh', ['-c', 'viewlog --version'], {
      cwd: dir,
      env,
      encoding: 'utf8',
    });
    expect(said).toContain(`viewlog ${VERSION}`);
  },
);

it("release-notes prints the notes of the package's version and refuses any other version", () => {
  const notes = (version: string) =>
    spawnSync(join(ROOT, '.ci/release-notes'), [version], { encoding: 'utf8' });
  const { status, stdout } = notes(VERSION);
  expect(status).toBe(0);
  expect(stdout).toMatch(/\S/);
  expect(stdout).not.toMatch(/^## /m);
  expect(notes('9.9.9')).toMatchObject({
    status: 1,
    stdout: '',
    stderr: "error: package.json doesn't have version 9.9.9\n",
  });
});
