import { writeFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { removedText } from '../../src/archive/damage.ts';
import { systemFiles } from '../../src/disk/ops.ts';
import { memoryLog } from '../support/memory-log.ts';
import { tempDir } from '../support/temp-dir.ts';

it('the archive names every day whose file another program removed, except compressed and old ones', async () => {
  const dir = tempDir();
  const now = (): number => Date.UTC(2026, 10, 22);
  const textOf = (...days: string[]): Promise<string | undefined> =>
    removedText(
      { files: systemFiles, dir, keepDays: 21, now, log: memoryLog() },
      days.map((day) => `views-2026-${day}.ndjson`),
    );
  writeFileSync(`${dir}/views-2026-11-03.ndjson.gz`, '');
  expect(await textOf('10-31', '11-03')).toBeUndefined();
  expect(await textOf('10-31', '11-02', '11-03')).toBe(
    'View file "views-2026-11-02.ndjson" was removed by another program; to restore the views that the stream still has, stop the archive, then start it once with its usual options and --restore 2026-11-02',
  );
  expect(await textOf('11-01', '11-02', '11-03', '11-05')).toBe(
    'View files of 2026-11-01, 2026-11-02 and 2026-11-05 were removed by another program; to restore the views that the stream still has, stop the archive, then start it once for each day, with its usual options and --restore DAY',
  );
});
