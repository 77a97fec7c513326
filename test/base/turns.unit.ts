import { expect, it } from 'vitest';
import { Turns } from '../../src/base/turns.ts';

let nowMs = 0;
const turnsOf = (): Turns => new Turns(() => nowMs);
/** Work that takes so long, by the clock above. */
const work = (ms: number) => (): void => void (nowMs += ms);

const loopTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

it('does as much of the work as fits into a turn of the event loop, in order, and the rest later', async () => {
  const turns = turnsOf();
  const done: number[] = [];
  const all = Array.from({ length: 10 }, (_, i) =>
    turns.run(() => {
      work(1.1)();
      done.push(i);
      return i;
    }),
  );
  // Two pieces of 1.1 ms are more than 2 ms.
  for (const count of [2, 4, 6, 8, 10]) {
    expect(done).toHaveLength(count);
    await loopTurn();
  }
  expect(await Promise.all(all)).toStrictEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
  expect(done).toStrictEqual(await Promise.all(all));
});

it('does short work at once, and again after a turn of the loop', async () => {
  const turns = turnsOf();
  for (let round = 0; round < 3; round++) {
    let done = 0;
    for (let i = 0; i < 10; i++) void turns.run(() => (done += 1));
    expect(done).toBe(10);
    void turns.run(work(3));
    void turns.run(() => (done += 1));
    expect(done).toBe(10);
    await loopTurn();
    expect(done).toBe(11);
    await loopTurn();
  }
});

it('rejects with what the work throws, at once or later, and goes on', async () => {
  const turns = turnsOf();
  const failing = (): never => {
    throw new Error('no');
  };
  await expect(turns.run(failing)).rejects.toThrow('no');
  void turns.run(work(3));
  const later = turns.run(failing);
  const next = turns.run(() => 'next');
  await expect(later).rejects.toThrow('no');
  expect(await next).toBe('next');
});
