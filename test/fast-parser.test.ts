import * as fc from 'fast-check';
import * as v from 'valibot';
import { describe, expect, it } from 'vitest';
import { fastParser } from '../src/fast-parser.ts';
import { ViewSchema } from '../src/view.ts';
import { ACCEPTED, anyView, FULL_VIEW, INVALID, MINIMAL_VIEW } from './support/views.ts';

const parse = fastParser(ViewSchema);

function expectAgreement(value: unknown): void {
  const { success, output } = v.safeParse(ViewSchema, value);
  const parsed = parse(value);
  expect(parsed).toStrictEqual(success ? output : undefined);
  // In the same order too, all the way down.
  expect(JSON.stringify(parsed)).toBe(success ? JSON.stringify(output) : undefined);
}

describe('the fast parser', () => {
  it('agrees with valibot on views that are taken, and on views that are not', () => {
    for (const [, change] of [...ACCEPTED, ...INVALID]) {
      expectAgreement(JSON.parse(JSON.stringify({ ...FULL_VIEW, ...change })));
    }
    for (const value of [null, [], 1, 'x', {}, FULL_VIEW, MINIMAL_VIEW]) expectAgreement(value);
  });

  it('agrees with valibot on a view with any of its parts replaced, added or taken away', () => {
    const at = fc.constantFrom(
      ...[...Object.keys(ViewSchema.entries), '__proto__', 'constructor', 'x'].map((key) => [key]),
      ...['vt', 'v30', 'dlv', 'x'].map((key) => ['mv', key]),
      ...['p', 'length', 'x'].map((key) => ['mp', key]),
      ...['templateId', 'x'].map((key) => ['content', key]),
    );
    const part = fc.oneof(
      fc.jsonValue(),
      fc.constantFrom('', '/', '1', 'en_US', '2026-02-30T00:00:00.000Z', 0.5, 2 ** 53, Infinity),
      fc.constant(undefined),
    );
    const change = fc.tuple(at, part);
    fc.assert(
      fc.property(
        anyView(),
        fc.array(change, { maxLength: 3 }),
        fc.boolean(),
        (view, changes, flip) => {
          const entries = Object.entries(view);
          const value = Object.fromEntries(flip ? entries.toReversed() : entries);
          for (const [[key, inner], replacement] of changes) {
            const parent: unknown = inner === undefined ? value : value[key!];
            if (typeof parent !== 'object' || parent === null || Array.isArray(parent)) continue;
            const name = inner ?? key!;
            // As JSON.parse does it: `__proto__` is a key like any other.
            if (replacement === undefined) Reflect.deleteProperty(parent, name);
            else Object.defineProperty(parent, name, ownData(replacement));
          }
          expectAgreement(value);
        },
      ),
      { numRuns: 2000 },
    );
  });

  it('knows every kind of schema that it is given, or says so', () => {
    expect(() => fastParser(v.date())).toThrow('No fast parser for valibot\'s "date"');
    expect(() => fastParser(v.pipe(v.string(), v.email()))).toThrow('"email"');
  });
});

const ownData = (value: unknown): PropertyDescriptor => ({
  value,
  configurable: true,
  enumerable: true,
  writable: true,
});
