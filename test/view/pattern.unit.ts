import * as fc from 'fast-check';
import * as v from 'valibot';
import { describe, expect, it } from 'vitest';
import { patternOf, verbatim } from '../../src/view/pattern.ts';
import { ViewSchema } from '../../src/view/view-schema.ts';
import { ACCEPTED, anyView, FULL_VIEW, INVALID, MINIMAL_VIEW } from '../support/views.ts';

// Mostly such as need no escape: a url with one is not taken.
const CHARACTERS = Array.from('abcdefghijklmnopqrstuvwxyz/-åé家🎈"\\\n');
const TOKENS = Array.from(',:{}[] "0-1x/🎈\n\u2028');
const PIECES = [
  '',
  '\\',
  '\\"',
  '\\u0041',
  '\\ud800',
  '\ud83d',
  '\udc00',
  'null',
  '.5',
  'e1',
  '""',
];

/** Asked as it is asked: of a character for each byte. */
const bytewise = (schema: object, key: string): ((text: string) => string | undefined) => {
  const valueOf = verbatim(schema, key);
  return (text) => valueOf(Buffer.from(text).toString('latin1'));
};

const projectOf = bytewise(ViewSchema, 'p');

/** What a text becomes the long way round, where it is a valid view. */
function stored(text: string): { readonly project: string; readonly fields: string } | undefined {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return undefined;
  }
  const { success, output } = v.safeParse(ViewSchema, value);
  if (!success) return undefined;
  const fields = JSON.stringify(output)
    .replaceAll(/[\u2028\u2029]/g, '?')
    .toWellFormed();
  return { project: output.p, fields };
}

/** What is taken verbatim, the long way round must leave as it is. */
function expectAgreement(text: string): void {
  const project = projectOf(text);
  if (project !== undefined) expect(stored(text)).toStrictEqual({ project, fields: text });
}

describe('a view that is taken verbatim', () => {
  it.each([
    ['has every field', FULL_VIEW],
    ['has the required fields only', MINIMAL_VIEW],
    ['has text of any script', { ...FULL_VIEW, pn: 'Hjem – 家 🎈', url: '/å' }],
    ['has the escapes of JSON.stringify', { ...FULL_VIEW, pn: '"\\\b\f\n\r\t/', ref: '\\\\' }],
    ['has numbers of 15 digits', { ...FULL_VIEW, mb: -999_999_999_999_999 }],
    ['has no previous pages', { ...FULL_VIEW, mp: { p: [] } }],
  ])('%s', (_, view) => {
    expect(projectOf(JSON.stringify(view))).toBe('1000001');
  });

  it('may lack any of the optional fields', () => {
    for (const key of Object.keys(FULL_VIEW)) {
      const text = JSON.stringify({ ...FULL_VIEW, [key]: undefined });
      expect([key, projectOf(text)]).toStrictEqual([
        key,
        key in MINIMAL_VIEW ? undefined : '1000001',
      ]);
    }
  });
});

describe('a view that is not', () => {
  it.each(INVALID)('is invalid with %s', (_, change) => {
    expect(projectOf(JSON.stringify({ ...FULL_VIEW, ...change }))).toBeUndefined();
  });

  it.each([
    ['spaces', (text: string) => text.replace(':', ': ')],
    ['a newline at its end', (text: string) => `${text}\n`],
    ['another order', (text: string) => text.replace(/("pn":[^,]*),("pid":[^,]*)/, '$2,$1')],
    ['a field twice', (text: string) => text.replace('"hc":', '"hc":false,"hc":')],
    ['an escaped slash', (text: string) => text.replace('https:', 'https:\\/')],
    ['an escaped letter', (text: string) => text.replace('Home', '\\u0048ome')],
    ['an escaped lone surrogate', (text: string) => text.replace('Home', '\\ud83d')],
    ['U+2028', (text: string) => text.replace('Home', '\u2028')],
    ['U+2029', (text: string) => text.replace('Home', '\u2029')],
    ['a fraction of zero', (text: string) => text.replace(':-3,', ':-3.0,')],
    ['an exponent', (text: string) => text.replace(':-3,', ':3e0,')],
    ['minus zero', (text: string) => text.replace(':-3,', ':-0,')],
    ['a number of 16 digits', (text: string) => text.replace(':-3,', ':1000000000000000,')],
    ['an element in cf', (text: string) => text.replace('"cf":[]', '"cf":[1]')],
    ['a language that is not ASCII', (text: string) => text.replace('nb-NO', 'nb-ÑO')],
  ])('has %s', (_, respell) => {
    const text = JSON.stringify(FULL_VIEW);
    expect(respell(text)).not.toBe(text);
    expect(projectOf(respell(text))).toBeUndefined();
  });
});

