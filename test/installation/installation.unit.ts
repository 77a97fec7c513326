import { chownSync, writeFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { ownUnit, readAnnounced, unitUser } from '../../src/installation/installation.ts';
import { ARCHIVE_OPTIONS } from '../../src/run-archive.ts';
import { chosenOptions, readArguments, SERVE_OPTIONS } from '../../src/settings.ts';
import { tempDir } from '../support/temp-dir.ts';

it('readAnnounced reads the answer of another process and tolerates missing and invalid fields', () => {
  const least = {
    role: 'collector',
    version: '',
    program: [],
    chosen: {},
    pid: 7,
    sinceMs: 1,
  };
  const read = (fields: object) => readAnnounced(JSON.stringify({ pid: 7, sinceMs: 1, ...fields }));
  expect(read({})).toMatchObject(least);
  expect(
    read({ role: 'king', version: 1, program: 'sh', chosen: { '--x; rm': 1 }, address: {} }),
  ).toMatchObject(least);
  expect(read({ data: 'x'.repeat(5000) })?.data).toBeUndefined();
  // The usual process id in a container.
  expect(read({ pid: 1 })).toMatchObject({ ...least, pid: 1 });
  for (const pid of [0, -1, 1.5, '7', undefined]) expect(read({ pid })).toBeUndefined();
  expect(readAnnounced('{')).toBeUndefined();
});

it.skipIf(process.getuid?.() !== 0)(
  "ownUnit accepts a unit only if root's own file of that name runs this viewlog",
  () => {
    const [first, second] = [tempDir(), tempDir()];
    const unit = (exec: string, dir = second): string => {
      writeFileSync(`${dir}/v.service`, `[Service]\nExecStart=${exec}\n`);
      return `${dir}/v.service`;
    };
    const known = (name = 'v.service') => ownUnit(name, ['/data', '/v.mjs'], [first, second]);
    unit('/usr/bin/node /v.mjs serve --data /data');
    expect(known()).toBe('v.service');
    expect([known('reboot.target'), known('../v.service'), known('w.service')]).toStrictEqual([
      undefined,
      undefined,
      undefined,
    ]);
    unit('/usr/bin/node /w.mjs serve --data /database');
    expect(known()).toBeUndefined();
    unit('/v.mjs --data=/data');
    expect(known()).toBe('v.service');
    chownSync(`${second}/v.service`, 4711, 0);
    expect(known()).toBeUndefined();
    chownSync(`${second}/v.service`, 0, 0);
    // A unit in an earlier directory overrides the other unit.
    unit('/bin/true', first);
    expect(known()).toBeUndefined();
  },
);

it.skipIf(process.getuid?.() !== 0)(
  'unitUser finds the account in the unit that runs this viewlog, by its name or id',
  () => {
    const dir = tempDir();
    const userIn = (lines: string, data = '/data') => {
      writeFileSync(`${dir}/viewlog.service`, `[Service]\n${lines}\nExecStart=/v --data ${data}\n`);
      return unitUser(['/data'], [dir])?.name;
    };
    const lines = ['User=daemon', ' User = 1 ', 'Group=daemon', 'User=nobody-here', '#User=daemon'];
    expect(lines.map((line) => userIn(line))).toStrictEqual([
      'daemon',
      'daemon',
      undefined,
      undefined,
      undefined,
    ]);
    expect(userIn('User=daemon', '/other')).toBeUndefined();
  },
);

it('chosenOptions keeps the options from flags and variables but never a password', () => {
  const chosenBy = (args: string[], env: Record<string, string> = {}) =>
    chosenOptions(readArguments(args).flags, SERVE_OPTIONS, (name) => env[name]);
  expect(
    chosenBy(['--port=1', '--data=d', '--status-token-file=t'], {
      VIEWLOG_MAX_VIEW: '32KiB',
      VIEWLOG_PORT: '2',
      VIEWLOG_LOG: '',
    }),
  ).toStrictEqual({
    port: { text: '1', from: 'flag' },
    'max-view': { text: '32KiB', from: 'variable' },
    'status-token-file': { text: `${process.cwd()}/t`, from: 'flag' },
  });
  // Options for a single run are left out.
  const once = readArguments(['--once', '--restore=2026-01-31', '--min-free=1MiB']).flags;
  const archived = chosenOptions(once, ARCHIVE_OPTIONS, () => undefined);
  expect(Object.keys(archived)).toStrictEqual(['min-free']);
  const store = (address: string) => chosenBy([`--store=${address}`])['store']?.text;
  expect(store('nats://n:4222')).toBe('nats://n:4222');
  expect(store('nats://me:secret@n:4222')).toBeUndefined();
});
