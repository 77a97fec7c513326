import * as fc from 'fast-check';
import { toJsonSchema } from '@valibot/to-json-schema';
import { describe, expect, it } from 'vitest';
import { LIMITS } from '../../src/base/limits.ts';
import { isRefusal, type Refusal } from '../../src/view/refusal.ts';
import { readView } from '../../src/view/read-view.ts';
import { ViewSchema } from '../../src/view/view-schema.ts';
import {
  ACCEPTED,
  anyView,
  changeName,
  FULL_VIEW,
  INVALID,
  MINIMAL_VIEW,
} from '../support/views.ts';

/** The view's stored fields. */
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
const put = (field: string, json: string): string =>
  changed({ [field]: 0 }).replace(`"${field}":0`, `"${field}":${json}`);

describe('a view', () => {
  const accepting = ACCEPTED.map((change) => [changeName(change), change] as const);
  it.each(accepting)('is accepted %s', (_, change) => {
    const text = changed(change);
    expect(JSON.parse(accepted(text))).toStrictEqual(JSON.parse(text));
  });

  const refusing = INVALID.map((row) => [changeName(row[0]), ...row] as const);
  it.each(refusing)('is refused %s', (_, change, field, expected) => {
    expect(refused(changed(change))).toMatchObject({
      code: 'invalid-view',
      issues: [{ field, expected }],
    });
  });

  it('may lack any optional field, but no field may be null', () => {
    for (const field of Object.keys(FULL_VIEW)) {
      const { issues } = refused(changed({ [field]: null }));
      expect(issues).toMatchObject([{ field, received: 'null' }]);
      if (!(field in MINIMAL_VIEW)) accepted(changed({ [field]: undefined }));
    }
  });

  it('must have a date that exists, in every month of common, leap and century years', () => {
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

const path = 'string that starts with "/"';

describe('the detail of a refusal', () => {
  it.each([
    [
      'an integer sent as a string',
      changed({ mb: '12' }),
      '"mb" must be an integer; received the string "12".',
    ],
    [
      'a number beyond the range of a double',
      put('mb', '1e400'),
      `"mb" must be an integer; received a number beyond a double's range.`,
    ],
    ['a string sent as an array', changed({ pn: [] }), '"pn" must be a string; received an array.'],
    [
      'an array that is too deep',
      JSON.stringify(FULL_VIEW).replace('"cf":[]', `"cf":${'['.repeat(33)}${']'.repeat(33)}`),
      '"cf" must be an array nested at most 32 levels deep; received a deeper array.',
    ],
    [
      'an array with a number beyond the range of a double',
      JSON.stringify(FULL_VIEW).replace('"cf":[]', '"cf":[1e400]'),
      `"cf" must be an array whose numbers are within a double's range; received an array with a greater number.`,
    ],
    [
      'a boolean sent as an object',
      changed({ hc: {} }),
      '"hc" must be a boolean; received an object.',
    ],
    [
      'a url without its slash',
      changed({ url: 'home' }),
      `"url" must be a ${path}; received the string "home".`,
    ],
    [
      'a field under its usual name',
      changed({ title: 'Home' }),
      '"title" isn\'t a field of a view (did you mean "pn"?).',
    ],
    ['a view sent as null', 'null', 'The view must be an object; received null.'],
    [
      'an optional field sent as null',
      changed({ pn: null }),
      '"pn" must be a string, or left out; received null.',
    ],
    [
      'a required field sent as null',
      changed({ pid: null }),
      '"pid" must be a non-empty string; received null.',
    ],
    [
      'a long text',
      changed({ url: 'x'.repeat(99) }),
      `"url" must be a ${path}; received the string "${'x'.repeat(LIMITS.quoteLengthMax - 3)}…".`,
    ],
    ['a missing pid', changed({ pid: undefined }), '"pid" is required: a non-empty string.'],
    [
      'the first of two fields',
      changed({ mv: { vtt: 1, vt: 1, v30: 1, dlv: 1 }, url: 'x' }),
      '"mv.vtt" isn\'t a field of a view (did you mean "mv.vt"?). The view has 2 faults, all listed in issues.',
    ],
  ])('names the error and the expected value of %s', (_, text, detail) => {
    expect(refused(text).detail).toBe(detail);
  });
});

describe('the errors of a view', () => {
  it('are all listed in the order of the view, missing fields last', () => {
    const text = '{"zz":1,"url":"x","mv":{"vtt":1,"vt":"12","v30":1},"orgReferer":"","p":"7"}';
    const { code, project, issues = [] } = refused(text);
    expect([code, project]).toStrictEqual(['invalid-view', '7']);
    expect(refused(text.replace('"7"', '"7a"'))).not.toHaveProperty('project');
    const lines = issues.map(({ field, message, expected, received }) =>
      [field, message, expected, received].join(' | '),
    );
    const [unknown, time] = ["isn't a field of a view", 'UTC timestamp with milliseconds'];
    expect(lines).toStrictEqual([
      `zz | ${unknown} | no such field | 1`,
      `url | must be a ${path} | ${path} | "x"`,
      `mv.vtt | ${unknown} (did you mean "mv.vt"?) | mv.vt | 1`,
      'mv.vt | must be an integer | integer | "12"',
      'mv.dlv | is required: an integer | integer | nothing',
      `orgReferer | ${unknown} (did you mean "orgreferer"?) | orgreferer | ""`,
      'pid | is required: a non-empty string | non-empty string | nothing',
      expect.stringMatching(`^ld \\| is required: a ${time}.* \\| ${time}.* \\| nothing$`),
    ]);
  });

  it('include a __proto__ key at the top or further down', () => {
    const top = JSON.stringify(MINIMAL_VIEW).replace('{', '{"__proto__":{"x":1},');
    expect(refused(top).issues).toMatchObject([{ field: '__proto__', received: 'an object' }]);
    const inside = put('mv', '{"__proto__":1,"vt":1,"v30":1,"dlv":1}');
    expect(refused(inside).issues).toMatchObject([{ field: 'mv.__proto__', received: '1' }]);
  });

  it('include a number beyond the range of a double at any depth of cf', () => {
    const expected = "array whose numbers are within a double's range";
    const { issues } = refused(put('cf', '[{"deep":[-1e400]}]'));
    expect(issues).toMatchObject([{ field: 'cf', expected }]);
  });

  it.each([
    [50, 'The view has 50 faults, all listed in issues.'],
    [62, 'The view has 62 faults, the first 50 listed in issues.'],
  ])('are all counted, and the first 50 listed, if there are %i', (count, said) => {
    const { detail, issues } = refused(changed({ mp: { p: Array(count).fill(1) } }));
    expect(detail).toBe(`"mp.p[0]" must be a string; received the number 1. ${said}`);
    expect(issues).toHaveLength(50);
  });

  it('quote at most 64 characters of the field and of the received value', () => {
    const [at64] = refused(changed({ ['x'.repeat(64)]: 1 })).issues!;
    expect(at64!.field).toBe('x'.repeat(64));
    const [at65] = refused(changed({ ['x'.repeat(65)]: 'y'.repeat(100) })).issues!;
    expect(at65!.field).toBe(`${'x'.repeat(63)}…`);
    expect(at65!.received).toHaveLength(64);
  });

  it('include values that are nested as deeply as the parser allows', () => {
    const deep = `${'['.repeat(8000)}${']'.repeat(8000)}`;
    for (const [field, received] of [
      ['pn', 'an array'],
      ['zz', 'an array'],
      ['cf', 'a deeper array'],
    ] as const) {
      expect(refused(put(field, deep)).issues).toMatchObject([{ field, received }]);
    }
  });
});

it.each([
  ['no text', '', 'The body is empty; send one JSON object.'],
  [
    'an object converted to text',
    '[object Object]',
    'The body is "[object Object]", not the object\'s JSON. Send JSON.stringify(view).',
  ],
  [
    'an object converted to text, on a line',
    '[object Object]\n',
    'The body is "[object Object]", not the object\'s JSON. Send JSON.stringify(view).',
  ],
  [
    'a comma before the closing brace',
    '{"a":\n  1,}',
    'Line 2, column 4: unexpected comma before the closing "}".',
  ],
  [
    'a semicolon at the end',
    '{"a":1};',
    'Line 1, column 8: expected the end of the text; found ";".',
  ],
  [
    'an object that is cut off',
    '{"pn":"é',
    'Line 1, column 7: expected a closing double quote after "é"; found the end of the text. ' +
      "The body ends after 9 bytes, without the object's closing brace; a proxy may have cut it off.",
  ],
])('a refusal says how to correct a body with %s', (_, text, detail) => {
  expect(refused(text)).toStrictEqual({ code: 'malformed-json', detail });
});

describe('a stored view', () => {
  const wellFormed = (value: unknown): unknown =>
    JSON.parse(JSON.stringify(value), (_, item: unknown) =>
      typeof item === 'string' ? item.toWellFormed() : item,
    );

  it('has U+FFFD in place of each lone surrogate', () => {
    const text = changed({ pn: '\ud83d alone \udc00, 🎈 paired', cf: [{ '\udfff': '\ud800' }] });
    const stored = accepted(text);
    expect(stored.isWellFormed()).toBe(true);
    expect(stored).not.toMatch(/\\ud[89a-f]/i);
    expect(JSON.parse(stored)).toMatchObject({
      pn: '\ufffd alone \ufffd, 🎈 paired',
      cf: [{ '\ufffd': '\ufffd' }],
    });
  });

  it('has no character that a program could mistake for the end of a line', () => {
    const pn = '\u0000 \n \r \u0085 \u2028 \u2029';
    const stored = accepted(changed({ pn }));
    expect(stored).not.toMatch(/[\n\r\u2028\u2029]/);
    expect(JSON.parse(stored)).toMatchObject({ pn });
  });

  it('keeps a __proto__ key inside cf', () => {
    const stored = accepted(put('cf', '[{"__proto__":{"a":"\\ud800"}}]'));
    expect(stored).toContain('"cf":[{"__proto__":{"a":"\ufffd"}}]');
  });

  it('equals the view that was sent', () => {
    fc.assert(
      fc.property(anyView(), (sent) => {
        const stored = accepted(JSON.stringify(sent));
        expect(JSON.parse(stored)).toStrictEqual(wellFormed(sent));
      }),
    );
  });
});

it('the published JSON Schema comes from the schema that checks views', async () => {
  const schema = toJsonSchema(ViewSchema, { errorMode: 'ignore', ignoreActions: ['check'] });
  const text = `${JSON.stringify({ title: 'A page view', ...schema }, null, 2)}\n`;
  await expect(text).toMatchFileSnapshot('../../data/view.schema.json');
});
