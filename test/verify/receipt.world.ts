import { execFileSync } from 'node:child_process';
import {
  appendFileSync,
  chownSync,
  closeSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { describe, expect, it, onTestFinished } from 'vitest';
import { hasDuckDb, newDuckDb } from '../support/duckdb.ts';
import { isHere, PYTHON_PACKAGES } from '../support/runtimes.ts';
import { storedViews } from '../support/stored-views.ts';
import { tempDir } from '../support/temp-dir.ts';
import { MINIMAL_VIEW } from '../support/views.ts';
import { run } from '../support/viewlog.ts';

// Loads view files into databases, which compute the receipt with the manual's queries.

/** Returns the manual's statements for a database. The last one computes the receipt. */
const statementsFor = (database: string): string[] => {
  const manual = readFileSync(join(import.meta.dirname, '../../src/manual/shipping.md'), 'utf8');
  const [, block = ''] = new RegExp('```sql\n-- ' + database + '.*\n([^`]*);\n```').exec(manual)!;
  return block.split(';\n');
};

async function receiptOf(data: string): Promise<string> {
  const { code, stdout, stderr } = await run(['verify', '--receipt', data]);
  expect([code, stderr.replace(/^warning: Left out 1 line .*\n/, '')]).toStrictEqual([0, '']);
  return stdout;
}

/** Tables that lack a view, that have a view twice, and both. */
const DAMAGES = [
  `(SELECT ts, id FROM views WHERE id <> 'ID')`,
  `(SELECT ts, id FROM views UNION ALL SELECT ts, id FROM views WHERE id = 'ID')`,
  `(SELECT ts, id FROM views WHERE id <> 'ID' UNION ALL SELECT ts, id FROM views WHERE id = 'OTHER')`,
];

/** Returns the query, and the query on tables in which a view is lost, duplicated, or both. */
function queriesFor(database: string, lines: readonly string[]): string[] {
  const query = statementsFor(database).at(-1)!;
  const [id = '', other = ''] = lines.slice(1).map((line) => line.slice(39, 75));
  const damaged = DAMAGES.map(
    (table) => `${table.replace('ID', id).replace('ID', id).replace('OTHER', other)} t`,
  );
  return [query, ...damaged.map((table) => query.replace(/views( FINAL)?(?=\s+GROUP)/, table))];
}

/** Expects that the first answer is the receipt, and that the others aren't. */
async function expectReceipt(data: string, answers: readonly string[]): Promise<void> {
  const receipt = await receiptOf(data);
  expect(answers.map((answer) => answer.trim() === receipt.trim())).toStrictEqual([
    true,
    false,
    false,
    false,
  ]);
}

/** Stores views and a fragment, as a crash leaves one, which no database may count as a view. */
async function storedWithFragment() {
  const { data, lines } = await storedViews();
  appendFileSync(
    join(data, `views-${lines[0]!.slice(7, 17)}.ndjson`),
    `${lines[0]!.slice(0, 120)}\n`,
  );
  return { data, lines };
}

describe.skipIf(!hasDuckDb())('a receipt by DuckDB', () => {
  async function answersOf(data: string, queries: readonly string[]): Promise<string[]> {
    const query = await newDuckDb();
    const [load = ''] = statementsFor('DuckDB');
    await query(load.replace('/var/lib/viewlog', data));
    const answers: string[] = [];
    for (const sql of queries) {
      answers.push((await query(sql)).map((row) => row.join('\t')).join('\n'));
    }
    return answers;
  }

  it('DuckDB computes the receipt of the files that a collector wrote', async () => {
    const { data, lines } = await storedWithFragment();
    await expectReceipt(data, await answersOf(data, queriesFor('DuckDB', lines)));
  });

  it('one lost or duplicated view among a million changes the receipt that DuckDB computes', async () => {
    const data = tempDir();
    const fd = openSync(join(data, 'views-2026-03-01.ndjson'), 'w');
    const fields = JSON.stringify(MINIMAL_VIEW).slice(1);
    const random = (): string =>
      Math.floor(Math.random() * 2 ** 48)
        .toString(16)
        .padStart(12, '0');
    let lines: string[] = [];
    for (let n = 0; n < 1_000_000; n += 10_000) {
      lines = Array.from({ length: 10_000 }, (_, i) => {
        const ts = new Date(Date.parse('2026-03-01T12:00:00Z') + (n + i) * 60).toISOString();
        return `{"ts":"${ts}","id":"019ca6b1-dc00-7000-8000-${random()}",${fields}`;
      });
      writeSync(fd, `${lines.join('\n')}\n`);
    }
    closeSync(fd);
    const nextDay = lines.map((line) => `${line.replace('2026-03-01', '2026-03-02')}\n`).join('');
    writeFileSync(join(data, 'views-2026-03-02.ndjson.gz'), gzipSync(nextDay));
    await expectReceipt(data, await answersOf(data, queriesFor('DuckDB', lines)));
  });
});

it.skipIf(!isHere(`${PYTHON_PACKAGES}/chdb`))(
  "ClickHouse's engine computes the receipt",
  async () => {
    const { data, lines } = await storedWithFragment();
    const { stdout } = await run(['example', 'clickhouse'], { data });
    const load = stdout.split(';\n').filter((statement) => statement.trim() !== '');
    const script = `
import json, sys
from chdb import session
clickhouse = session.Session()
clickhouse.query("CREATE DATABASE d ENGINE = Atomic; USE d")
answers = [clickhouse.query(q, "TSV").bytes().decode() for q in json.load(sys.stdin)]
print(json.dumps(answers))
`;
    const input = JSON.stringify([...load, ...queriesFor('ClickHouse', lines)]);
    const env = { ...process.env, PYTHONPATH: PYTHON_PACKAGES };
    const answers = JSON.parse(
      execFileSync('python3', ['-c', script], { input, env, encoding: 'utf8' }),
    ) as string[];
    await expectReceipt(data, answers.slice(load.length));
  },
);

const POSTGRES = '/usr/lib/postgresql';

it.skipIf(!isHere(POSTGRES))('PostgreSQL computes the receipt', async () => {
  const { data, lines } = await storedWithFragment();
  const bin = join(POSTGRES, readdirSync(POSTGRES).at(-1)!, 'bin');
  // The server refuses to run as root.
  const user = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : undefined;
  const dir = join(tempDir(), 'cluster');
  mkdirSync(dir);
  if (user !== undefined)
    for (const path of [dir, join(dir, '..')]) chownSync(path, user.uid, user.gid);
  const options = { ...user, cwd: dir, encoding: 'utf8' } as const;
  const call = (program: string, ...args: string[]): string =>
    execFileSync(join(bin, program), args, options);
  call('initdb', '-D', dir, '-A', 'trust', '-U', 'viewlog', '--no-sync');
  onTestFinished(() => void call('pg_ctl', 'stop', '-D', dir, '-m', 'immediate'));
  const start = ['-w', '-o', `-k ${dir} -c listen_addresses=`, '-l', join(dir, 'log')];
  call('pg_ctl', 'start', '-D', dir, ...start);
  const file = join(dir, 'lines');
  const whole = lines.map((line) => `${line}\n`).join('');
  writeFileSync(file, whole);
  const sql = [
    'CREATE TABLE lines (line text)',
    'CREATE TABLE views (ts timestamptz, id uuid)',
    String.raw`COPY lines FROM '${file}' (FORMAT csv, QUOTE E'\x01', DELIMITER E'\x02')`,
    // Uses no JSON function, because none of them reads a line with \u0000 in a text.
    'INSERT INTO views SELECT substr(line, 8, 24)::timestamptz, substr(line, 40, 36)::uuid FROM lines',
    // The manual's query must work in any time zone of the session.
    "SET TimeZone TO 'Pacific/Auckland'",
  ].join(';');
  const flags = ['-h', dir, '-U', 'viewlog', '-d', 'postgres', '-qAt', '-F', '\t', '-c', `${sql};`];
  const answers = queriesFor('PostgreSQL', lines).map((query, i) =>
    call('psql', ...(i === 0 ? flags : flags.slice(0, -2)), '-c', query),
  );
  await expectReceipt(data, answers);
});
