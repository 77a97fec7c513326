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

/** Whether there is what the ext4 disks need beyond the right to mount. */
export const canMountThin = (): boolean =>
  canMount() && existsSync('/dev/loop-control') && spawnSync('mkfs.ext4', ['-V']).status === 0;

/** Makes what is mounted there read-only, or not; not while a file is open for writing. */
export function remount(dir: string, how: 'ro' | 'rw'): void {
  execFileSync('mount', ['-o', `remount,${how}`, dir]);
}

/** An ext4 of 64 MiB with or without a journal, unmounted when the test is over. */
export function ext4(journal: 'has_journal' | '^has_journal'): string {
  const { dir, mount } = makeExt4(tempDir(), 'loop', journal);
  mount();
  onTestFinished(() => void execFileSync('umount', ['--lazy', dir]));
  return dir;
}

/** An ext4 in a file of that directory; `mount` and `umount` are its maker's. */
function makeExt4(
  backing: string,
  options = 'loop',
  features = 'has_journal',
): { readonly dir: string; readonly mount: () => void } {
  const image = join(backing, 'image');
  const dir = tempDir();
  closeSync(openSync(image, 'w'));
  truncateSync(image, 64 * 1024 * 1024);
  execFileSync('mkfs.ext4', ['-q', '-O', features, '-E', 'lazy_itable_init=0,nodiscard', image]);
  return { dir, mount: () => void execFileSync('mount', ['-o', options, image, dir]) };
}

/** A disk that can be made to hang: writes then wait, as on hardware that does not answer. */
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

/** A disk on which the system finds an error: from then on it can only be read, open files too. */
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
 * An ext4 of 64 MiB on top of some 8 MiB: writes succeed, and at some point a sync fails. Not
 * without its journal: ext4 then forgets on fsync which of the blocks had been written.
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
