import { describe, expect, it } from 'vitest';
import { exampleOf } from '../../support/examples.ts';
import { dataDirectory } from '../../support/viewlog.ts';
import { FULL_VIEW } from '../../support/views.ts';

// Parsed and asserted; test/real/clickhouse.py has ClickHouse's own engine take it.

describe('the SQL for ClickHouse', () => {
  it('has a column for each field of a stored line, in its order', async () => {
    const sql = await exampleOf('clickhouse');
    const [, table = ''] = /TABLE IF NOT EXISTS views \((.*?)\n\)/s.exec(sql) ?? [];
    const columns = Array.from(table.matchAll(/^ {2}(\w+) (.+?),?$/gm), ([, ...column]) => column);
    expect(columns.map(([name]) => name)).toStrictEqual(['ts', 'id', ...Object.keys(FULL_VIEW)]);
    expect(Object.fromEntries(columns)).toMatchObject({
      ts: "DateTime64(3, 'UTC')",
      id: 'UUID',
      ld: "DateTime64(3, 'UTC')",
      p: 'String',
      mb: 'Int64',
      mv: 'Tuple(vt Int64, v30 Int64, dlv Int64)',
      mp: 'Tuple(p Array(String))',
      cf: 'String',
      content: 'Tuple(templateId String)',
      hc: 'Bool',
    });
    const made = Array.from(
      sql.matchAll(/^ {2}\S.*\(line, '(\w+)'.*\) AS (\w+),?$/gm),
      ([, ...of]) => of,
    );
    expect(made).toStrictEqual(columns.map(([name]) => [name, name]));
  });

  it('loads what is in the data directory', async () => {
    const data = dataDirectory();
    const sql = await exampleOf('clickhouse', [], { data });
    expect(sql).toContain(`INSERT INTO view_lines FROM INFILE '${data}/views-*.ndjson'`);
  });
});
