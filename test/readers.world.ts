import { execFileSync, spawnSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { blocksOf, MANUAL, read } from './support/documents.ts';
import { hasDuckDb, newDuckDb } from './support/duckdb.ts';
import { BUNDLE, isHere } from './support/runtimes.ts';
import { storedLines } from './support/stored-lines.ts';
import { storedViews } from './support/stored-views.ts';
import { tempDir } from './support/temp-dir.ts';
import { run } from './support/viewlog.ts';

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
    'views-2026-01-29.ndjson': ['{"url":"/orders/8731"}'],
    'views-2026-01-30.ndjson': ['{"url":"/orders/8731"}'],
    'views-2026-01-31.ndjson': ['{"url":"/orders/8731"}', '{"url":"/orders/87310"}'],
    'refused-2026-01-30.ndjson': ['{"view":{"url":"orders/8731"}}'],
    'refused-2026-01-31.ndjson': [String.raw`{"view":{"url":"\/orders\/8731"}}`],
    'status.json': [JSON.stringify({ text: String.raw`{"url":"\/orders\/8731"}` })],
  };
  for (const [name, lines] of Object.entries(files)) {
    writeFileSync(join(dir, name), `${lines.join('\n')}\n`);
  }
  const shell = blocksOf(read(`${MANUAL}/privacy.md`)).filter(({ language }) => language === 'sh');
  const [find = '', decompress = '', , remove = '', others = ''] = shell.map(({ text }) =>
    text
      .replace(/^sudo (journal|system)ctl.*/gm, '')
      .replaceAll('sudo -u viewlog ', '')
      .replaceAll('/var/lib/viewlog', dir),
  );
  const bash = (command: string): string =>
    execFileSync('bash', ['-c', command], { encoding: 'utf8' });
  const linesOf = (text: string): string[] => text.trimEnd().split('\n').toSorted();
  const compressed = [
    'refused-2026-01-30.ndjson.gz',
    'views-2026-01-29.ndjson.zst',
    'views-2026-01-30.ndjson.gz',
  ].map((name) => join(dir, name));
  bash(`cd ${dir} && zstd -q --rm *-29.ndjson && gzip *-30.ndjson`);
  expect(linesOf(bash(decompress))).toStrictEqual(compressed);
  expect(compressed.filter((path) => existsSync(path))).toStrictEqual([]);
  const found = Object.entries(files)
    .filter(([name]) => name !== 'status.json')
    .map(([name, [line]]) => `${dir}/${name}:${line}`);
  expect(linesOf(bash(find))).toStrictEqual(found.toSorted());
  expect(bash(others)).toBe('1\n');
  bash(remove);
  bash(remove.replace('/views-', '/refused-'));
  const left = (name: string): string => readFileSync(join(dir, name), 'utf8');
  expect(left('views-2026-01-31.ndjson')).toBe('{"url":"/orders/87310"}\n');
  expect(left('refused-2026-01-31.ndjson')).toBe('');
});

it("the manual's crontab line spares the two latest files, and report counts every day", async () => {
  const data = tempDir();
  const [, line = ''] = /^30 3 \* \* \* (.*)$/m.exec(read(`${MANUAL}/shipping.md`))!;
  // On a quiet site, the latest file is days old, and viewlog still has it open.
  const days = ['2026-01-03', '2026-01-04', '2026-01-07', '2026-01-08'];
  for (const day of days) {
    const text = storedLines(day, 3).join('\n');
    writeFileSync(join(data, `views-${day}.ndjson`), `${text}\n`);
  }
  execFileSync('sh', ['-c', line.replace('/var/lib/viewlog', data)]);
  const names = days.map((day, n) => `views-${day}.ndjson${n < 2 ? '.gz' : ''}`);
  expect(readdirSync(data).toSorted()).toStrictEqual(names);
  const { stdout } = await run(['report', '--json'], { data });
  expect(JSON.parse(stdout)).toMatchObject({ views: 12 });
});

it("the manual's commands remove the duplicates of compressed days from a copy, and a receipt checks the copy", () => {
  const root = tempDir();
  const [, section = ''] = read(`${MANUAL}/running.md`).split('\n## Backups\n');
  const inRoot = (command: string): string =>
    command
      .replaceAll(/sudo (-u viewlog )?/g, '')
      .replaceAll(/\/(var\/lib|srv)\/viewlog/g, `${root}/$1`)
      .replaceAll('viewlog verify', `${process.execPath} ${BUNDLE} verify`);
  const [copy = ''] = /sudo cp -a [^`]*/.exec(section)!;
  const blocks = blocksOf(section).map(({ text }) => text);
  const tidy = blocks.find((text) => text.includes('.gz'))!;
  // On one machine, the receipt needs no copy.
  const check = blocks.filter((text) => text.includes('receipt')).join('');
  const bash = (command: string) =>
    spawnSync('bash', ['-c', inRoot(command)], { cwd: root, encoding: 'utf8' });
  const [data, backup] = [`${root}/var/lib`, `${root}/srv`];
  for (const dir of [data, backup]) mkdirSync(dir, { recursive: true });
  const write = (dir: string, day: string, lines: readonly string[]): void =>
    writeFileSync(`${dir}/views-2026-01-0${day}.ndjson`, lines.map((line) => `${line}\n`).join(''));
  for (const day of '12345') write(data, day, storedLines(`2026-01-0${day}`, 9));
  bash(copy);
  // The last copy has only the beginning of this day.
  write(backup, '2', storedLines('2026-01-02', 4));
  execFileSync(
    'gzip',
    ['1', '2', '3'].map((day) => `${data}/views-2026-01-0${day}.ndjson`),
  );
  bash(copy);
  const twice = bash(check);
  expect(twice.stderr).toContain('also exists as a .gz file');
  // The copy of this file was cut short.
  truncateSync(`${backup}/views-2026-01-03.ndjson.gz`, 40);
  expect(bash(tidy)).toMatchObject({ stdout: '' });
  const names = (): string[] => readdirSync(backup).map((name) => name.slice(15));
  const whole = ['1.ndjson.gz', '2.ndjson.gz', '3.ndjson.gz', '4.ndjson', '5.ndjson'];
  expect(names()).toStrictEqual(whole.toSpliced(2, 0, '3.ndjson'));
  execFileSync('touch', [`${data}/views-2026-01-03.ndjson.gz`]);
  bash(copy);
  expect(bash(tidy)).toMatchObject({ stdout: '', stderr: '' });
  expect(names()).toStrictEqual(whole);
  expect(bash(check)).toMatchObject({ stdout: '', stderr: '', status: 0 });
  // A restored file is whole; the copy, which is older, replaces no file.
  write(backup, '5', storedLines('2026-01-05', 4));
  rmSync(`${data}/views-2026-01-04.ndjson`);
  const [restore = ''] = /sudo cp -an [^`]*/.exec(section)!;
  bash(restore);
  const sizeOf = (day: string): number =>
    readFileSync(`${data}/views-2026-01-0${day}.ndjson`, 'utf8').split('\n').length - 1;
  expect(['4', '5'].map(sizeOf)).toStrictEqual([9, 9]);
});

const parsed = (line: string): unknown => JSON.parse(line);
