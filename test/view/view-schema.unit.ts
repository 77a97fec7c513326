import * as fc from 'fast-check';
import { toJsonSchema } from '@valibot/to-json-schema';
import { describe, expect, it } from 'vitest';
import { isJson } from '../../src/base/json.ts';
import { isRefusal, type Refusal } from '../../src/view/refusal.ts';
import { readView } from '../../src/view/read-view.ts';
import { ViewSchema } from '../../src/view/view-schema.ts';
import { ACCEPTED, anyView, FULL_VIEW, INVALID, MINIMAL_VIEW } from '../support/views.ts';

/** The view's fields as they are stored. */
function accepted(text: string): string {
  const view = readView(text);
  if (isRefusal(view)) throw new Error(JSON.stringify(view));
  return Buffer.from(view.fields).toString();
}

function refused(text: string): Refusal {
  const view = readView(text);
  if (!isRefusal(view)) throw new Error(`accepted: ${JSON.stringify(view)}`);
  return view;
}

const changed = (change: object): string => JSON.stringify({ ...FULL_VIEW, ...change });

describe('a view', () => {
  it('is taken with every field, which are stored in one order', () => {
    const shuffled = Object.fromEntries(Object.entries(FULL_VIEW).toReversed());
    expect(accepted(JSON.stringify(shuffled))).toBe(JSON.stringify(FULL_VIEW));
  });

  it('is taken with the required fields only', () => {
    expect(accepted(JSON.stringify(MINIMAL_VIEW))).toBe(JSON.stringify(MINIMAL_VIEW));
  });

  it.each(ACCEPTED)('is taken with %s', (_, change) => {
    const text = changed(change);
    expect(JSON.parse(accepted(text))).toStrictEqual(JSON.parse(text));
  });

  it.each(INVALID)('is refused with %s', (_, change, field, expected) => {
    const { code, issues } = refused(changed(change));
    expect(code).toBe('invalid-view');
    expect(issues).toHaveLength(1);
    expect(issues![0]).toMatchObject({ field, expected });
  });

  it.each(['pn', 'mb', 'mv', 'mp', 'cf', 'csf', 'ubl', 'ref', 'content', 'orgreferer', 'hc'])(
    'is taken without %s, and refused with it null',
    (field) => {
      accepted(changed({ [field]: undefined }));
      expect(refused(changed({ [field]: null })).issues).toMatchObject([
        { field, received: 'null' },
      ]);
    },
  );

  it('has a day that the calendar has, in every month of common, leap and century years', () => {
    for (const year of ['0000', '0004', '1900', '2000', '2024', '2026', '2100', '9999']) {
      for (let month = 1; month <= 12; month++) {
        for (let day = 28; day <= 31; day++) {
          const date = `${year}-${String(month).padStart(2, '0')}-${day}`;
          const ld = `${date}T12:34:56.789Z`;
          const exists = new Date(ld).toJSON() === ld;
          expect([ld, isRefusal(readView(changed({ ld })))]).toStrictEqual([ld, !exists]);
        }
      }
    }
  });

  it('keeps the last of duplicate keys', () => {
    const view = accepted(JSON.stringify(MINIMAL_VIEW).replace('{', '{"url":"nowhere",'));
    expect(JSON.parse(view)).toStrictEqual(MINIMAL_VIEW);
  });
});

