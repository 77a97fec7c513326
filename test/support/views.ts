import * as fc from 'fast-check';
import { lineHeadOf, linesOf } from '../../src/view/line.ts';

/** Returns the line of a view with these fields as JSON text. */
export const lineOf = (ts: string, id: string, fields: string): string =>
  Buffer.from(linesOf(lineHeadOf(ts, id), [Buffer.from(fields)])).toString();

/** A view with every field, in the order in which it is stored. */
export const FULL_VIEW = {
  pn: 'Home – Welcome',
  pid: 'page-42',
  mb: -3,
  mv: { vt: 1, v30: 0, dlv: -7 },
  mp: { p: ['page-41', 'page-40'] },
  cf: [],
  csf: [],
  p: '1000001',
  ubl: 'nb-NO',
  ref: '',
  ld: '2026-01-31T23:59:59.999Z',
  url: '/home',
  content: { templateId: 'template-7' },
  orgreferer: 'https://search.example/?q=views',
  hc: true,
};

/** A view with the required fields only. */
export const MINIMAL_VIEW = {
  pid: 'page-42',
  p: '1000001',
  ld: '2026-01-31T23:59:59.999Z',
  url: '/',
};

/** Returns a minimal view with a JSON text of this many bytes. */
export const viewOfSize = (bytes: number): string => {
  const bare = JSON.stringify({ ...MINIMAL_VIEW, pn: '' }).length;
  return JSON.stringify({ ...MINIMAL_VIEW, pn: 'x'.repeat(bytes - bare) });
};

const nested = (levels: number): unknown[] => (levels === 1 ? [] : [nested(levels - 1)]);

/** Reads `a | b | c` on each line. */
const rows = (table: string): [string, ...string[]][] =>
  table
    .trim()
    .split('\n')
    .map((line) => line.split(' | ') as [string, ...string[]]);

/** Changes to a full view that leave it acceptable. A field, and values as JSON. */
export const ACCEPTED: object[] = rows(String.raw`
p | "7" | "12345678901234567890" | "007"
mb | 9007199254740991 | -9007199254740991
mv | {"vt":0,"v30":0,"dlv":0}
mp | {"p":[]} | {"p":[""]}
cf | [1,"two",null,true,{"three":[3.5]}]
ubl | "en" | "haw" | "en-us" | "zh-Hant-TW" | "es-419" | "ca-ES-valencia" | "zh-cmn-Hans-CN"
ubl | "de-DE-u-co-phonebk" | "de-CH-x-phonebk" | "en-x${'-abcdefg1'.repeat(6)}-abcde"
pn | "" | "🎈 𝒱iew"
ld | "2024-02-29T00:00:00.000Z" | "2026-12-31T23:59:59.999Z"
ld | "0000-01-01T00:00:00.000Z" | "9999-12-31T23:59:59.999Z"
url | "/å?ä=ö#\u0000 \"quoted\""
hc | false
`).flatMap(([field, ...values]) => values.map((value) => ({ [field]: JSON.parse(value) })));
ACCEPTED.push(
  { cf: nested(32) },
  { csf: nested(32) },
  { cf: undefined, csf: [{ cf: nested(30) }] },
);

const TIMESTAMP =
  'UTC timestamp with milliseconds, as new Date().toISOString() returns it: "2026-01-31T23:59:59.999Z"';
const TAG = 'BCP 47 language tag such as "nb-NO"';
const INTEGER = 'integer from -9007199254740991 to 9007199254740991';
const DEPTH = 'array nested at most 32 levels deep';

