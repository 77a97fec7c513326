import { execFileSync } from 'node:child_process';
import * as fs from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { acquireLock } from '../../../src/disk/lock.ts';
import { openStore, QUICK, until } from '../../support/open-store.ts';
import { canMount, smallDisk } from '../../support/small-disk.ts';

const MiB = 1024 * 1024;
const view = (n: number): Buffer =>
  Buffer.from(JSON.stringify({ p: '1', n, pn: 'x'.repeat(1000) }));

describe.skipIf(!canMount())('a disk that is really full', () => {
  test('is written to its last byte, and gone on with when there is space', async () => {
    const dir = smallDisk(2 * MiB);
    // Pages are 4 KiB, lines are not: the last write is a short one.
    fs.writeFileSync(join(dir, 'ballast'), Buffer.alloc(MiB));
    const { store, log, text, lines } = await openStore({ dir, timing: QUICK });
    const acknowledged: string[] = [];
    let refused = 0;
    for (let n = 0; refused === 0; n += 50) {
      const appended = await Promise.all(
        Array.from({ length: 50 }, (_, i) => store.append(view(n + i))),
      );
      for (const one of appended) {
        if ('id' in one) acknowledged.push(one.id);
        else refused += 1;
      }
    }
    expect(store.state().unavailable).toBe('the disk is full');
    expect(text().endsWith('\n')).toBe(false);
    const full = text();

    fs.rmSync(join(dir, 'ballast'));
    await until(() => store.state().unavailable === undefined, 'space is noticed');
    const appended = await store.append(view(-1));
    acknowledged.push((appended as { id: string }).id);
    expect(text().startsWith(full)).toBe(true);
    const ids = lines().map((line) => (JSON.parse(line) as { id: string }).id);
    // Every acknowledged view, and the line of which a half was on disk.
    expect(ids).toHaveLength(acknowledged.length + 1);
    expect(acknowledged.every((id) => ids.includes(id))).toBe(true);
    expect(log.lines).toHaveLength(2);
    await store.close(20_000);
  });

  test('is left alone from --min-free on', async () => {
    const dir = smallDisk(4 * MiB);
    const { store, log } = await openStore({ dir, timing: QUICK, minFreeBytes: 2 * MiB });
    fs.writeFileSync(join(dir, 'ballast'), Buffer.alloc(3 * MiB));
    await until(() => store.state().unavailable !== undefined, 'low space is noticed');
    expect(await store.append(view(1))).toEqual({ unavailable: 'too little free disk space' });
    fs.rmSync(join(dir, 'ballast'));
    await until(() => store.state().unavailable === undefined, 'space is noticed');
    expect(await store.append(view(2))).toHaveProperty('id');
    expect(log.lines).toHaveLength(2);
    await store.close(20_000);
  });

  test('that can only be read: exit 73 with what to do', async () => {
    const dir = smallDisk(MiB);
    execFileSync('mount', ['-o', 'remount,ro', dir]);
    await expect(acquireLock(dir)).rejects.toMatchObject({
      exitCode: 73,
      message: expect.stringMatching(
        /^Cannot open ".*" for writing: .*EROFS.*; mount the file system read-write/,
      ),
    });
  });

  test('does not keep the store from starting', async () => {
    const dir = smallDisk(MiB);
    try {
      fs.writeFileSync(join(dir, 'ballast'), Buffer.alloc(2 * MiB));
    } catch {
      // The disk is full.
    }
    const { store, lines } = await openStore({ dir, timing: QUICK });
    expect(await store.append(view(1))).toEqual({ unavailable: 'the disk is full' });
    fs.rmSync(join(dir, 'ballast'));
    await until(() => store.state().unavailable === undefined, 'space is noticed');
    expect(await store.append(view(2))).toHaveProperty('id');
    expect(lines().length).toBeGreaterThan(0);
    await store.close(20_000);
  });
});
