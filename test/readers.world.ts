import { execFileSync } from 'node:child_process';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { isHere, TOOLS } from './support/runtimes.ts';
import { storedViews } from './support/stored-views.ts';

// Programs that read viewlog's files.

const DUCKDB = `${TOOLS}/@duckdb/node-api`;

interface DuckDb {
  DuckDBInstance: {
    create(): Promise<{
      connect(): Promise<{ runAndReadAll(sql: string): Promise<{ getRowsJson(): unknown[][] }> }>;
    }>;
  };
}

/** Returns the rows that DuckDB answers with. */
async function query(sql: string): Promise<unknown[][]> {
  const { DuckDBInstance } = createRequire(import.meta.url)(DUCKDB) as DuckDb;
  const connection = await (await DuckDBInstance.create()).connect();
  return (await connection.runAndReadAll(sql)).getRowsJson();
}

it.skipIf(!isHere(DUCKDB))('DuckDB reads the files, with the types of the fields', async () => {
  const { data, lines } = await storedViews();
  const files = `read_ndjson('${data}/views-*.ndjson', union_by_name = true, ignore_errors = true)`;
  const types = await query(`SELECT column_name, column_type FROM (DESCRIBE FROM ${files})`);
  expect(Object.fromEntries(types as [string, string][])).toMatchObject({
    ts: 'TIMESTAMP',
    id: 'UUID',
    pn: 'VARCHAR',
    pid: 'VARCHAR',
    mb: 'HUGEINT', // DuckDB's choice for numbers of both signs
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
  expect(ids.flat()).toStrictEqual(lines.map((line) => (JSON.parse(line) as { id: string }).id));
});

it.skipIf(!isHere('/usr/bin/jq'))('jq and Python read every line as viewlog wrote it', async () => {
  const { data, lines } = await storedViews();
  const file = join(data, `views-${lines[0]!.slice(7, 17)}.ndjson`);
  const program =
    'import json,sys\n' +
    'for line in open(sys.argv[1], encoding="utf-8", newline="\\n"): print(json.dumps(json.loads(line)))';
  for (const text of [
    execFileSync('jq', ['-c', '.', file], { encoding: 'utf8' }),
    execFileSync('python3', ['-c', program, file], { encoding: 'utf8' }),
  ]) {
    expect(text.trimEnd().split('\n').map(parsed)).toStrictEqual(lines.map(parsed));
  }
});

const parsed = (line: string): unknown => JSON.parse(line);
