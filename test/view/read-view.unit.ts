import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseView, readByPattern } from '../../src/view/read-view.ts';
import { isRefusal } from '../../src/view/refusal.ts';
import { ACCEPTED, anyView, FULL_VIEW, INVALID, MINIMAL_VIEW } from '../support/views.ts';

const strict = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
const whole = JSON.stringify(FULL_VIEW);

/** Returns the fields that parsing a text stores. */
function parsed(text: string) {
  const view = parseView(text);
  if (isRefusal(view)) throw new Error(view.detail);
  return { project: view.project, fields: Buffer.from(view.fields).toString() };
}

/**
 * Returns whether a body is stored unchanged and then expects that parsing would store the same.
 */
function isVerbatim(body: Uint8Array): boolean {
  const quick = readByPattern(body);
  if (quick === undefined) return false;
  expect(quick.fields).toBe(body);
  const text = strict.decode(body);
  expect({ project: quick.project, fields: text }).toStrictEqual(parsed(text));
  return true;
}

describe('a body', () => {
  it.each([
    ['with every field', FULL_VIEW],
    ['with every second field', { ...FULL_VIEW, pn: undefined, mv: undefined, cf: undefined }],
    ['with the required fields only', MINIMAL_VIEW],
    ['with text of any script', { ...FULL_VIEW, pn: 'Hjem – 家 🎈', url: '/å' }],
    ['with the escapes of JSON.stringify', { ...FULL_VIEW, pn: '"\\\b\f\n\r\t/', ref: '\\\\' }],
    ['with numbers of 15 digits', { ...FULL_VIEW, mb: -999_999_999_999_999 }],
    ['without previous pages', { ...FULL_VIEW, mp: { p: [] } }],
    [
      'with the characters just before and after the line separators',
      { ...FULL_VIEW, pn: '\u2027\u202a' },
    ],
  ])('%s is stored unchanged', (_, view) => {
    expect(isVerbatim(Buffer.from(JSON.stringify(view)))).toBe(true);
  });

  it('is stored unchanged only if parsing would store the same view, whatever its bytes', () => {
    for (const change of [...ACCEPTED, ...INVALID.map(([one]) => one)]) {
      const body = Buffer.from(JSON.stringify({ ...FULL_VIEW, ...change }));
      isVerbatim(body);
    }
    let accepted = 0;
    const token = fc.constantFrom(...Array.from(',:{}[] "0-1x/\n\u2028'), '\\u0041', '\\"', '.5');
    const put = fc.oneof(
      fc.uint8Array({ maxLength: 3 }),
      token.map((text) => Buffer.from(text)),
    );
    const damage = fc.tuple(fc.nat(), put, fc.nat({ max: 2 }));
    const view = anyView({
      text: fc.string({ unit: fc.constantFrom('a', '/', 'é', '家', '🎈') }),
      counter: fc.integer(),
      anyArray: fc.constant([]),
    });
    fc.assert(
      fc.property(view, fc.array(damage, { maxLength: 2 }), (sent, damages) => {
        let bytes = Buffer.from(parsed(JSON.stringify(sent)).fields);
        for (const [at, piece, cut] of damages) {
          const start = at % (bytes.length + 1);
          bytes = Buffer.concat([bytes.subarray(0, start), piece, bytes.subarray(start + cut)]);
        }
        if (isVerbatim(bytes)) accepted += 1;
      }),
      { numRuns: 1500 },
    );
    // With fewer unchanged bodies, the test would have compared too little.
    expect(accepted).toBeGreaterThan(150);
  });
});

describe('a body in another form', () => {
  const reversed = JSON.stringify(Object.fromEntries(Object.entries(FULL_VIEW).toReversed()));
  const respelt = (from: string | RegExp, to: string): string => whole.replace(from, to);

  it.each([
    ['its fields in reverse order', reversed],
    ['spaces', whole.replaceAll('":', '": ').replaceAll(',"', ', "')],
    ['a line for each field', `\r\n\t${JSON.stringify(FULL_VIEW, null, 2)}\n`],
    ['a newline at its end', `${whole}\n`],
    ['an escaped slash', whole.replaceAll('/', '\\/')],
    ['an escaped letter', respelt('Home', '\\u0048ome')],
    ['a field twice', respelt('"hc":', '"hc":false,"hc":')],
    ['a fraction of zero', respelt(':-3,', ':-3.0,')],
    ['an exponent', respelt(':-3,', ':-30e-1,')],
  ])('is parsed and stored in the usual form if it has %s', (_, text) => {
    expect(text).not.toBe(whole);
    expect(readByPattern(Buffer.from(text))).toBeUndefined();
    expect(parsed(text).fields).toBe(whole);
  });

  it.each([
    ['minus zero', respelt(':-3,', ':-0,')],
    ['a number of 16 digits', respelt(':-3,', ':1000000000000000,')],
    ['an element in cf', respelt('"cf":[]', '"cf":[1]')],
    ['an escaped lone surrogate', respelt('Home', '\\ud83d')],
    ['U+2028', respelt('Home', '\u2028')],
    ['U+2029', respelt('Home', '\u2029')],
    ['a byte order mark', `\ufeff${whole}`],
    ['more than 4,096 bytes', respelt('Home', 'x'.repeat(4_096))],
  ])('is parsed if it has %s', (_, text) => {
    expect(readByPattern(Buffer.from(text))).toBeUndefined();
  });
});
