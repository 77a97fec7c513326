import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { Body, piecesMaxOf } from '../../src/http/body.ts';
import { MemoryBudget, Reservation } from '../../src/http/memory-budget.ts';

const newBody = (bytesMax: number, budget = new MemoryBudget(1024 * 1024)) => {
  const reservation = new Reservation(budget);
  const before = budget.bytes;
  return {
    body: new Body(bytesMax, reservation),
    reservation,
    charged: () => budget.bytes - before,
  };
};

it('a body joins its pieces in order up to the limit and charges at most twice its bytes', () => {
  const pieces = fc.array(fc.uint8Array({ maxLength: 300 }), { maxLength: 40 });
  fc.assert(
    fc.property(pieces, fc.integer({ min: 1, max: 4_000 }), (all, bytesMax) => {
      const { body, reservation, charged } = newBody(bytesMax);
      const kept: Uint8Array[] = [];
      for (const piece of all) {
        const bytes = Buffer.concat([...kept, piece]).length;
        const fault = body.add(piece);
        expect(fault).toBe(bytes > bytesMax ? 'too-large' : undefined);
        if (fault !== undefined) break;
        kept.push(piece.slice());
        piece.fill(0); // as a runtime does that reuses its buffer
      }
      const whole = Buffer.concat(kept);
      expect(Buffer.from(body.whole)).toStrictEqual(whole);
      expect(charged()).toBeGreaterThanOrEqual(whole.length);
      expect(charged()).toBeLessThanOrEqual(Math.min(bytesMax, 2 * whole.length));
      reservation.release();
    }),
  );
});

it('a body refuses more pieces than the limit', () => {
  const { body } = newBody(16 * 1024);
  const one = Buffer.from('x');
  for (let i = 0; i < piecesMaxOf(16 * 1024); i++) expect(body.add(one)).toBeUndefined();
  expect(body.add(one)).toBe('too-many-pieces');
});
