import { spawnSync } from 'node:child_process';
import { chownSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { exampleOf, fileOf } from '../../support/examples.ts';
import { BUN, BUNDLE, DENO, EXECUTABLE, isHere, isPresent, NODE } from '../../support/runtimes.ts';
import { tempDir } from '../../support/temp-dir.ts';
import { canMount } from '../../support/small-disk.ts';
import { dataDirectory, start, startProgram } from '../../support/viewlog.ts';

/** Returns the values of a key in the unit, one per line. */
const valuesOf = (unit: string, key: string): string[] =>
  Array.from(unit.matchAll(new RegExp(`^${key}=(.*)$`, 'gm')), ([, value]) => value!);

describe.skipIf(!isHere('/usr/bin/systemd-analyze'))('systemd', () => {
  function verify(unit: string): unknown {
    const args = ['verify', fileOf('viewlog.service', unit)];
    const { status, stderr } = spawnSync('systemd-analyze', args, { encoding: 'utf8' });
    return [status, stderr];
  }

  it.each([NODE, DENO, BUN, EXECUTABLE])('accepts the unit that %s prints', async (runtime) => {
    if (!isPresent(runtime)) return;
    expect(verify(await exampleOf('systemd', [], { runtime }))).toStrictEqual([0, '']);
  });

  it.each([
    ['--host 0.0.0.0 --port 80 --status [::1]:81', 'AmbientCapabilities=CAP_NET_BIND_SERVICE'],
    ['--store nats://user:s3cret@host', 'EnvironmentFile=/etc/viewlog.env'],
  ])('accepts the unit for %s, with %s', async (options, only) => {
    const unit = await exampleOf('systemd', options.split(' '));
    expect(verify(unit)).toStrictEqual([0, '']);
    expect(unit).toContain(`\n${only}\n`);
    expect(await exampleOf('systemd')).not.toContain(only.split('=')[0]);
  });
});

describe('the unit', () => {
  it('runs this viewlog with the chosen settings and checks the same projects file', async () => {
    const data = dataDirectory();
    const args = ['--port=9000', '--max-view=64KiB', '--projects=p.json', '--durability=disk'];
    const unit = await exampleOf('systemd', args, { data, env: { VIEWLOG_KEEP_DAYS: '30' } });
    const run = `${process.execPath} ${BUNDLE}`;
    const own = `--data ${data} --projects ${data}/p.json`;
    expect(valuesOf(unit, 'ExecStart')).toStrictEqual([
      `${run} serve --port 9000 ${own} --durability disk --max-view 64KiB --keep-days 30`,
    ]);
    expect(valuesOf(unit, 'ExecReload')).toContain(`${run} check ${own}`);
  });

  it('names the program itself, not a link to it', async () => {
    const link = join(tempDir(), 'viewlog');
    symlinkSync(BUNDLE, link);
    const runtime = { ...NODE, command: (): [string, string] => [process.execPath, link] };
    const unit = await exampleOf('systemd', [], { runtime });
    expect(valuesOf(unit, 'ExecStart')[0]).toContain(` ${BUNDLE} serve `);
  });

  it.skipIf(process.getuid?.() !== 0)('runs as the owner of the data directory', async () => {
    const data = dataDirectory();
    chownSync(data, 1, 2);
    expect(await exampleOf('systemd', [], { data })).toContain('\nUser=daemon\nGroup=bin\n');
    chownSync(data, 54_321, 54_322);
    expect(await exampleOf('systemd', [], { data })).toContain('\nUser=54321\nGroup=54322\n');
  });

  it('lets viewlog see a directory below /home through a link', async () => {
    const data = join(tempDir(), 'link');
    symlinkSync('/root', data);
    const { stdout } = await start(['example', 'systemd', '--data', data], tempDir(), {}).ended;
    expect(valuesOf(stdout, 'ProtectHome')).toStrictEqual(['read-only']);
  });
});

it.skipIf(!canMount())(
  'a booted systemd starts, reloads and restarts viewlog without losing a view',
  async () => {
    const { ended } = startProgram(['bash', join(import.meta.dirname, 'booted-systemd.sh')]);
    const { code, stdout, stderr } = await ended;
    expect([code, stdout + stderr]).toStrictEqual([0, expect.stringContaining('systemd runs it')]);
  },
);
