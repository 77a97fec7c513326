import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { DUCKDB, query } from './support/duckdb.ts';
import { isHere } from './support/runtimes.ts';
import { ACCEPTED, FULL_VIEW, MINIMAL_VIEW } from './support/views.ts';
import { linesOf, startViewlog } from './support/viewlog.ts';

// Programs that read viewlog's files.

async function storedViews() {
  const viewlog = await startViewlog();
  for (const change of ACCEPTED) await viewlog.post({ ...FULL_VIEW, ...change });
  await viewlog.post(MINIMAL_VIEW);
  await viewlog.signal('SIGTERM');
  return { data: viewlog.data, lines: linesOf(viewlog.data, 'views') };
}

describe.skipIf(!isHere(DUCKDB))('DuckDB', () => {
  it('reads the files, with the types of the fields', async () => {
    const { data, lines } = await storedViews();
    const files = `read_ndjson('${data}/views-*.ndjson', union_by_name = true, ignore_errors = true)`;
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
    expect(ids.flat()).toStrictEqual(lines.map((line) => (JSON.parse(line) as { id: string }).id));
  });
});

describe.skipIf(!isHere('/usr/bin/jq'))('jq and Python', () => {
  it('read every line as it was meant', async () => {
    const { data, lines } = await storedViews();
    const meant = lines.map((line) => JSON.stringify(JSON.parse(line)));
    const files = [join(data, `views-${lines[0]!.slice(7, 17)}.ndjson`)];
    const options = { encoding: 'utf8' } as const;
    const byJq = execFileSync('jq', ['-c', '.', ...files], options);
    expect(byJq.trimEnd().split('\n').map(normal)).toStrictEqual(meant.map(normal));
    const program =
      'import json,sys\n' +
      'for line in open(sys.argv[1], encoding="utf-8", newline="\\n"): print(json.dumps(json.loads(line)))';
    const byPython = execFileSync('python3', ['-c', program, ...files], options);
    expect(byPython.trimEnd().split('\n').map(normal)).toStrictEqual(meant.map(normal));
  });
});

/** Returns the same text for the same value. */
const normal = (line: string): string => JSON.stringify(JSON.parse(line));
