import { execFileSync } from 'node:child_process';
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
