import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { tempDir } from './temp-dir.ts';

const run = (program: string, ...args: string[]): void => void execFileSync(program, args);

/** Returns whether this process may mount. If not, prints a note; in CI, throws. */
export function canMount(): boolean {
  const root = process.platform === 'linux' && process.getuid?.() === 0;
  if (!root && process.env['CI']) throw new Error('CI must test a full disk: run as root on Linux');
  if (!root) console.warn('SKIPPED: tests of small disks; they need root, to mount them');
  return root;
}

/** Returns whether this process may make ext4 disks, which need more than the right to mount. */
export const canMountThin = (): boolean =>
  canMount() && existsSync('/dev/loop-control') && spawnSync('mkfs.ext4', ['-V']).status === 0;

/**
 * Makes a mounted file system read-only or writable, or changes the size of a tmpfs (`size=64M`).
 * Making it read-only fails while a file is open for writing.
 */
export const remount = (dir: string, how: 'ro' | 'rw' | `size=${number}M`): void =>
  run('mount', '-o', `remount,${how}`, dir);

/** Mounts a file system of this many bytes (tmpfs) until the test ends. */
export function smallDisk(bytes: number): string {
  const dir = tempDir();
  run('mount', '-t', 'tmpfs', '-o', `size=${bytes},mode=0750`, 'viewlog-test', dir);
  onTestFinished(() => run('umount', '--lazy', dir));
  return dir;
}

/**
 * Mounts an ext4 of 64 MiB until the test ends. Its data is in a file in the directory `backing`:
 * if that disk is smaller, writes succeed until a sync fails.
 */
export function ext4({ backing = tempDir() } = {}) {
  const image = join(backing, 'image');
  const dir = tempDir();
  run('truncate', '--size=64M', image);
  run('mkfs.ext4', '-q', '-E', 'lazy_itable_init=0,nodiscard', image);
  const mount = (): void => run('mount', '-o', 'loop', image, dir);
  mount();
  onTestFinished(() => run('umount', '--lazy', dir));
  return {
    dir,
    remount(): void {
      run('umount', dir);
      mount();
    },
    /** Makes writes wait from now on, as on hardware that doesn't answer. */
    hang: () => run('fsfreeze', '--freeze', dir),
    goOn: () => run('fsfreeze', '--unfreeze', dir),
  };
}