describe('the faults of a view', () => {
  it('are told by the first that whoever sent the view meets in it, what is missing last', () => {
    const detail = (text: string) => refused(text).detail.replace(/^.*? faults?\. /, '');
    expect(detail('{"url":"home","p":1000001}')).toBe(
      '"url" must be a string that starts with "/" (and 3 more: see issues).',
    );
    expect(detail('{"p":"1","mp":{"p":[1]},"url":"home"}')).toBe(
      '"mp.p[0]" must be a string (and 3 more: see issues).',
    );
    expect(detail('{"p":"1"}')).toBe(
      '"pid" is required: a non-empty string (and 2 more: see issues).',
    );
    expect(detail(changed({ orgReferer: '' }))).toBe(
      '"orgReferer" is not a field of a view; did you mean "orgreferer"?',
    );
    expect(detail(changed({ orgReferer: '', orgReferrer: '' }))).toBe(
      '"orgReferer" is not a field of a view; did you mean "orgreferer"? (and 1 more: see issues).',
    );
    expect(detail(changed({ url: 'home' }))).toBe('"url" must be a string that starts with "/".');
  });

  it('are all said at once, in the order in which the view has them, what is missing last', () => {
    const text = '{"zz":1,"url":"x","mv":{"vt":"12","v30":1,"dlv":1},"orgReferer":""}';
    const missing = (field: string, expected: string) => ({
      field,
      message: `is required: a ${expected}`,
      expected,
      received: 'nothing',
    });
    const path = 'string that starts with "/"';
    const near = 'is not a field of a view; did you mean "orgreferer"?';
    expect(refused(text)).toStrictEqual({
      code: 'invalid-view',
      detail: 'The view has 7 faults. "zz" is not a field of a view (and 6 more: see issues).',
      issues: [
        { field: 'zz', message: 'is not a field of a view', expected: 'nothing', received: '1' },
        { field: 'url', message: `must be a ${path}`, expected: path, received: '"x"' },
        { field: 'mv.vt', message: 'must be an integer', expected: 'integer', received: '"12"' },
        { field: 'orgReferer', message: near, expected: 'orgreferer', received: '""' },
        missing('pid', 'non-empty string'),
        missing('p', 'string of 1 to 20 digits'),
        missing('ld', 'UTC timestamp such as "2026-01-31T23:59:59.999Z"'),
      ],
    });
  });

  it.each([
    ['null', 'null'],
    ['[]', 'array'],
    ['"text"', '"text"'],
    ['7', '7'],
    ['true', 'true'],
  ])('of %s are that it is no object', (text, received) => {
    expect(refused(text).issues).toStrictEqual([
      { field: '', message: 'must be an object', expected: 'object', received },
    ]);
  });

  it('include a __proto__ key, at the top and inside', () => {
    const top = JSON.stringify(MINIMAL_VIEW).replace('{', '{"__proto__":{"x":1},');
    expect(refused(top).issues).toMatchObject([{ field: '__proto__', received: 'object' }]);
    const inside = changed({ mv: 0 }).replace(
      '"mv":0',
      '"mv":{"__proto__":1,"vt":1,"v30":1,"dlv":1}',
    );
    expect(refused(inside).issues).toMatchObject([{ field: 'mv.__proto__', received: '1' }]);
  });

  it('include a number that no double holds', () => {
    const mb = changed({ mb: 0 }).replace('"mb":0', '"mb":1e400');
    expect(refused(mb).issues).toMatchObject([
      { field: 'mb', received: "number beyond a double's range" },
    ]);
    const cf = changed({ cf: 0 }).replace('"cf":0', '"cf":[{"deep":[-1e400]}]');
    expect(refused(cf).issues).toMatchObject([
      { field: 'cf', expected: "array of numbers within a double's range" },
    ]);
  });

  it('are listed up to 50, and the rest counted', () => {
    const many = (count: number): string =>
      changed(Object.fromEntries(Array.from({ length: count }, (_, i) => [`unknown${i}`, i])));
    expect(refused(many(50)).issues).toHaveLength(50);
    expect(refused(many(50)).detail).not.toContain('left out');
    expect(refused(many(51)).issues).toHaveLength(50);
    expect(refused(many(51)).detail).toContain(
      '51 faults; issues lists the first 50, and 1 more are left out',
    );
  });

  it('quote what was sent up to 64 characters', () => {
    const [at64] = refused(changed({ ['x'.repeat(64)]: 1 })).issues!;
    expect(at64!.field).toBe('x'.repeat(64));
    const [at65] = refused(changed({ ['x'.repeat(65)]: 'y'.repeat(100) })).issues!;
    expect(at65!.field).toBe(`${'x'.repeat(63)}…`);
    expect(at65!.received).toHaveLength(64);
  });

  it('are said of views nested as deep as the parser goes', () => {
    const deep = `${'['.repeat(8000)}${']'.repeat(8000)}`;
    const { issues } = refused(changed({ pn: 0 }).replace('"pn":0', `"pn":${deep}`));
    expect(issues).toMatchObject([{ field: 'pn', received: 'array' }]);
    const { issues: unknown } = refused(changed({ zz: 0 }).replace('"zz":0', `"zz":${deep}`));
    expect(unknown).toMatchObject([{ field: 'zz', received: 'array' }]);
    const { issues: cf } = refused(changed({ cf: 0 }).replace('"cf":0', `"cf":${deep}`));
    expect(cf).toMatchObject([{ field: 'cf' }]);
  });
});

