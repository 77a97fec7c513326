import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { systemFiles } from '../../src/disk/ops.ts';
import { readReplayed, ReplayRecord } from '../../src/replay/replay-record.ts';
import { tempDir } from '../support/temp-dir.ts';

const DAY = '2026-03-01';
const ID = (n: number): string => `019ca6b1-dc00-7000-8000-${String(n).padStart(12, '0')}`;

const MS = Date.parse('2026-03-01T00:00:00.000Z');

const viewOf = (n: number, origin?: string) => {
  return { id: ID(n), day: DAY, code: 'origin-not-allowed', origin, text: '{}' };
};

/** Opens a record with this text; `reopen` opens it as another process would. */
function recordOf(found?: string) {
  const dir = tempDir();
  const path = join(dir, `refused-${DAY}.ndjson.replayed`);
  if (found !== undefined) writeFileSync(path, found);
  const reopen = (): ReplayRecord => new ReplayRecord(dir, systemFiles);
  return { dir, path, reopen, record: reopen(), text: () => readFileSync(path, 'utf8') };
}

it.each([ID(2).slice(0, 20), ID(2), `${ID(2)} ? 1`, `${ID(2)} ? 10\0`, `${ID(2)} \0\0`, '\0\0'])(
  'a record of sent views continues after a crash that left %j',
  async (torn) => {
    const { record, reopen, text } = recordOf(`${ID(1)} ? 9 x\n${torn}`);
    const states = await Promise.all([1, 2].map((n) => record.stateOf(viewOf(n))));
    expect(states).toStrictEqual(['?', undefined]);
    await record.append(viewOf(3), '?', '9');
    await record.close();
    expect(text()).toBe(`${ID(1)} ? 9 x\n${torn}!\n${ID(3)} ? 9 origin-not-allowed\n`);
    const found = await Promise.all([1, 2, 3].map((n) => reopen().stateOf(viewOf(n))));
    expect(found).toStrictEqual(['?', undefined, '?']);
  },
);

it.each(['+', '-'] as const)(
  'a record of sent views counts a last line "ID %s" even without its newline',
  async (state) => {
    const { record, reopen } = recordOf(`${ID(1)} ? 9 x\n${ID(1)} ${state}`);
    expect(await record.stateOf(viewOf(1))).toBe(state);
    await record.append(viewOf(2), '?', '9');
    await record.close();
    const found = await Promise.all([1, 2].map((n) => reopen().stateOf(viewOf(n))));
    expect(found).toStrictEqual([state, '?']);
  },
);

it.each([
  ['has lines in another format', '{"sequence":1}\n'],
  ['has a line with an unknown state', `${ID(1)} +\n${ID(2)} *\n`],
])('replay refuses a record that %s', async (_, found) => {
  const { record, text } = recordOf(found);
  await expect(record.stateOf(viewOf(1))).rejects.toMatchObject({
    exitCode: 65,
    message: expect.stringMatching(
      /isn't a record of sent views: its line .*; if you added that line, correct it\. Otherwise, /,
    ),
  });
  expect(text()).toBe(found);
});

it("replay exits with code 73 if its record of sent views can't be opened", async () => {
  const { dir, record } = recordOf();
  await record.stateOf(viewOf(1));
  mkdirSync(join(dir, `refused-${DAY}.ndjson.replayed`));
  await expect(record.append(viewOf(1), '?', '9')).rejects.toMatchObject({ exitCode: 73 });
});

it('a record of sent views counts accepted and unknown ones by project, code and Origin, whatever the Origin contains', async () => {
  const { dir, record } = recordOf();
  const odd = '"\\ \u2028\u00e9 +\t?';
  const sent = [viewOf(1, odd), viewOf(2, odd), viewOf(3), viewOf(4), viewOf(5), viewOf(6)];
  for (const view of sent) await record.append(view, '?', '9');
  for (const view of sent.slice(0, 3)) await record.append(view, '+', '9');
  // View 4 is refused and then accepted, 5 keeps an unknown outcome, 6 is refused, and 7 is of
  // another day.
  for (const state of ['-', '?', '+'] as const) await record.append(viewOf(4), state, '9');
  await record.append({ ...viewOf(7), day: '2026-03-02' }, '?', '9');
  await record.append(viewOf(6), '-', '9');
  expect(record.unknown().flatMap(({ ids }) => ids)).toStrictEqual([ID(5), ID(7)]);
  const [project, code] = ['9', 'origin-not-allowed'];
  expect(await readReplayed(dir, DAY)).toStrictEqual([
    { state: '+', project, code, origin: odd, refusedMs: [MS, MS] },
    { state: '+', project, code, origin: undefined, refusedMs: [MS, MS] },
    { state: '?', project, code, origin: undefined, refusedMs: [MS] },
  ]);
  await record.close();
});
