import { describe, expect, it } from 'vitest';
import { DUCKDB, query } from './support/duckdb.ts';
import { isHere } from './support/runtimes.ts';
import { ACCEPTED, FULL_VIEW, MINIMAL_VIEW } from './support/views.ts';
import { startViewlog } from './support/viewlog.ts';

// jq and Python read the lines of every test: support/pool.ts.

describe.skipIf(!isHere(DUCKDB))('DuckDB', () => {
  it('reads the files, with the types of the fields', async () => {
    const viewlog = await startViewlog();
    for (const change of ACCEPTED) await viewlog.post({ ...FULL_VIEW, ...change });
    await viewlog.post(MINIMAL_VIEW);
    await viewlog.signal('SIGTERM');
    const files = `read_ndjson('${viewlog.data}/views-*.ndjson', union_by_name = true, ignore_errors = true)`;
    const types = await query(`SELECT column_name, column_type FROM (DESCRIBE FROM ${files})`);
    expect(Object.fromEntries(types as [string, string][])).toMatchObject({
      ts: 'TIMESTAMP',
      id: 'UUID',
      pn: 'VARCHAR',
      pid: 'VARCHAR',
      mb: 'HUGEINT', // by itself, for numbers of both signs
      mv: 'STRUCT(vt BIGINT, v30 BIGINT, dlv HUGEINT)',
      mp: 'STRUCT(p VARCHAR[])',
      p: 'VARCHAR',
      ubl: 'VARCHAR',
      ref: 'VARCHAR',
      url: 'VARCHAR',
      content: 'STRUCT(templateId VARCHAR)',
      orgreferer: 'VARCHAR',
      hc: 'BOOLEAN',
    });
    const ids = await query(`SELECT id FROM ${files} ORDER BY id`);
    const stored = viewlog.lines().map((line) => (JSON.parse(line) as { id: string }).id);
    expect(ids.flat()).toStrictEqual(stored);
  });
});