describe('text that is not JSON', () => {
  it.each([
    ['', 'The body is empty; send one JSON object.'],
    ['  \n', 'The body is empty; send one JSON object.'],
    ['{', 'Line 1, column 2: expected "}" or ","; found the end of the text.'],
    ['{"a":1,}', 'Line 1, column 7: expected no comma before the closing "}".'],
    ['{"a" 1}', 'Line 1, column 6: expected ":"; found 1.'],
    ['{"a":1 "b":2}', 'Line 1, column 8: expected ","; found "b".'],
    [
      '{"a":\n  tru}',
      'Line 2, column 3: expected text in double quotes, a number, true, false or null; found tru.',
    ],
    ['{"a":1}\n{"b":2}', 'Line 2, column 1: expected the end of the text; found {.'],
    ["{'a':1}", "Line 1, column 2: expected a key in double quotes; found 'a'."],
    [
      '{"a":"b',
      'Line 1, column 6: expected text to end with a double quote on the same line; found "b.',
    ],
    [
      '{"a":"\t"}',
      'Line 1, column 6: expected no tab or other control character inside text; found "\\u0009".',
    ],
    ['// no\n{}', 'Line 1, column 1: comments are not allowed in JSON; found // no.'],
    ['[1', 'Line 1, column 3: expected "]" or ","; found the end of the text.'],
    ['{"a":01}', 'Line 1, column 7: expected ","; found 1.'],
    ['{"a":"\\x"}', 'Line 1, column 6: expected one of "\\/bfnrtu after a backslash; found "\\x".'],
    [
      '{"a":NaN}',
      'Line 1, column 6: expected text in double quotes, a number, true, false or null; found NaN.',
    ],
  ])('%j is refused with the place', (text, detail) => {
    expect(refused(text)).toStrictEqual({ code: 'malformed-json', detail });
  });

  it('is refused at any depth', () => {
    expect(refused('['.repeat(16_000)).code).toBe('malformed-json');
  });

  it('always gets a place, whatever is wrong with it', () => {
    const damaged = fc
      .tuple(fc.json(), fc.nat(), fc.constantFrom('', '}', '"', ',', '\\', '\u0000', ' x'))
      .map(([json, at, piece]) => {
        const cut = at % (json.length + 1);
        return json.slice(0, cut) + piece + json.slice(cut + 1);
      })
      .filter((text) => text.trim() !== '' && !isJson(text));
    fc.assert(
      fc.property(damaged, (text) => {
        expect(refused(text).detail).toMatch(/^Line \d+, column \d+: /);
      }),
    );
  });
});

describe('a stored view', () => {
  it('is well-formed: lone surrogates become U+FFFD', () => {
    const text = changed({ pn: '\ud83d alone \udc00, 🎈 paired', cf: [{ '\udfff': '\ud800' }] });
    const stored = accepted(text);
    expect(stored.isWellFormed()).toBe(true);
    expect(stored).not.toMatch(/\\ud[89a-f]/i);
    const view = JSON.parse(stored) as typeof FULL_VIEW;
    expect(view.pn).toBe('\ufffd alone \ufffd, 🎈 paired');
    expect(view.cf).toStrictEqual([{ '\ufffd': '\ufffd' }]);
  });

  it('keeps text that only looks like an escaped surrogate', () => {
    const text = changed({ pn: String.raw`\ud800 \\udfff` });
    expect((JSON.parse(accepted(text)) as typeof FULL_VIEW).pn).toBe(String.raw`\ud800 \\udfff`);
  });

  it('has no character that a reader could take for a line end', () => {
    const pn = '\u0000 \n \r \u0085 \u2028 \u2029';
    const stored = accepted(changed({ pn }));
    expect(stored).not.toMatch(/[\n\r\u2028\u2029]/);
    expect((JSON.parse(stored) as typeof FULL_VIEW).pn).toBe(pn);
  });

  it('keeps a __proto__ key inside cf', () => {
    const text = changed({ cf: 0 }).replace('"cf":0', '"cf":[{"__proto__":{"a":"\\ud800"}}]');
    expect(accepted(text)).toContain('"cf":[{"__proto__":{"a":"\ufffd"}}]');
  });
});

describe('for any JSON', () => {
  const wellFormed = (value: unknown): unknown =>
    JSON.parse(JSON.stringify(value), (_, item: unknown) =>
      typeof item === 'string' ? item.toWellFormed() : item,
    );

  it('the answer is a view or a refusal', () => {
    fc.assert(
      fc.property(fc.oneof(fc.json({ stringUnit: 'binary' }), fc.string()), (text) => {
        const answer = readView(text);
        if (!isRefusal(answer)) throw new Error('accepted');
        expect(['malformed-json', 'invalid-view']).toContain(answer.code);
      }),
    );
  });

  it('what is stored equals what was sent', () => {
    fc.assert(
      fc.property(anyView(), (sent) => {
        const stored = accepted(JSON.stringify(sent));
        expect(JSON.parse(stored)).toStrictEqual(wellFormed(sent));
      }),
    );
  });
});

describe('the published schema of a view', () => {
  it('is the one that views are checked with', async () => {
    const schema = toJsonSchema(ViewSchema, { errorMode: 'ignore', ignoreActions: ['check'] });
    const text = `${JSON.stringify({ title: 'A page view', ...schema }, null, 2)}\n`;
    await expect(text).toMatchFileSnapshot('../../data/view.schema.json');
  });
});
