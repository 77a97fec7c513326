import { join } from 'node:path';
import { expect, it } from 'vitest';
import { isHere, PYTHON_PACKAGES } from '../../support/runtimes.ts';
import { startProgram } from '../../support/viewlog.ts';

it.skipIf(!isHere(`${PYTHON_PACKAGES}/chdb`))(
  'the printed SQL fills a table of ClickHouse',
  async () => {
    const env = { ...process.env, PYTHONPATH: PYTHON_PACKAGES };
    const script = join(import.meta.dirname, 'clickhouse.py');
    const { code, stdout, stderr } = await startProgram(['python3', script], { env }).ended;
    expect([code, stdout + stderr]).toStrictEqual([
      0,
      expect.stringContaining('ClickHouse accepts it'),
    ]);
  },
);
