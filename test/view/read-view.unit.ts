import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readAnySpelling, readByPattern } from '../../src/view/read-view.ts';
import { isRefusal } from '../../src/view/refusal.ts';
import { anyView, FULL_VIEW } from '../support/views.ts';

const strict = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** What is stored of a body as it was sent, the long way round must store as well. */
function expectSame(body: Uint8Array): boolean {
  const quick = readByPattern(body);
  if (quick === undefined) return false;
  const view = readAnySpelling(strict.decode(body));
  if (isRefusal(view)) throw new Error(view.detail);
  expect([quick.project, Buffer.from(quick.fields).toString()]).toStrictEqual([
    view.project,
    Buffer.from(view.fields).toString(),
  ]);
  return true;
}

describe('a body that is stored as it was sent', () => {
  const body = (pn: Buffer): Buffer => {
    const [before = '', after = ''] = JSON.stringify({ ...FULL_VIEW, pn: '$' }).split('$');
    return Buffer.concat([Buffer.from(before), pn, Buffer.from(after)]);
  };

  it.each([
    ['two bytes', 'å'],
    ['three bytes', '家'],
    ['four bytes', '🎈'],
    ['the last before a line separator', '\u2027'],
    ['the first after a paragraph separator', '\u202a'],
  ])('has a character of %s', (_, pn) => {
    expect(expectSame(body(Buffer.from(pn)))).toBe(true);
  });

  it.each([
    ['a byte that no character has', [0xff]],
    ['a character cut off', [0xe5, 0xae]],
    ['a continuation alone', [0x80]],
    ['a character spelt too long', [0xc0, 0xaf]],
    ['a character beyond the last', [0xf4, 0x90, 0x80, 0x80]],
    ['U+2028', [0xe2, 0x80, 0xa8]],
    ['U+2029', [0xe2, 0x80, 0xa9]],
  ])('does not have %s', (_, bytes) => {
    expect(readByPattern(body(Buffer.from(bytes)))).toBeUndefined();
  });

  it('does not begin with a byte order mark', () => {
    const text = Buffer.from(JSON.stringify(FULL_VIEW));
    expect(readByPattern(text)).toBeDefined();
    expect(readByPattern(Buffer.concat([Buffer.from('\ufeff'), text]))).toBeUndefined();
  });

  it('is what the long way round makes of it, whatever bytes it has', () => {
    let taken = 0;
    const damage = fc.tuple(fc.nat(), fc.uint8Array({ maxLength: 3 }), fc.nat({ max: 2 }));
    fc.assert(
      fc.property(
        anyView({
          text: fc.string({ unit: fc.constantFrom('a', '/', 'é', '家', '🎈') }),
          counter: fc.integer(),
          anyArray: fc.constant([]),
        }),
        fc.array(damage, { maxLength: 1 }),
        (view, damages) => {
          const read = readAnySpelling(JSON.stringify(view));
          if (isRefusal(read)) throw new Error(read.detail);
          let bytes = Buffer.from(read.fields);
          for (const [at, put, cut] of damages) {
            const start = at % (bytes.length + 1);
            bytes = Buffer.concat([bytes.subarray(0, start), put, bytes.subarray(start + cut)]);
          }
          if (expectSame(bytes)) taken += 1;
        },
      ),
      { numRuns: 800 },
    );
    // Or it has shown nothing.
    expect(taken).toBeGreaterThan(100);
  });
});

describe('a view in another spelling', () => {
  const whole = JSON.stringify(FULL_VIEW);
  const reversed = (view: object): string =>
    JSON.stringify(Object.fromEntries(Object.entries(view).toReversed()));

  it.each([
    ['its fields the other way round', reversed(FULL_VIEW)],
    ['spaces', whole.replaceAll('":', '": ').replaceAll(',"', ', "')],
    ['a line for each field', `\r\n\t${JSON.stringify(FULL_VIEW, null, 2)}\n`],
    ['an escaped slash', whole.replaceAll('/', '\\/')],
    ['an escaped letter', whole.replace('Home', '\\u0048ome')],
    ['a field twice', whole.replace('"hc":', '"hc":false,"hc":')],
  ])('is parsed and stored alike: %s', (_, text) => {
    expect(text).not.toBe(whole);
    expect(readByPattern(Buffer.from(text))).toBeUndefined();
    const view = readAnySpelling(text);
    if (isRefusal(view)) throw new Error(view.detail);
    expect(Buffer.from(view.fields).toString()).toBe(whole);
  });

  it('is parsed if it is longer than 4,096 bytes', () => {
    const length = Buffer.byteLength(JSON.stringify({ ...FULL_VIEW, pn: '' }));
    const ofLength = (bytes: number) =>
      Buffer.from(JSON.stringify({ ...FULL_VIEW, pn: 'x'.repeat(bytes - length) }));
    expect(expectSame(ofLength(4_096))).toBe(true);
    expect(readByPattern(ofLength(4_097))).toBeUndefined();
  });
});
