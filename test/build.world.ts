import { execFileSync, spawnSync } from 'node:child_process';
import { appendFileSync, cpSync, existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { ROOT } from './support/documents.ts';
import { isPresent, NODES, NODE, type Runtime } from './support/runtimes.ts';
import { tempDir } from './support/temp-dir.ts';

// The output of builds, in checkouts of the last commit.

/** The packages that a build reads. */
const PACKAGES = ['@esbuild', '@hono', '@nats-io', 'esbuild', 'hono', 'idiomorph'].concat([
  'jsonc-parser',
  'valibot',
]);

function checkout(): string {
  const dir = join(tempDir(), 'checkout');
  execFileSync('git', ['-c', 'safe.directory=*', 'clone', '--quiet', ROOT, dir]);
  mkdirSync(join(dir, 'node_modules'));
  for (const name of PACKAGES) {
    // Copies the packages, because the bundle names the files of some of them.
    cpSync(join(ROOT, 'node_modules', name), join(dir, 'node_modules', name), { recursive: true });
  }
  return dir;
}

function build(dir: string, args: readonly string[] = [], { program }: Runtime = NODE) {
  const { status, stderr } = spawnSync(program, ['build.mjs', ...args], {
    cwd: dir,
    encoding: 'utf8',
  });
  return { status, stderr };
}

const built = (dir: string, name = 'viewlog.mjs') => readFileSync(join(dir, 'dist', name));

it('two checkouts of a commit make the same bundle on every Node', { timeout: 120_000 }, () => {
  const first = checkout();
  expect(build(first)).toStrictEqual({ status: 0, stderr: '' });
  const other = checkout();
  for (const node of NODES.slice(1).filter(isPresent)) {
    expect(build(other, [], node)).toStrictEqual({ status: 0, stderr: '' });
    expect(built(other).equals(built(first))).toBe(true);
    expect(built(other, 'THIRD_PARTY_LICENSES')).toStrictEqual(
      built(first, 'THIRD_PARTY_LICENSES'),
    );
  }
});

it('a build names its commit even in a checkout that belongs to another user', () => {
  const dir = checkout();
  if (process.getuid?.() === 0) execFileSync('chown', ['-R', '4711:4711', dir]);
  expect(build(dir, ['--release'])).toStrictEqual({ status: 0, stderr: '' });
  const said = execFileSync(process.execPath, [join(dir, 'dist/viewlog.mjs'), 'version'], {
    encoding: 'utf8',
  });
  const commit = execFileSync('git', ['-C', ROOT, '-c', 'safe.directory=*', 'rev-parse', 'HEAD']);
  expect(said).toContain(` (${commit.toString().slice(0, 7)})`);
});

it('activating a project in a clone changes neither the commit that a build names nor its bundle', () => {
  const dir = checkout();
  expect(build(dir)).toStrictEqual({ status: 0, stderr: '' });
  const before = built(dir);
  const options = { cwd: dir, encoding: 'utf8' } as const;
  execFileSync(process.execPath, ['dist/viewlog.mjs', 'activate', '77', '--name=A site'], options);
  const changed = execFileSync('git', ['status', '--porcelain', '-uno'], options);
  expect(changed).toBe(' M data/projects.json\n');
  expect(build(dir, ['--release'])).toStrictEqual({ status: 0, stderr: '' });
  expect(built(dir).equals(before)).toBe(true);
});

it('a release build refuses changed files and an unknown commit; other builds only warn', () => {
  const dir = checkout();
  appendFileSync(join(dir, 'README.md'), 'changed\n');
  const refused = /^error: a release needs a known, unchanged commit: /;
  expect(build(dir, ['--release'])).toMatchObject({
    status: 1,
    stderr: expect.stringMatching(refused),
  });
  rmSync(join(dir, '.git'), { recursive: true });
  expect(build(dir, ['--release'])).toMatchObject({
    status: 1,
    stderr: expect.stringMatching(refused),
  });
  expect(existsSync(join(dir, 'dist'))).toBe(false);
  const warning = "warning: the build names no commit: this isn't a git checkout\n";
  expect(build(dir)).toStrictEqual({ status: 0, stderr: warning });
});

it('--compile on an older Node names the version that it needs', () => {
  expect(build(ROOT, ['--compile'])).toStrictEqual({
    status: 1,
    stderr: `error: --compile needs Node 26 or later; this is Node ${process.versions.node}\n`,
  });
});
