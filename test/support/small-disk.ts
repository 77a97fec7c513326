import { execFileSync, spawnSync } from 'node:child_process';
import { closeSync, existsSync, openSync, truncateSync } from 'node:fs';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { tempDir } from './temp-dir.ts';

/** Whether this process may mount; where it may not, the suite must say so, and CI must not pass. */
export function canMount(): boolean {
  const root = process.platform === 'linux' && process.getuid?.() === 0;
  if (!root && process.env['CI']) throw new Error('CI must test a full disk: run as root on Linux');
  return root;
}

/** A real file system of this many bytes (tmpfs), unmounted when the test is over. */
export function smallDisk(bytes: number): string {
  const dir = tempDir();
  execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${bytes},mode=0750`, 'viewlog-test', dir]);
  onTestFinished(() => void execFileSync('umount', ['--lazy', dir]));
  return dir;
}

/** Whether there is what `thinDisk` needs beyond the right to mount. */
export const canMountThin = (): boolean =>
  canMount() && existsSync('/dev/loop-control') && spawnSync('mkfs.ext4', ['-V']).status === 0;

/**
 * An ext4 of 64 MiB on top of some 8 MiB: writes succeed, and at some point a sync fails. Not
 * without its journal: ext4 then forgets on fsync which of the blocks had been written.
 */
export function thinDisk(): { readonly dir: string; remount(): void } {
  const backing = smallDisk(12 * 1024 * 1024);
  const image = join(backing, 'image');
  const dir = tempDir();
  closeSync(openSync(image, 'w'));
  truncateSync(image, 64 * 1024 * 1024);
  execFileSync('mkfs.ext4', ['-q', '-E', 'lazy_itable_init=0,nodiscard', image]);
  const mount = (): void => void execFileSync('mount', ['-o', 'loop', image, dir]);
  mount();
  onTestFinished(() => void execFileSync('umount', ['--lazy', dir]));
  return {
    dir,
    remount() {
      execFileSync('umount', [dir]);
      mount();
    },
  };
}
