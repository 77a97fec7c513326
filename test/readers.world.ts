import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { blocksOf, MANUAL, read } from './support/documents.ts';
import { hasDuckDb, newDuckDb } from './support/duckdb.ts';
import { isHere } from './support/runtimes.ts';
import { storedViews } from './support/stored-views.ts';
import { tempDir } from './support/temp-dir.ts';

// Tests programs that read viewlog's files.

it.skipIf(!hasDuckDb())('DuckDB reads the files with the types of the fields', async () => {
  const { data, lines } = await storedViews();
  const query = await newDuckDb();
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

/** Returns the manual's commands for jq, or its query for DuckDB, with the path of the files. */
function commandsOf(pattern: RegExp, files: string): string[] {
  const page = readFileSync(join(import.meta.dirname, '../src/manual/looking.md'), 'utf8');
  const found = Array.from(page.matchAll(pattern), ([, command]) => command!);
  return found.map((command) => command.replace(/views-[\w*-]+\.ndjson/, files));
}

it.skipIf(!hasDuckDb() || !isHere('/usr/bin/jq'))(
  "the manual's commands for jq and DuckDB skip a fragment",
  async () => {
    const { lines } = await storedViews();
    const file = join(tempDir(), 'views-2026-01-31.ndjson');
    const fragment = lines[0]!.slice(0, '{"ts":'.length);
    writeFileSync(file, `${[lines[0], fragment, ...lines.slice(1)].join('\n')}\n`);
    const views = lines.map((line) => JSON.parse(line) as { p: string; url: string });
    const commands = commandsOf(/^(jq .*?)( > ~\/january\.\w+)?$/gm, file);
    const answers = commands.map((command) =>
      execFileSync('bash', ['-c', command.replace(' | head', '')], { encoding: 'utf8' }),
    );
    const urls = answers[0]!.match(/^ *\d+/gm)!.map(Number);
    const own = views.filter(({ p }) => p === '1000001');
    expect(urls.reduce((a, b) => a + b)).toBe(lines.length);
    expect(answers[1]!.trimEnd().split('\n').map(parsed)).toStrictEqual(own);
    expect(answers[2]!.match(/^"20.*$/gm)).toHaveLength(lines.length);
    const query = await newDuckDb();
    const rows = await query(commandsOf(/^duckdb -c "([^"]*)"/gm, file)[0]!);
    expect(rows.reduce((sum, [, , count]) => sum + Number(count), 0)).toBe(lines.length);
  },
);

it("the manual's commands find the views of a page in each file and delete them", () => {
  const dir = tempDir();
  const files = {
    'views-2026-01-31.ndjson': ['{"url":"/orders/8731"}', '{"url":"/orders/87310"}'],
    'refused-2026-01-31.ndjson': [String.raw`{"view":{"url":"\/orders\/8731"}}`],
    'status.json': [JSON.stringify({ text: String.raw`{"url":"\/orders\/8731"}` })],
  };
  for (const [name, lines] of Object.entries(files)) {
    writeFileSync(join(dir, name), `${lines.join('\n')}\n`);
  }
  const shell = blocksOf(read(`${MANUAL}/privacy.md`)).filter(({ language }) => language === 'sh');
  const [find = '', , remove = '', others = ''] = shell.map(({ text }) =>
    text
      .replace(/^sudo journalctl.*/m, '')
      .replace('sudo -u viewlog ', '')
      .replace('/var/lib/viewlog', dir),
  );
  const bash = (command: string): string =>
    execFileSync('bash', ['-c', command], { encoding: 'utf8' });
  const [views, refused, status] = Object.entries(files).map(([name, [line]]) =>
    name === 'status.json' ? '1\n' : `${dir}/${name}:${line}`,
  );
  expect(bash(find).trimEnd().split('\n').toSorted()).toStrictEqual([refused, views]);
  expect(bash(others)).toBe(status);
  bash(remove);
  bash(remove.replace('/views-', '/refused-'));
  const left = (name: string): string => readFileSync(join(dir, name), 'utf8');
  expect(left('views-2026-01-31.ndjson')).toBe('{"url":"/orders/87310"}\n');
  expect(left('refused-2026-01-31.ndjson')).toBe('');
});

const parsed = (line: string): unknown => JSON.parse(line);
