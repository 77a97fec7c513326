import * as fs from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import {
  doctor,
  installation,
  isRoot,
  namesIn,
  type RunOptions,
  SERVICE,
} from '../support/doctor.ts';
import { BUNDLE } from '../support/runtimes.ts';
import { canMount, canMountThin, ext4, remount, smallDisk } from '../support/small-disk.ts';
import { tempDir } from '../support/temp-dir.ts';

// `viewlog doctor` with other users, disks and clocks.

const MiB = 1024 * 1024;

describe.skipIf(!isRoot)('users', () => {
  const elsewhere = (): NonNullable<RunOptions['command']> => {
    const dir = tempDir();
    fs.chmodSync(dir, 0o755);
    fs.copyFileSync(BUNDLE, join(dir, 'viewlog.mjs'));
    return [process.execPath, join(dir, 'viewlog.mjs')];
  };

  it('are named to root, and to the user itself', async () => {
    const data = installation();
    const line = 'ok user: #4711 owns the data directory, so viewlog runs as #4711';
    expect((await doctor(data)).line('user')).toBe(line);
    const own = await doctor(data, [], { user: SERVICE, command: elsewhere() });
    expect([own.code, own.line('user')]).toStrictEqual([0, line]);
    expect(own.line('data directory')).toMatch(/^ok /);
    expect(namesIn(data)).toStrictEqual(['projects.json']);
  });

  it('who may not write there get an error', async () => {
    const data = installation();
    fs.chmodSync(data, 0o755);
    const user = { uid: 4713, gid: 4713 };
    const { code, line } = await doctor(data, [], { user, command: elsewhere() });
    expect(code).toBe(78);
    expect(line('user')).toContain(
      `this runs as #4713, and may see less. sudo -u '#4711' viewlog doctor --host`,
    );
    expect(line('data directory')).toMatch(
      /^error data directory: ".*" cannot be written to: EACCES: .*Run viewlog and this as its owner, #4711$/,
    );
    expect(line('write and sync')).toBe('');
    fs.chmodSync(join(data, '..'), 0o700);
    for (const dir of [data, `${data}/below`]) {
      const shut = await doctor(dir, [], { user: SERVICE, command: elsewhere() });
      expect(shut.outcome('data directory')).toMatch(
        /^78 .*cannot be written to: EACCES: .*Correct --data, run this as the/,
      );
    }
  });

  it('who own a directory that they cannot write to are told, by root too', async () => {
    const data = installation();
    fs.chmodSync(data, 0o550);
    const { outcome } = await doctor(data);
    expect(outcome('data directory')).toMatch(/^78 error /);
    expect(outcome('data directory')).toContain(
      `cannot be written to by its owner, #4711; viewlog does not start, or refuses every view. sudo chmod u+rwx ${data}`,
    );
  });

  it('cannot use what root has left there, until the printed commands are run', async () => {
    const data = installation();
    fs.writeFileSync(join(data, 'views-2026-01-31.ndjson'), '', { mode: 0o600 });
    const { code, lines } = await doctor(data);
    const found = lines.filter((line) => line.includes('  permissions: '));
    expect([code, found.length]).toStrictEqual([0, 2]);
    const { execSync } = await import('node:child_process');
    for (const line of found) execSync(line.slice(line.indexOf('. sudo ') + 7));
    expect((await doctor(data)).line('permissions')).toBe('');
    const { uid, gid, mode } = fs.statSync(join(data, 'views-2026-01-31.ndjson'));
    expect([uid, gid, mode & 0o777]).toStrictEqual([4711, 4712, 0o640]);
  });
});

describe.skipIf(!canMount())('a disk', () => {
  it('that is memory, or too small for --min-free, is told', async () => {
    const data = installation(undefined, smallDisk(60 * MiB));
    const { line, outcome } = await doctor(data);
    expect(outcome()).toMatch(
      /^78 error free space: .*can never have more than 60 MiB free\. Start viewlog with --min-free 7MiB, /,
    );
    expect(line('file system')).toMatch(/^warning file system: .* on tmpfs; it is memory, /);
    expect(line('write and sync')).toBe('');
    expect((await doctor(data, ['--min-free=7MiB'])).code).toBe(0);
  });

  it('that can only be read is an error', async () => {
    const data = installation(undefined, smallDisk(256 * MiB));
    remount(data, 'ro');
    const { outcome } = await doctor(data);
    remount(data, 'rw');
    expect(outcome('data directory')).toMatch(
      /^78 .*cannot be written to: EROFS.*Mount the file system read-write/,
    );
  });

  it.skipIf(!canMountThin())('without a journal is told from one with it', async () => {
    const without = await doctor(installation(undefined, ext4({ features: '^has_journal' }).dir));
    expect(without.line('file system')).toMatch(
      /^warning file system: .* on ext4 without a journal; /,
    );
    const sound = await doctor(installation(undefined, ext4().dir));
    expect(sound.line('file system')).toBe('ok file system: The data directory is on ext4');
  });
});
