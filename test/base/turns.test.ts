import { expect, it } from 'vitest';
import { Turns } from '../../src/base/turns.ts';

/** Works for this long, however busy the machine. */
function spin(ms: number): void {
  const endMs = performance.now() + ms;
  while (performance.now() < endMs);
}

const loopTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

it('does as much of the work as fits into a turn of the event loop, in order, and the rest later', async () => {
  const turns = new Turns();
  const done: number[] = [];
  const all = Array.from({ length: 40 }, (_, i) =>
    turns.run(() => {
      spin(1.1);
      done.push(i);
      return i;
    }),
  );
  expect(done.length).toBeGreaterThan(0);
  const perTurn = [done.length];
  while (done.length < all.length) {
    const before = done.length;
    await loopTurn();
    perTurn.push(done.length - before);
  }
  // Two pieces of 1.1 ms are more than 2 ms. A turn that this waits for may have been two.
  expect(Math.max(...perTurn)).toBeLessThanOrEqual(4);
  expect(done).toStrictEqual(all.map((_, i) => i));
  expect(await Promise.all(all)).toStrictEqual(done);
});

it('does short work at once, and after a turn of the loop again', async () => {
  const turns = new Turns();
  for (let round = 0; round < 3; round++) {
    let done = 0;
    for (let i = 0; i < 10; i++) void turns.run(() => (done += 1));
    expect(done).toBe(10);
    void turns.run(() => spin(3));
    await loopTurn();
    await loopTurn();
  }
});

it('rejects with what the work throws, at once or later, and goes on', async () => {
  const turns = new Turns();
  const failing = (): never => {
    throw new Error('no');
  };
  await expect(turns.run(failing)).rejects.toThrow('no');
  void turns.run(() => spin(3));
  const later = turns.run(failing);
  const next = turns.run(() => 'next');
  await expect(later).rejects.toThrow('no');
  expect(await next).toBe('next');
});
