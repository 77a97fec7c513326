import { execFileSync, spawnSync } from 'node:child_process';
import {
  closeSync,
  existsSync,
  openSync,
  readFileSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { basename, join } from 'node:path';
import { onTestFinished } from 'vitest';
import { tempDir } from './temp-dir.ts';

/** Returns whether this process may mount. If not, the suite says so, and CI fails. */
export function canMount(): boolean {
  const root = process.platform === 'linux' && process.getuid?.() === 0;
  if (!root && process.env['CI']) throw new Error('CI must test a full disk: run as root on Linux');
  return root;
}

/** Mounts a file system of this many bytes (tmpfs) until the test is over. */
export function smallDisk(bytes: number): string {
  const dir = tempDir();
  execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${bytes},mode=0750`, 'viewlog-test', dir]);
  onTestFinished(() => void execFileSync('umount', ['--lazy', dir]));
  return dir;
}

/** Returns whether the ext4 disks can be made, which need more than the right to mount. */
export const canMountThin = (): boolean =>
  canMount() && existsSync('/dev/loop-control') && spawnSync('mkfs.ext4', ['-V']).status === 0;

/** Makes a mounted file system read-only or writable. Fails while a file is open for writing. */
export function remount(dir: string, how: 'ro' | 'rw'): void {
  execFileSync('mount', ['-o', `remount,${how}`, dir]);
}

/** Creates an ext4 in a file of that directory; the caller mounts and unmounts it. */
function makeExt4(
  backing: string,
  options = 'loop',
): { readonly dir: string; readonly mount: () => void } {
  const image = join(backing, 'image');
  const dir = tempDir();
  closeSync(openSync(image, 'w'));
  truncateSync(image, 64 * 1024 * 1024);
  execFileSync('mkfs.ext4', ['-q', '-E', 'lazy_itable_init=0,nodiscard', image]);
  return { dir, mount: () => void execFileSync('mount', ['-o', options, image, dir]) };
}

/** Mounts a disk that can be made to hang: writes then wait, as on failing hardware. */
export function hangingDisk(): { readonly dir: string; hang(): void; goOn(): void } {
  const { dir, mount } = makeExt4(tempDir());
  mount();
  onTestFinished(() => void execFileSync('umount', ['--lazy', dir]));
  return {
    dir,
    hang: () => void execFileSync('fsfreeze', ['--freeze', dir]),
    goOn: () => void execFileSync('fsfreeze', ['--unfreeze', dir]),
  };
}

/** Mounts a disk on which the kernel can find an error, which makes it read-only. */
export function erringDisk(): { readonly dir: string; err(): void; remount(): void } {
  const { dir, mount } = makeExt4(tempDir(), 'loop,errors=remount-ro');
  mount();
  onTestFinished(() => void execFileSync('umount', ['--lazy', dir]));
  return {
    dir,
    err() {
      const mounts = readFileSync('/proc/self/mounts', 'utf8').split('\n');
      const device = mounts.map((line) => line.split(' ')).find(([, at]) => at === dir)![0]!;
      writeFileSync(`/sys/fs/ext4/${basename(device)}/trigger_fs_error`, '1');
    },
    remount() {
      execFileSync('umount', [dir]);
      mount();
    },
  };
}

/**
 * Mounts an ext4 of 64 MiB on some 8 MiB: writes succeed, and at some point a sync fails. It has a
 * journal, because without one ext4 forgets on fsync which blocks were written.
 */
export function thinDisk(): { readonly dir: string; remount(): void } {
  const backing = smallDisk(12 * 1024 * 1024);
  const { dir, mount } = makeExt4(backing);
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