describe('the long way round', () => {
  it('leaves every accepted view that is taken verbatim as it is', () => {
    for (const [, change] of ACCEPTED) {
      expectAgreement(JSON.stringify({ ...FULL_VIEW, ...change }));
    }
  });

  it('leaves any text that is taken verbatim as it is', () => {
    let taken = 0;
    const view = anyView({
      text: fc.string({ unit: fc.constantFrom(...CHARACTERS) }),
      counter: fc.integer(),
      anyArray: fc.constant([]),
    })
      // In the schema's order.
      .map((any) => JSON.stringify(v.parse(ViewSchema, any)));
    const damage = fc.tuple(fc.nat(), fc.nat({ max: 2 }), fc.constantFrom(...TOKENS, ...PIECES));
    fc.assert(
      fc.property(view, fc.array(damage, { maxLength: 2 }), (text, damages) => {
        const damaged = damages.reduce((whole, [at, cut, put]) => {
          const start = at % (whole.length + 1);
          return whole.slice(0, start) + put + whole.slice(start + cut);
        }, text);
        // No bytes of UTF-8 are half of a pair.
        expectAgreement(damaged.toWellFormed());
        if (projectOf(damaged) !== undefined) taken += 1;
      }),
      { numRuns: 3000 },
    );
    // Or it has shown nothing.
    expect(taken).toBeGreaterThan(200);
  });
});

// Each as an optional field beside a required one.
const KINDS: [string, v.GenericSchema, taken: unknown[], parsed: unknown[]][] = [
  ['a longest length', v.pipe(v.string(), v.maxLength(4)), ['åå', '🎈'], ['ååååå']],
  ['a start beyond ASCII', v.pipe(v.string(), v.startsWith('å')), ['å', 'å家'], ['a', 'Å']],
  [
    'a condition that a character beyond ASCII breaks, and its bytes do not',
    v.pipe(v.string(), v.regex(/^\S*$/), v.regex(/^.{0,3}$/u)),
    ['abc'],
    ['a\u2003c', '家', 'ab cd'],
  ],
  ['a pipe in a pipe', v.pipe(v.pipe(v.string(), v.nonEmpty()), v.maxLength(2)), ['ab'], ['abc']],
  ['any number', v.number(), [], [0, 1.5]],
  ['a smallest number', v.pipe(v.number(), v.integer(), v.minValue(1)), [], [0, 1]],
  ['a shortest length', v.pipe(v.string(), v.minLength(3)), [], ['abc', 'ab']],
  ['a change', v.pipe(v.string(), v.trim()), [], ['ab', ' ab']],
  ['a list of words', v.picklist(['light', 'dark']), [], ['light', 'Light']],
  ['null or a string', v.nullable(v.string()), [], [null, 'x', 1]],
  ['an array of integers', v.array(v.pipe(v.number(), v.integer())), [[], [1, -2]], [['a'], [0.5]]],
  ['an array of conditions', v.array(v.pipe(v.string(), v.nonEmpty())), [[]], [['a'], ['']]],
  ['an array that is not empty', v.pipe(v.array(v.string()), v.minLength(1)), [], [['a'], []]],
  [
    'an object with a field required in the middle',
    v.strictObject({ a: v.optional(v.string()), b: v.string(), c: v.optional(v.boolean()) }),
    [{ b: '' }, { a: '', b: '' }, { b: '', c: true }, { a: '', b: '', c: false }],
    [{ a: '' }, { b: '', d: 1 }],
  ],
  [
    'an object of optional fields',
    v.strictObject({ a: v.optional(v.string()) }),
    [],
    [{}, { a: '' }],
  ],
  [
    'odd characters in a name',
    v.strictObject({ 'a.b"\\(c)': v.string() }),
    [{ 'a.b"\\(c)': '' }],
    [],
  ],
  ['any object', v.object({ a: v.string() }), [], [{ a: '' }, { a: '', b: 1 }]],
  [
    'a condition on an object',
    v.pipe(
      v.strictObject({ a: v.string() }),
      v.check(({ a }) => a > 'a'),
    ),
    [],
    [{ a: 'b' }, { a: 'a' }],
  ],
  ['anything', v.unknown(), [], [1, null, 'a', {}]],
  ['a substitute for what is wrong', v.fallback(v.string(), 'x'), [], ['a', 1]],
];

