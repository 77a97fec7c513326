import { spawnSync } from 'node:child_process';
import { chownSync, cpSync, realpathSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { exampleOf, fileOf } from '../../support/examples.ts';
import { BUN, BUNDLE, DENO, EXECUTABLE, isHere, isPresent, NODE } from '../../support/runtimes.ts';
import { tempDir } from '../../support/temp-dir.ts';
import { dataDirectory, start } from '../../support/viewlog.ts';

/** What the unit has under a key; of several lines each. */
const valuesOf = (unit: string, key: string): string[] =>
  Array.from(unit.matchAll(new RegExp(`^${key}=(.*)$`, 'gm')), ([, value]) => value!);

/** A data directory that makes use of what means something in a unit, a shell or YAML. */
function oddDirectory(): string {
  const data = join(tempDir(), `o'dd "dir" 100% $HOME \\n # : ü`);
  cpSync(dataDirectory(), data, { recursive: true });
  return data;
}

describe.skipIf(!isHere('/usr/bin/systemd-analyze'))('systemd takes the unit', () => {
  function verify(unit: string): unknown {
    const args = ['verify', fileOf('viewlog.service', unit)];
    // What it does not know it only mentions, and succeeds.
    const { status, stderr } = spawnSync('systemd-analyze', args, { encoding: 'utf8' });
    return [status, stderr];
  }

  it.each([NODE, DENO, BUN, EXECUTABLE])('as $name prints it', async (runtime) => {
    if (!isPresent(runtime)) return;
    expect(verify(await exampleOf('systemd', [], { runtime }))).toStrictEqual([0, '']);
  });

  it.each([
    ['an odd data directory', ['--projects', '/etc/a "b" 5%/p.json']],
    ['low ports', ['--host', '0.0.0.0', '--port', '80', '--status', '[::1]:81']],
    ['a stream', ['--store', 'nats://user:s3cret@host']],
  ])('for %s', async (_, args) => {
    const isStream = args.includes('--store');
    const options = isStream ? {} : { data: oddDirectory() };
    expect(verify(await exampleOf('systemd', args, options))).toStrictEqual([0, '']);
  });

  it('and says what it does not know, and where a program is missing', async () => {
    const unit = await exampleOf('systemd');
    expect(verify(unit.replace('UMask', 'Umsak'))).toStrictEqual([
      0,
      expect.stringContaining('Umsak'),
    ]);
    expect(verify(unit.replace('ExecStart=/', 'ExecStart=/no/'))).toStrictEqual([
      1,
      expect.stringContaining('not executable'),
    ]);
  });
});

describe('the unit', () => {
  it('runs this viewlog with these settings, and checks the same file', async () => {
    const data = dataDirectory();
    const args = ['--port=9000', '--max-view=64KiB', '--projects=p.json', '--durability=disk'];
    const unit = await exampleOf('systemd', args, { data, env: { VIEWLOG_KEEP_DAYS: '30' } });
    const run = `${process.execPath} ${BUNDLE}`;
    const own = `--data ${data} --projects ${data}/p.json`;
    expect(valuesOf(unit, 'ExecStart')).toStrictEqual([
      `${run} serve --port 9000 ${own} --max-view 64KiB --keep-days 30`,
    ]);
    expect(valuesOf(unit, 'ExecReload')).toStrictEqual([
      `${run} check ${own}`,
      '/bin/kill -HUP $MAINPID',
    ]);
  });

  it('names the file itself where a link leads to it', async () => {
    const link = join(tempDir(), 'viewlog');
    symlinkSync(BUNDLE, link);
    const runtime = { ...NODE, command: (): [string, string] => [process.execPath, link] };
    const unit = await exampleOf('systemd', [], { runtime });
    expect(valuesOf(unit, 'ExecStart')[0]).toContain(` ${BUNDLE} serve `);
    const executable = await exampleOf('systemd', [], { runtime: EXECUTABLE });
    expect(valuesOf(executable, 'ExecStart')[0]).toMatch(`${EXECUTABLE.program} serve --data`);
  });

  it('has an odd path as systemd reads it', async () => {
    const data = oddDirectory();
    const unit = await exampleOf('systemd', [], { data });
    const escaped = data.replaceAll('%', '%%').replace(/["\\]/g, '\\$&');
    expect(valuesOf(unit, 'ReadWritePaths')).toStrictEqual([`"${escaped}"`]);
    expect(valuesOf(unit, 'RequiresMountsFor')).toStrictEqual([`"${escaped}"`]);
    const [run = ''] = valuesOf(unit, 'ExecStart');
    expect(run.endsWith(` serve --data "${escaped.replaceAll('$', '$$$$')}"`)).toBe(true);
  });

  it.skipIf(process.getuid?.() !== 0)('runs as the owner of the data directory', async () => {
    const data = dataDirectory();
    chownSync(data, 1, 2);
    expect(await exampleOf('systemd', [], { data })).toContain('\nUser=daemon\nGroup=bin\n');
    chownSync(data, 54_321, 54_322);
    expect(await exampleOf('systemd', [], { data })).toContain('\nUser=54321\nGroup=54322\n');
  });

  it.each([
    ['/var/lib/viewlog', 'yes', 'yes', 'StateDirectory=viewlog'],
    ['/srv/viewlog', 'yes', 'yes', 'ReadWritePaths=/srv/viewlog'],
    ['/home/me/viewlog', 'read-only', 'yes', 'ReadWritePaths=/home/me/viewlog'],
    ['/var/tmp/viewlog', 'yes', 'no', 'ReadWritePaths=/var/tmp/viewlog'],
  ])('leaves %s to be seen and written', async (data, home, tmp, writable) => {
    const { stdout } = await start(['example', 'systemd', '--data', data], tempDir(), {}).ended;
    expect(valuesOf(stdout, 'ProtectSystem')).toStrictEqual(['strict']);
    expect(stdout).toContain(`\n${writable}\n`);
    expect(valuesOf(stdout, 'ProtectHome')).toStrictEqual([home]);
    // The program has to be seen, too.
    const isSeen = !/^\/(var\/)?tmp\//.test(realpathSync(BUNDLE));
    expect(valuesOf(stdout, 'PrivateTmp')).toStrictEqual([isSeen ? tmp : 'no']);
  });

  it('sees a directory below /home through a link', async () => {
    const data = join(tempDir(), 'link');
    symlinkSync('/root', data);
    const { stdout } = await start(['example', 'systemd', '--data', data], tempDir(), {}).ended;
    expect(valuesOf(stdout, 'ProtectHome')).toStrictEqual(['read-only']);
  });

  it.each([
    [['--port', '80'], ['CAP_NET_BIND_SERVICE']],
    [['--status', '127.0.0.1:81'], ['CAP_NET_BIND_SERVICE']],
    [['--status', 'off'], []],
    [['--port', '0'], []],
  ])('may use the port of %s', async (args, capabilities) => {
    const unit = await exampleOf('systemd', args);
    expect(valuesOf(unit, 'AmbientCapabilities')).toStrictEqual(capabilities);
    expect(valuesOf(unit, 'CapabilityBoundingSet')).toStrictEqual([capabilities[0] ?? '']);
  });

  it.each([
    [['--store', 'nats://host'], ['VIEWLOG_STORE']],
    [['--status', '0.0.0.0:81'], ['VIEWLOG_STATUS_TOKEN']],
    [['--status', '0.0.0.0:81', '--status-token-file', 't'], []],
    [[], []],
  ])('has what is secret from a file of its own: %s', async (args, names) => {
    const unit = await exampleOf('systemd', args);
    expect(valuesOf(unit, 'EnvironmentFile').length).toBe(names.length);
    for (const name of names) expect(unit).toContain(`${name}=… in it.\nEnvironmentFile=`);
  });

  it('does not try again what only the operator can mend', async () => {
    const unit = await exampleOf('systemd');
    expect(valuesOf(unit, 'RestartPreventExitStatus')).toStrictEqual(['64 73 78']);
    expect(valuesOf(unit, 'RestartForceExitStatus')).toStrictEqual(['SIGHUP']);
    expect(valuesOf(unit, 'Restart')).toStrictEqual(['on-failure']);
  });

  it('does not end a runtime that tries a call which it may not make', async () => {
    const unit = await exampleOf('systemd');
    expect(valuesOf(unit, 'SystemCallFilter')).toStrictEqual(['@system-service']);
    expect(valuesOf(unit, 'SystemCallErrorNumber')).toStrictEqual(['EPERM']);
  });
});
