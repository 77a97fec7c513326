import * as fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { Deadlines } from '../../src/http/deadlines.ts';

describe('deadlines', () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  it('expire in time and in turn, but for those that are cleared', () => {
    const step = fc.oneof(
      fc.record({ pass: fc.nat({ max: 400 }) }),
      fc.record({ set: fc.constant(true) }),
      fc.record({ clear: fc.nat() }),
    );
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60, size: 'max' }), (steps) => {
        const deadlines = new Deadlines(1000);
        const expired: [number, number][] = [];
        const all: { readonly dueMs: number; readonly clear: () => void; clearedMs?: number }[] =
          [];
        const add = (): void => {
          const number = all.length;
          const deadline = deadlines.set(() => expired.push([number, performance.now()]));
          const clear = (): void => deadlines.clear(deadline);
          all.push({ dueMs: performance.now() + 1000, clear });
        };
        for (const act of steps) {
          if ('pass' in act) vi.advanceTimersByTime(act.pass);
          else if ('set' in act) add();
          else {
            // Those, too, that are over.
            const one = all[act.clear % all.length];
            one?.clear();
            if (one !== undefined) one.clearedMs ??= performance.now();
          }
          expect(vi.getTimerCount()).toBeLessThan(2);
        }
        vi.advanceTimersByTime(2000);
        expect(vi.getTimerCount()).toBe(0);
        const wanted = all.flatMap(({ dueMs, clearedMs }, number) =>
          clearedMs !== undefined && clearedMs < dueMs ? [] : [[number, dueMs]],
        );
        expect(expired).toStrictEqual(wanted);
      }),
      { numRuns: 500 },
    );
  });
});
