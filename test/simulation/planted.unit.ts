import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { FAULTS } from '../installation/faults.ts';
import { faultsIn, plant } from './planted.mjs';

const lists = readdirSync('test')
  .map((name) => `test/${name}`)
  .filter((directory) => existsSync(`${directory}/planted.txt`));

test.each(lists)('every fault of %s/planted.txt can be planted in the source', (directory) => {
  const cannot = faultsIn(directory).flatMap(({ name, file, replacements }) => {
    try {
      return plant(readFileSync(file, 'utf8'), replacements) ? [] : [name];
    } catch (error) {
      return [`${name}: ${(error as Error).message}`];
    }
  });
  expect(cannot, 'planted.txt must quote the lines that the source has now').toEqual([]);
});

test('test/installation/planted.txt names only faults that exist', () => {
  const names = Object.keys(FAULTS);
  const named = faultsIn('test/installation').map(({ finders }) => finders);
  expect(named.filter((part) => !names.some((name) => name.includes(part)))).toStrictEqual([]);
});
