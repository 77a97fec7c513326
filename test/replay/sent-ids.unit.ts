import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { SentIds } from '../../src/replay/sent-ids.ts';
import { tempDir } from '../support/temp-dir.ts';

const ID = (n: number): string => `019ca6b1-dc00-7000-8000-${String(n).padStart(12, '0')}`;

function fileWith(record: string) {
  const file = join(tempDir(), 'refused-2026-03-01.ndjson');
  writeFileSync(`${file}.replayed`, record);
  return { file, text: () => readFileSync(`${file}.replayed`, 'utf8') };
}

it.each([ID(2).slice(0, 20), ID(2), `${ID(2)} \0\0`, '\0\0\0\0'])(
  'goes on after a crash that left %j',
  async (torn) => {
    const { file, text } = fileWith(`${ID(1)} ?\n${torn}`);
    const first = await SentIds.open(file);
    expect([1, 2].map((n) => first.states.get(ID(n)))).toStrictEqual(['?', undefined]);
    await first.record(ID(3), '?');
    await first.close();
    expect(text()).toBe(`${ID(1)} ?\n${torn}\n${ID(3)} ?\n`);
    const second = await SentIds.open(file);
    expect(second.states.get(ID(3))).toBe('?');
    await second.close();
  },
);

it.each(['{"sequence":1}\n', `${ID(1)} +\n${ID(2)} *\n`])('refuses %j', async (found) => {
  const { file, text } = fileWith(found);
  await expect(SentIds.open(file)).rejects.toMatchObject({
    exitCode: 65,
    message: expect.stringContaining('is not a record of sent views: its line '),
  });
  expect(text()).toBe(found);
});

it('cannot be written: exit 73', async () => {
  const file = join(tempDir(), 'refused-2026-03-01.ndjson');
  mkdirSync(`${file}.replayed`);
  await expect(SentIds.open(file)).rejects.toMatchObject({ exitCode: 73 });
});
