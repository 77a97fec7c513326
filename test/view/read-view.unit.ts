import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readAnySpelling, readByPattern } from '../../src/view/read-view.ts';
import { isRefusal } from '../../src/view/refusal.ts';
import { respeller } from '../../src/view/respell.ts';
import { growth } from '../support/growth.ts';
import { anyView, FULL_VIEW, MINIMAL_VIEW } from '../support/views.ts';

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
  const escaped = (text: string): string =>
    text.replaceAll(
      /[^ -~]/g,
      (letter) => `\\u${letter.charCodeAt(0).toString(16).padStart(4, '0')}`,
    );

  it.each([
    ['its fields the other way round', reversed(FULL_VIEW)],
    ['the required fields only', reversed(MINIMAL_VIEW)],
    ['spaces', whole.replaceAll('":', '": ').replaceAll(',"', ', "')],
    ['a line for each field', `\r\n\t${JSON.stringify(FULL_VIEW, null, 2)}\n`],
    [
      'quotes and backslashes',
      reversed({ ...FULL_VIEW, pn: '\\"', ref: '\\', orgreferer: '"\\\\"' }),
    ],
    ['values in cf', reversed({ ...FULL_VIEW, cf: ['å', 1.5, { b: [null, true], a: '}' }] })],
    ['lists in lists in cf', JSON.stringify({ ...FULL_VIEW, cf: [[[[[['a']]]]]] })],
    ['other arrays in cf', JSON.stringify({ ...FULL_VIEW, cf: [{ csf: [1], cf: [2] }], csf: [3] })],
    ['spaces in strings of cf', JSON.stringify({ ...FULL_VIEW, cf: [' a ', ' "] '] }, null, 1)],
  ])('is stored as the long way round would, without it: %s', (_, text) => {
    expect(text).not.toBe(whole);
    expect(expectSame(Buffer.from(text))).toBe(true);
  });

  it.each([
    ['another bracket at its start', reversed(FULL_VIEW).replace('{', '[')],
    ['another bracket at its end', reversed(FULL_VIEW).replace(/\}$/, ']')],
    ['a field twice', whole.replace('"hc":', '"hc":false,"hc":')],
    ['another field', whole.replace('"hc":', '"toString":1,"hc":')],
    ['a field missing', reversed({ ...MINIMAL_VIEW, p: undefined })],
    ['a space within a number', whole.replace('"v30":0', '"v30":1 2')],
    ['a space within a word', whole.replace('true', 'tr ue')],
    ['a space within a number, at the top', whole.replace(':-3', ':- 3')],
    ['a space that is none in JSON', whole.replace(',', ',\u00a0')],
    ['a comma too many', whole.replace('}', ',}')],
    ['a comma too many at its end', whole.replace(/\}$/, ',}')],
    ['no comma', whole.replace(',"hc"', ' "hc"')],
    ['no colon', whole.replace('"hc":', '"hc" ')],
    ['no value', whole.replace('"hc":true', '"hc":')],
    ['no end', reversed(FULL_VIEW).slice(0, -1)],
    ['more after its end', `${reversed(FULL_VIEW)}}`],
    ['nothing but its start', '{'],
    ['no field', '{ }'],
    ['a string without an end', '{"pn":"'],
    ['half of a surrogate pair', reversed({ ...FULL_VIEW, pn: '$' }).replace('$', '\\ud83d')],
    ['a field of mv moved', whole.replace(/("vt":1),("v30":0)/, '$2, $1')],
    ['a number in cf that a double cannot hold', whole.replace('"cf":[', '"cf":[1e400 ')],
    ['a key twice in cf', whole.replace('"cf":[', '"cf":[{"a":1, "a":2}')],
    [
      'keys in cf that are parsed into another order',
      whole.replace('"cf":[', '"cf":[{"b":1,"1":2}'),
    ],
    ['a letter escaped', escaped(JSON.stringify({ ...FULL_VIEW, pn: 'På' }))],
    ['an escaped slash', whole.replaceAll('/', '\\/')],
    ['U+2028 in cf', whole.replace('"cf":[', '"cf":["\u2028"')],
    [
      'lists in lists in cf, too many',
      whole.replace('"cf":[', `"cf":[${'['.repeat(32)}${']'.repeat(32)}`),
    ],
    ['no end of cf', whole.replace('"cf":[', '"cf":[[')],
    ['an object for cf', whole.replace('"cf":[]', '"cf":{"a":1}')],
    ['cf in a text', JSON.stringify({ ...FULL_VIEW, pn: '"cf":[1]', mb: 0.5 })],
    ['cf twice', whole.replace('"csf":', '"cf":[1],"csf":')],
    ['a number in cf that is spelt otherwise', whole.replace('"cf":[', '"cf":[ 1.0')],
  ])('is left to the long way round where it has %s', (_, text) => {
    expect(text).not.toBe(whole);
    expect(readByPattern(Buffer.from(text))).toBeUndefined();
  });

  it('is left to it where it is longer than 4,096 bytes, or no UTF-8', () => {
    const length = Buffer.byteLength(reversed({ ...FULL_VIEW, pn: '' }));
    const ofLength = (bytes: number) =>
      Buffer.from(reversed({ ...FULL_VIEW, pn: 'x'.repeat(bytes - length) }));
    expect(expectSame(ofLength(4_096))).toBe(true);
    expect(readByPattern(ofLength(4_097))).toBeUndefined();
    expect(readByPattern(Buffer.concat([ofLength(500), Buffer.alloc(3_597, ' ')]))).toBeUndefined();
    const body = ofLength(500);
    body[body.indexOf('xx')] = 0xff;
    expect(readByPattern(body)).toBeUndefined();
  });

  it('is what the long way round makes of it, however it is spelt', () => {
    let taken = 0;
    const space = fc.constantFrom('', '', ' ', '\n\t', '\r ');
    const damage = fc.tuple(
      fc.nat(),
      fc.constantFrom(
        '',
        ' ',
        '"',
        '\\',
        '\\u00e5',
        '\\/',
        '1',
        ',',
        ':',
        '}',
        ']',
        '{',
        '[',
        '家',
      ),
      fc.nat({ max: 2 }),
    );
    fc.assert(
      fc.property(
        anyView({
          text: fc.string({ unit: fc.constantFrom('a', 'b', '/', 'é', '家', '🎈', ' ') }),
          counter: fc.integer(),
          anyArray: fc.array(fc.jsonValue({ maxDepth: 3 }), { maxLength: 2 }),
        }),
        fc.infiniteStream(fc.nat()),
        fc.infiniteStream(space),
        fc.boolean(),
        fc.array(damage, { maxLength: 1 }),
        (view, numbers, spaces, isEscaped, damages) => {
          const order = new Map(Object.keys(view).map((key) => [key, numbers.next().value]));
          const shuffled = Object.entries(view).toSorted(
            ([a], [b]) => order.get(a)! - order.get(b)!,
          );
          const plain = JSON.stringify(Object.fromEntries(shuffled));
          let text = (isEscaped ? escaped(plain) : plain).replaceAll(
            /("(?:[^"\\]|\\.)*")|[[\]{},:]/g,
            (token, string) =>
              // Hardly anybody has space before a colon.
              string ?? `${token === ':' ? '' : spaces.next().value}${token}${spaces.next().value}`,
          );
          for (const [at, put, cut] of damages) {
            const start = at % (text.length + 1);
            text = text.slice(0, start) + put + text.slice(start + cut);
          }
          if (expectSame(Buffer.from(text))) taken += 1;
        },
      ),
      { numRuns: 1500 },
    );
    expect(taken).toBeGreaterThan(300);
  });

  it.each<[string, (length: number) => string]>([
    ['spaces', (length) => `{${' '.repeat(length)}`],
    ['spaces in a list', (length) => `{"cf":[1${' '.repeat(length)}1]}`],
    ['quotes', (length) => `{"pn":${'"'.repeat(length)}`],
    ['backslashes', (length) => `{"pn":"${'\\'.repeat(length)}`],
    ['escaped quotes', (length) => `{"pn":"${'\\"'.repeat(length / 2)}`],
    ['nested lists', (length) => `{"cf":${'['.repeat(length / 2)}${']'.repeat(length / 2)}}`],
    ['lists in a list', (length) => `{"cf":[${'[1,'.repeat(length / 3)}}`],
    ['objects in a list', (length) => `{"cf":[${'{"a":1},'.repeat(length / 8)}}`],
  ])('takes no more than its length, with %s', (_, make) => {
    expect(growth(respeller(['pn', 'cf']), make)).toBeLessThan(6);
  });
});

function reversed(view: object): string {
  return JSON.stringify(Object.fromEntries(Object.entries(view).toReversed()));
}
