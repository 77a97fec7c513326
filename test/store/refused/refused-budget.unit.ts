import { expect, test } from 'vitest';
import { RefusedBudget } from '../../../src/store/refused/refused-budget.ts';

const MiB = 1024 * 1024;

test('ids beyond 4,096 share one allowance: made-up ids fill neither disk nor memory', () => {
  const budget = new RefusedBudget(1024 * MiB, 0);
  for (let id = 0; id < 4095; id++) budget.spend(1, String(id));
  expect(budget.spend(MiB, 'last of its own')).toBeUndefined();
  expect(budget.spend(MiB - 1, 'first to share')).toBeUndefined();
  expect(budget.spend(1, 'second to share')).toBeUndefined();
  expect(budget.spend(1, 'third to share')).toBe('projectFull');
  // Those that have their own still have it.
  expect(budget.spend(MiB - 1, '0')).toBeUndefined();
  expect(budget.spend(1, '0')).toBe('projectFull');
});

test('the last byte is kept, the one after it is not', () => {
  const budget = new RefusedBudget(1000, 100);
  expect(budget.spend(900, undefined)).toBeUndefined();
  expect(budget.spend(1, undefined)).toBe('dayFull');
});

test('strangers get half, of which what the file holds at the start is a part', () => {
  const budget = new RefusedBudget(1000, 100);
  expect(budget.spend(401, '2')).toBe('dayFull');
  expect(budget.spend(400, '2')).toBeUndefined();
  expect(budget.spend(1, '3')).toBe('dayFull');
  expect(budget.spend(500, undefined)).toBeUndefined();
  expect(budget.spend(1, undefined)).toBe('dayFull');
});
