import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { verify } from '../../src/commands/verify.ts';
import { Random } from '../simulation/random.ts';
import { runCommand } from '../support/run-command.ts';
import { tempDir } from '../support/temp-dir.ts';
import { FULL_VIEW, MINIMAL_VIEW } from '../support/views.ts';

/** Returns lines of two days, in random order, some of them not as the collector writes them. */
function randomLines(seed: number, count: number): string[] {
  const random = new Random(seed);
  const digits = (length: number): string =>
    Array.from({ length }, () => random.below(16).toString(16)).join('');
  return Array.from({ length: count }, (_, i) => {
    const ts = `2026-03-0${1 + random.below(2)}T23:59:59.999Z`;
    const id = `${digits(8)}-${digits(4)}-7${digits(3)}-8${digits(3)}-${random.pick(['f'.repeat(12), digits(12)])}`;
    const cf = random.pick<unknown>([
      [],
      [{ ld: '}', hc: true }],
      ['æ "}', { a: { b: [] } }],
      [[[[[{}]]]]],
    ]);
    const view = random.pick<object>([
      FULL_VIEW,
      MINIMAL_VIEW,
      { ...FULL_VIEW, cf, pn: `{"}${i}` },
    ]);
    const line = JSON.stringify({ ts, id, ...view });
    return random.chance(0.1) ? line.replace(',"pid":', ', "pid": ') : line;
  });
}

/** Computes the receipt in a simple way. */
function expected(lines: readonly string[]): string {
  const sums = new Map<string, [number, bigint]>();
  for (const line of lines) {
    const { ts, id } = JSON.parse(line) as { ts: string; id: string };
    const [views, sum] = sums.get(ts.slice(0, 10)) ?? [0, 0n];
    sums.set(ts.slice(0, 10), [views + 1, (sum + BigInt(`0x${id.slice(24)}`)) % 2n ** 64n]);
  }
  return Array.from(sums, ([day, [views, sum]]) => `${day}\t${views}\t${sum}`)
    .toSorted()
    .join('\n');
}

async function receipt(content: string | Buffer, ...more: string[]) {
  const file = join(tempDir(), 'views-2026-03-01.ndjson');
  writeFileSync(file, content);
  return runCommand(verify, ['--receipt', file, ...more]);
}

it('a receipt has, for each day, the number of views and the sum of their ids', async () => {
  for (const seed of [1, 2, 3]) {
    const lines = randomLines(seed, 2000);
    const { code, out, err } = await receipt(`${lines.join('\n')}\n`);
    expect([code, out, err]).toStrictEqual([0, expected(lines), '']);
  }
});

it('the sum in a receipt is computed modulo 2^64', async () => {
  const [line = ''] = randomLines(1, 1);
  const last = line.replace(/[0-9a-f]{12}",/, `${'f'.repeat(12)}",`);
  const { out } = await receipt(`${last}\n`.repeat(70_000));
  const sum = (70_000n * (2n ** 48n - 1n)) % 2n ** 64n;
  expect(out).toBe(`${line.slice(7, 17)}\t70000\t${sum}`);
});

it("a receipt leaves out lines that aren't views, such as fragments, and warns about them", async () => {
  const [first = '', ...lines] = randomLines(4, 20);
  const fragments = Array.from({ length: 20 }, (_, n) => lines[n % lines.length]!).flatMap((line) =>
    Array.from(line, (_, length) => line.slice(0, length)),
  );
  const others = [
    ...fragments,
    '[]',
    '{}',
    `${first.slice(0, 100)}${first}`,
    first.replace('"ts"', '"t"'),
  ];
  const bytes = Buffer.from(`${[...others, ...lines].join('\n')}\n`);
  const notUtf8 = Buffer.concat([
    Buffer.from(first.slice(0, -3)),
    Buffer.from([0xff, 0x22, 0x7d, 0x0a]),
  ]);
  const { code, out, err } = await receipt(Buffer.concat([bytes, notUtf8]));
  expect([code, out]).toStrictEqual([0, expected(lines)]);
  expect(err).toMatch(
    /^Left out [\d,]+ lines that aren't views; to see which, run: \/.* verify \/.*views-2026-03-01\.ndjson$/,
  );
});

it('a receipt adds up files but refuses a file given twice and a day both compressed and uncompressed', async () => {
  const dir = tempDir();
  const lines = randomLines(5, 2);
  const files = lines.map((_, i) => join(dir, `views-2026-03-0${i + 1}.ndjson`));
  for (const [i, file] of files.entries()) writeFileSync(file, `${lines[i]}\n`);
  for (const operands of [files, [dir]]) {
    const { out } = await runCommand(verify, ['--receipt', ...operands]);
    expect(out).toBe(expected(lines));
  }
  expect(await runCommand(verify, ['--receipt', dir, ...files.slice(0, 1)])).toMatchObject({
    code: 65,
    err: expect.stringContaining('is given twice; name it once'),
  });
  for (const file of files) writeFileSync(`${file}.gz`, '');
  expect(await runCommand(verify, ['--receipt', dir])).toMatchObject({
    code: 65,
    err: expect.stringContaining(
      'views-2026-03-01.ndjson" also exists as a .gz file (as do 1 more); name only one of the two, or remove one, so',
    ),
  });
});