/** Changes to a full view that make it invalid, with the field and what was expected. */
export const INVALID: [change: object, field: string, expected: string][] = rows(String.raw`
p | string of 1 to 20 digits | "" | "123456789012345678901" | 1000001 | "100a" | "1000001\n" | "١٢٣"
pid | non-empty string | "" | null
url | string that starts with "/" | "home" | ""
pn | string | 1 | null
mb | integer | "1" | 1.5
mb | ${INTEGER} | 9007199254740992 | -9007199254740992
mv | object | [] | [1,2,3] | null
mv.dlv | integer | {"vt":1,"v30":1}
mv.vt | integer | {"vt":"12","v30":1,"dlv":1}
mv.v31 | mv.v30 | {"vt":1,"v30":1,"dlv":1,"v31":1}
mp | object | ["a"]
mp.p | array of strings | {} | {"p":"a"}
mp.p[1] | string | {"p":["a",7]}
cf | array | {}
csf | array | null
ubl | ${TAG} | "en_US" | "english" | "e" | "" | "en-abcdefghi" | "en-"
ubl | ${TAG}, at most 64 characters long | "en-x${'-abcdefg1'.repeat(6)}-abcdef"
ld | ${TIMESTAMP} | 1e12 | "2026-01-31T23:59:59Z" | "2026-01-31T23:59:59.999"
ld | ${TIMESTAMP} | "2026-01-31T23:59:59.999+00:00" | "2026-01-31T23:59:59.999z"
ld | ${TIMESTAMP} | "2026-01-31 23:59:59.999Z" | "2026-01-31T24:00:00.000Z"
ld | ${TIMESTAMP} | "2026-01-31T23:60:00.000Z" | "2026-01-31T23:59:60.000Z"
ld | ${TIMESTAMP} | "2026-13-01T00:00:00.000Z" | "2026-00-01T00:00:00.000Z"
ld | ${TIMESTAMP} | "2026-01-00T00:00:00.000Z" | "2026-01-32T00:00:00.000Z"
ld | ${TIMESTAMP} | "+002026-01-31T00:00:00.000Z" | " 2026-01-31T00:00:00.000Z"
ld | ${TIMESTAMP} | "2026-01-31T00:00:00.000Z\n"
ld | UTC timestamp of a day that exists | "2026-02-30T00:00:00.000Z" | "2026-02-29T00:00:00.000Z"
content | object | "template-7"
content.templateId | non-empty string | {} | {"templateId":""}
hc | boolean | "true" | 1
orgreferer | string | null
orgReferer | orgreferer | ""
visitor | no such field | 1
toString | no such field | 1
constructor | no such field | 1
`).flatMap(([field, expected = '', ...values]) =>
  values.map((json): [object, string, string] => {
    const [key = ''] = field.split(/[.[]/);
    return [{ [key]: JSON.parse(json) }, field, expected];
  }),
);
INVALID.push(
  [{ p: undefined }, 'p', 'string of 1 to 20 digits'],
  [{ pid: undefined }, 'pid', 'non-empty string'],
  [{ url: undefined }, 'url', 'string that starts with "/"'],
  [{ ld: undefined }, 'ld', TIMESTAMP],
  [{ cf: nested(33) }, 'cf', DEPTH],
  [{ csf: nested(33) }, 'csf', DEPTH],
  [{ cf: undefined, csf: [{ cf: nested(31) }] }, 'csf', DEPTH],
);

/**
 * Names a change to a view: by its JSON, or in words if the JSON would be long or can't show the
 * change.
 */
export function changeName(change: object): string {
  const json = JSON.stringify(change);
  const [field, value] = Object.entries(change)[0]!;
  if (json === '{}') return `without ${field}`;
  const levels = json.split('[').length - 1;
  const outer = value === undefined ? ', within csf' : '';
  return levels > 20 ? `with ${field} nested in ${levels} brackets${outer}` : `with ${json}`;
}

/** Generates any valid view, or views of some kinds. */
export function anyView({
  text = fc.string({ unit: 'binary' }),
  counter = fc.maxSafeInteger(),
  anyArray = fc.array(fc.jsonValue({ maxDepth: 5 })),
} = {}) {
  return fc.record(
    {
      pn: text,
      pid: text.filter((pid) => pid !== ''),
      mb: counter,
      mv: fc.record({ vt: counter, v30: counter, dlv: counter }),
      mp: fc.record({ p: fc.array(text) }),
      cf: anyArray,
      csf: anyArray,
      p: fc.stringMatching(/^[0-9]{1,20}$/),
      ubl: fc.constantFrom('nb-NO', 'en', 'zh-Hant-TW'),
      ref: text,
      ld: fc
        .date({
          noInvalidDate: true,
          min: new Date('0000-01-01T00:00:00Z'),
          max: new Date('9999-12-31T23:59:59.999Z'),
        })
        .map((date) => date.toISOString()),
      url: text.map((path) => `/${path}`),
      content: fc.record({ templateId: text.filter((id) => id !== '') }),
      orgreferer: text,
      hc: fc.boolean(),
    },
    { requiredKeys: ['p', 'pid', 'url', 'ld'] },
  );
}
