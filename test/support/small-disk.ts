import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { onTestFinished } from 'vitest';
import { tempDir } from './temp-dir.ts';

const run = (program: string, ...args: string[]): void => void execFileSync(program, args);

/** Whether this process may mount; where it may not, the suite must say so, and CI must not pass. */
export function canMount(): boolean {
  const root = process.platform === 'linux' && process.getuid?.() === 0;
  if (!root && process.env['CI']) throw new Error('CI must test a full disk: run as root on Linux');
  if (!root) console.warn('SKIPPED: tests of small disks; they need root, to mount them');
  return root;
}

/** Whether there is what the ext4 disks need beyond the right to mount. */
export const canMountThin = (): boolean =>
  canMount() && existsSync('/dev/loop-control') && spawnSync('mkfs.ext4', ['-V']).status === 0;

/** Makes what is mounted there read-only, or not; not while a file is open for writing. */
export const remount = (dir: string, how: 'ro' | 'rw'): void =>
  run('mount', '-o', `remount,${how}`, dir);

/** A real file system of this many bytes (tmpfs), unmounted when the test is over. */
export function smallDisk(bytes: number): string {
  const dir = tempDir();
  run('mount', '-t', 'tmpfs', '-o', `size=${bytes},mode=0750`, 'viewlog-test', dir);
  onTestFinished(() => run('umount', '--lazy', dir));
  return dir;
}

/**
 * An ext4 of 64 MiB, unmounted when the test is over. It lies in a file in the directory `backing`:
 * on a smaller disk writes succeed, and at some point a sync fails. Not without a journal: ext4 then
 * forgets on fsync which of the blocks had been written.
 */
export function ext4({ backing = tempDir(), options = 'loop', features = 'has_journal' } = {}) {
  const image = join(backing, 'image');
  const dir = tempDir();
  run('truncate', '--size=64M', image);
  run('mkfs.ext4', '-q', '-O', features, '-E', 'lazy_itable_init=0,nodiscard', image);
  const mount = (): void => run('mount', '-o', options, image, dir);
  mount();
  onTestFinished(() => run('umount', '--lazy', dir));
  return {
    dir,
    remount(): void {
      run('umount', dir);
      mount();
    },
    /** From now on writes wait, as on hardware that does not answer. */
    hang: () => run('fsfreeze', '--freeze', dir),
    goOn: () => run('fsfreeze', '--unfreeze', dir),
    /** The system finds an error on it. With `errors=remount-ro`, open files are read-only then. */
    err(): void {
      const mounts = readFileSync('/proc/self/mounts', 'utf8').split('\n');
      const device = mounts.map((line) => line.split(' ')).find(([, at]) => at === dir)![0]!;
      writeFileSync(`/sys/fs/ext4/${basename(device)}/trigger_fs_error`, '1');
    },
  };
}
