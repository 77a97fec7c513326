import { execFileSync } from 'node:child_process';
import { appendFileSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isFragment } from '../../src/verify/fragment.ts';
import { DUCKDB, query } from './duckdb.ts';
import { isHere } from './runtimes.ts';

// Every line that a collector stores in any test is read by jq, Python and DuckDB at the end.

const ENV = 'VIEWLOG_TEST_POOL';

/** Adds lines of view files to the lines that are read at the end, without fragments. */
export function pool(lines: readonly string[]): void {
  const dir = process.env[ENV];
  const whole = lines.filter((line) => !isFragment(line));
  if (dir === undefined || whole.length === 0) return;
  appendFileSync(join(dir, `${process.pid}.ndjson`), whole.map((line) => `${line}\n`).join(''));
}

const PYTHON = `
import json, sys
count = 0
for name in sys.argv[1:]:
    for line in open(name, encoding="utf-8", newline="\\n"):
        json.loads(line)
        count += 1
print(count)
`;

/** vitest's global set-up; returns its tear-down. */
export default function setup(): () => Promise<void> {
  const dir = mkdtempSync(join(tmpdir(), 'viewlog-test-pool-'));
  process.env[ENV] = dir;
  return async () => {
    const files = readdirSync(dir).map((name) => join(dir, name));
    try {
      if (files.length > 0) await readAll(files);
    } catch (error) {
      // The runner prints an error here, but does not fail.
      console.error(error);
      process.exitCode = 1;
    } finally {
      rmSync(dir, { recursive: true, force: true });
    }
  };
}

async function readAll(files: readonly string[]): Promise<void> {
  const options = { encoding: 'utf8' } as const;
  const counts: string[] = [];
  if (isHere('/usr/bin/python3')) {
    counts.push(execFileSync('/usr/bin/python3', ['-c', PYTHON, ...files], options).trim());
  }
  if (isHere('/usr/bin/jq')) {
    const program = 'reduce inputs as $line (0; . + 1)';
    counts.push(execFileSync('jq', ['-n', program, ...files], options).trim());
  }
  if (isHere(DUCKDB)) {
    const names = files.map((name) => `'${name}'`).join(', ');
    const all = `read_ndjson([${names}], columns = {ts: 'TIMESTAMP', id: 'UUID', ld: 'VARCHAR'})`;
    const [row] = await query(
      `SELECT count(*) FROM ${all} WHERE ts IS NOT NULL AND id IS NOT NULL`,
    );
    counts.push(String(row![0]));
  }
  if (new Set(counts).size > 1) {
    throw new Error(`Python, jq and DuckDB read different numbers of lines: ${counts.join(', ')}`);
  }
  if (counts[0] === undefined) return;
  console.log(`${counts.length} readers have read the ${counts[0]} lines stored in these tests`);
}
