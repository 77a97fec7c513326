import * as fs from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { bundle } from '../../support/bundle.ts';
import { startChild } from '../../support/child.ts';
import { openStore } from '../../support/open-store.ts';
import { BUN, DENO, isPresent, NODE } from '../../support/runtimes.ts';
import { canMount, canMountThin, smallDisk, thinDisk } from '../../support/small-disk.ts';
import { tempDir } from '../../support/temp-dir.ts';

const RUNTIMES = [NODE, DENO, BUN].filter(isPresent);

const KILLS = Number(process.env['VIEWLOG_TEST_KILLS'] ?? 4);

const viewLines = (dir: string): string[] =>
  fs
    .readdirSync(dir)
    .filter((name) => name.startsWith('views-'))
    .flatMap((name) => fs.readFileSync(join(dir, name), 'utf8').split('\n'))
    .filter((line) => line !== '');

const idsOf = (lines: readonly string[]): string[] =>
  lines.flatMap((line) => {
    try {
      return [(JSON.parse(line) as { id: string }).id];
    } catch {
      return [];
    }
  });

describe.each(RUNTIMES)('on $name', (runtime) => {
  test('kill -9 under load loses nothing acknowledged', async () => {
    const file = bundle('store-process');
    const dir = tempDir();
    const acknowledged: string[] = [];
    for (let kill = 0; kill < KILLS; kill++) {
      const child = startChild([...runtime.command(dir, file), 'load', dir]);
      const views = 200 + Math.floor(Math.random() * 2000);
      for (let n = 0; n < views; n++) acknowledged.push((await child.next())['id'] as string);
      child.kill('SIGKILL');
      // Acknowledgements from before the kill count too.
      for (;;) {
        const said = await child.next().catch(() => undefined);
        if (said === undefined) break;
        acknowledged.push(said['id'] as string);
      }
      await child.ended;
    }
    const { store } = await openStore({ dir, now: Date.now });
    await store.close(20_000);
    const lines = viewLines(dir);
    const ids = idsOf(lines);
    expect(acknowledged.length).toBeGreaterThan(200 * KILLS);
    expect(lines.length - ids.length).toBeLessThanOrEqual(KILLS);
    expect(ids).toEqual([...new Set(ids)].sort());
    const stored = new Set(ids);
    expect(acknowledged.filter((id) => !stored.has(id))).toEqual([]);
  });

  test.skipIf(!canMount())('a full disk is outlived', async () => {
    const file = bundle('store-process');
    const dir = smallDisk(2 * 1024 * 1024);
    fs.writeFileSync(join(dir, 'ballast'), Buffer.alloc(1024 * 1024));
    const child = startChild([...runtime.command(dir, file), 'fill', dir]);
    const full = await child.next();
    expect(full).toMatchObject({ reason: 'the disk is full' });
    fs.rmSync(join(dir, 'ballast'));
    const end = await child.next();
    expect(end).toMatchObject({ appended: { id: expect.any(String) }, kept: 1 });
    expect(await child.ended).toBe(0);
    // The line of which a half was on disk when the view was refused.
    const lines = viewLines(dir);
    expect(idsOf(lines)).toHaveLength((full['accepted'] as number) + 2);
    expect(lines).toHaveLength((full['accepted'] as number) + 2);
  });
  test.skipIf(!canMountThin())(
    'a sync that really fails ends it; what was acknowledged is on the medium',
    async () => {
      const file = bundle('store-process');
      const disk = thinDisk();
      const dir = join(disk.dir, 'data');
      fs.mkdirSync(dir);
      const child = startChild([...runtime.command(dir, file), 'fill', dir]);
      expect(await child.next()).toEqual({
        fatal: expect.stringMatching(/^Cannot sync ".*ndjson"/),
      });
      const end = await child.next();
      expect(end).toMatchObject({ reason: 'the disk has failed' });
      child.kill('SIGKILL');
      await child.ended;
      disk.remount();
      expect(end['accepted']).toBeGreaterThan(1000);
      expect(idsOf(viewLines(dir)).length).toBeGreaterThanOrEqual(end['accepted'] as number);
    },
  );
});
