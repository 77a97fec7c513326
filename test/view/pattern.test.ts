import * as fc from 'fast-check';
import * as v from 'valibot';
import { describe, expect, it } from 'vitest';
import { verbatim } from '../../src/view/pattern.ts';
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

const projectOf = verbatim(ViewSchema, 'p');

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

  it('is as long as 16,384 characters, and no longer', () => {
    const { length } = JSON.stringify(FULL_VIEW);
    const ofLength = (wanted: number): string =>
      JSON.stringify({ ...FULL_VIEW, pn: FULL_VIEW.pn + 'x'.repeat(wanted - length) });
    expect(projectOf(ofLength(16_384))).toBe('1000001');
    expect(projectOf(ofLength(16_385))).toBeUndefined();
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
    ['a lone surrogate', (text: string) => text.replace('Home', '\ud83d')],
    ['an escaped lone surrogate', (text: string) => text.replace('Home', '\\ud83d')],
    ['U+2028', (text: string) => text.replace('Home', '\u2028')],
    ['U+2029', (text: string) => text.replace('Home', '\u2029')],
    ['a fraction of zero', (text: string) => text.replace(':-3,', ':-3.0,')],
    ['an exponent', (text: string) => text.replace(':-3,', ':3e0,')],
    ['minus zero', (text: string) => text.replace(':-3,', ':-0,')],
    ['a number of 16 digits', (text: string) => text.replace(':-3,', ':1000000000000000,')],
    ['an element in cf', (text: string) => text.replace('"cf":[]', '"cf":[1]')],
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
        expectAgreement(damaged);
        if (projectOf(damaged) !== undefined) taken += 1;
      }),
      { numRuns: 3000 },
    );
    // Or it has shown nothing.
    expect(taken).toBeGreaterThan(200);
  });
});

describe('the pattern', () => {
  it('knows every kind of schema that it is given, or says so', () => {
    const p = v.pipe(v.string(), v.nonEmpty());
    expect(verbatim(v.strictObject({ p }), 'p')('{"p":"1"}')).toBe('1');
    const fields = [
      v.date(),
      v.object({ p }),
      v.number(),
      v.pipe(v.number(), v.integer(), v.safeInteger(), v.minValue(1)),
      v.pipe(v.string(), v.email()),
      v.pipe(v.array(v.unknown()), v.minLength(1)),
      v.pipe(
        v.array(v.unknown()),
        v.check(({ length }) => length > 0),
      ),
      v.pipe(v.array(v.string()), v.minLength(1)),
      v.array(p),
      v.array(v.strictObject({ p })),
    ];
    for (const q of fields) {
      expect(() => verbatim(v.strictObject({ p, q }), 'p')).toThrow(/^No pattern for /);
    }
    expect(() => verbatim(v.strictObject({ p }), 'q')).toThrow('"q" is no string with conditions');
  });
});