describe('the pattern of a schema', () => {
  const pid = v.pipe(v.string(), v.nonEmpty());

  it.each(KINDS)(
    'with %s takes what it knows, and leaves the rest to parsing',
    (_, field, taken, parsed) => {
      const idOf = bytewise(v.strictObject({ pid, field: v.optional(field) }), 'pid');
      const valueOf = (value: unknown) => idOf(JSON.stringify({ pid: '1', field: value }));
      for (const value of taken) expect([value, valueOf(value)]).toStrictEqual([value, '1']);
      for (const value of parsed) expect([value, valueOf(value)]).toStrictEqual([value, undefined]);
      expect(idOf('{"pid":"1"}')).toBe('1');
      expect(idOf('{"pid":"1",}')).toBeUndefined();
    },
  );

  it.each(KINDS)(
    'with %s takes nothing that parsing would refuse or change',
    (_, field, ...values) => {
      const schema = v.strictObject({ field: v.optional(field), pid });
      const idOf = bytewise(schema, 'pid');
      const texts = fc
        .tuple(
          fc.oneof(fc.constantFrom(...values.flat()), fc.jsonValue({ depthSize: 'small' })),
          fc.constantFrom('', ',', ' ', '"pid":"2",', ',"field":""'),
        )
        .map(([value, piece]) => `{"field":${JSON.stringify(value)},${piece}"pid":"1"}`);
      fc.assert(
        fc.property(texts, (text) => {
          if (idOf(text) === undefined) return;
          expect(JSON.stringify(v.parse(schema, JSON.parse(text)))).toBe(text);
        }),
      );
    },
  );

  it('is none if a required field is unknown to it, or an absent one has a default', () => {
    for (const q of [
      v.date(),
      v.optional(v.string(), 'x'),
      v.fallback(v.optional(v.string()), 'x'),
    ]) {
      const idOf = bytewise(v.strictObject({ pid, q }), 'pid');
      expect(idOf('{"pid":"1","q":"x"}')).toBeUndefined();
      expect(idOf('{"pid":"1"}')).toBeUndefined();
    }
    expect(bytewise(v.strictObject({ pid }), 'none')('{"pid":"1"}')).toBeUndefined();
    expect(bytewise(v.date(), 'pid')('{"pid":"1"}')).toBeUndefined();
  });

  it('has every field of a view, for the collector and for a report', () => {
    for (const isChecked of [true, false]) {
      const pattern = patternOf(ViewSchema, { captured: new Set(), isChecked });
      for (const key of Object.keys(ViewSchema.entries))
        expect(pattern?.source).toContain(`"${key}":`);
    }
  });
});
