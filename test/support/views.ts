import * as fc from 'fast-check';
import { headOf, linesOf } from '../../src/view/line.ts';

/** Returns the line of a view that has these fields as JSON text. */
export const lineOf = (ts: string, id: string, fields: string): string =>
  Buffer.from(linesOf(headOf(ts, id), [Buffer.from(fields)])).toString();

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

const nested = (levels: number): unknown[] => (levels === 1 ? [] : [nested(levels - 1)]);

/** Changes to a full view that leave it acceptable. */
export const ACCEPTED: [string, object][] = [
  ['a project id of 1 digit', { p: '7' }],
  ['a project id of 20 digits', { p: '12345678901234567890' }],
  ['a project id with leading zeros', { p: '007' }],
  ['the largest safe integer', { mb: 9007199254740991 }],
  ['the smallest safe integer', { mb: -9007199254740991 }],
  ['zero counters', { mv: { vt: 0, v30: 0, dlv: 0 } }],
  ['no previous pages', { mp: { p: [] } }],
  ['an empty string as a previous page', { mp: { p: [''] } }],
  ['cf with any JSON', { cf: [1, 'two', null, true, { three: [3.5] }] }],
  ['cf nested 32 deep', { cf: nested(32) }],
  ['csf nested 32 deep', { csf: nested(32) }],
  ['csf nested 32 deep, behind a key named cf', { cf: undefined, csf: [{ cf: nested(30) }] }],
  ['a language alone', { ubl: 'en' }],
  ['a language of 3 letters', { ubl: 'haw' }],
  ['a lower-case region', { ubl: 'en-us' }],
  ['a script', { ubl: 'zh-Hant-TW' }],
  ['a region of 3 digits', { ubl: 'es-419' }],
  ['a variant', { ubl: 'ca-ES-valencia' }],
  ['an extended language', { ubl: 'zh-cmn-Hans-CN' }],
  ['an extension', { ubl: 'de-DE-u-co-phonebk' }],
  ['a private use subtag', { ubl: 'de-CH-x-phonebk' }],
  ['a language tag of 64 characters', { ubl: `en-x${'-abcdefg1'.repeat(6)}-abcde` }],
  ['an empty page name', { pn: '' }],
  ['29 February of a leap year', { ld: '2024-02-29T00:00:00.000Z' }],
  ['the last millisecond of a year', { ld: '2026-12-31T23:59:59.999Z' }],
  ['the year 0000', { ld: '0000-01-01T00:00:00.000Z' }],
  ['the year 9999', { ld: '9999-12-31T23:59:59.999Z' }],
  ['a url with anything after the slash', { url: '/å?ä=ö#\u0000 "quoted"' }],
  ['text beyond the BMP', { pn: '🎈 𝒱iew' }],
  ['hc false', { hc: false }],
];

/** Changes to a full view that make it invalid, with the field and what was expected. */
export const INVALID: [string, object, string, string][] = [
  ['no p', { p: undefined }, 'p', 'string of 1 to 20 digits'],
  ['an empty p', { p: '' }, 'p', 'string of 1 to 20 digits'],
  ['a p of 21 digits', { p: '123456789012345678901' }, 'p', 'string of 1 to 20 digits'],
  ['p as a number', { p: 1000001 }, 'p', 'string of 1 to 20 digits'],
  ['p with a letter', { p: '100a' }, 'p', 'string of 1 to 20 digits'],
  ['p with a newline', { p: '1000001\n' }, 'p', 'string of 1 to 20 digits'],
  ['p in other digits', { p: '١٢٣' }, 'p', 'string of 1 to 20 digits'],
  ['no pid', { pid: undefined }, 'pid', 'non-empty string'],
  ['an empty pid', { pid: '' }, 'pid', 'non-empty string'],
  ['pid null', { pid: null }, 'pid', 'non-empty string'],
  ['no url', { url: undefined }, 'url', 'string that starts with "/"'],
  ['a url without its slash', { url: 'home' }, 'url', 'string that starts with "/"'],
  ['an empty url', { url: '' }, 'url', 'string that starts with "/"'],
  ['pn as a number', { pn: 1 }, 'pn', 'string'],
  ['pn null', { pn: null }, 'pn', 'string'],
  ['mb as text', { mb: '1' }, 'mb', 'integer'],
  ['mb with a fraction', { mb: 1.5 }, 'mb', 'integer'],
  [
    'mb beyond the safe integers',
    { mb: 9007199254740992 },
    'mb',
    'integer from -9007199254740991 to 9007199254740991',
  ],
  [
    'mb below the safe integers',
    { mb: -9007199254740992 },
    'mb',
    'integer from -9007199254740991 to 9007199254740991',
  ],
  ['mv as an array', { mv: [] }, 'mv', 'object'],
  ['mv as an array of the right length', { mv: [1, 2, 3] }, 'mv', 'object'],
  ['mv null', { mv: null }, 'mv', 'object'],
  ['mv without dlv', { mv: { vt: 1, v30: 1 } }, 'mv.dlv', 'integer'],
  ['mv.vt as text', { mv: { vt: '12', v30: 1, dlv: 1 } }, 'mv.vt', 'integer'],
  ['an unknown field in mv', { mv: { vt: 1, v30: 1, dlv: 1, v31: 1 } }, 'mv.v31', 'mv.v30'],
  ['mp without p', { mp: {} }, 'mp.p', 'array of strings'],
  ['mp as an array', { mp: ['a'] }, 'mp', 'object'],
  ['mp.p as a string', { mp: { p: 'a' } }, 'mp.p', 'array of strings'],
  ['a number in mp.p', { mp: { p: ['a', 7] } }, 'mp.p[1]', 'string'],
  ['cf as an object', { cf: {} }, 'cf', 'array'],
  ['cf nested 33 deep', { cf: nested(33) }, 'cf', 'array nested at most 32 levels deep'],
  ['csf nested 33 deep', { csf: nested(33) }, 'csf', 'array nested at most 32 levels deep'],
  [
    'csf nested 33 deep, behind a key named cf',
    { cf: undefined, csf: [{ cf: nested(31) }] },
    'csf',
    'array nested at most 32 levels deep',
  ],
  ['csf null', { csf: null }, 'csf', 'array'],
  ['an underscore in ubl', { ubl: 'en_US' }, 'ubl', 'BCP 47 language tag such as "nb-NO"'],
  ['a word as ubl', { ubl: 'english' }, 'ubl', 'BCP 47 language tag such as "nb-NO"'],
  ['one letter as ubl', { ubl: 'e' }, 'ubl', 'BCP 47 language tag such as "nb-NO"'],
  ['an empty ubl', { ubl: '' }, 'ubl', 'BCP 47 language tag such as "nb-NO"'],
  ['a subtag of 9 letters', { ubl: 'en-abcdefghi' }, 'ubl', 'BCP 47 language tag such as "nb-NO"'],
  ['a hyphen at the end of ubl', { ubl: 'en-' }, 'ubl', 'BCP 47 language tag such as "nb-NO"'],
  [
    'a language tag of 65 characters',
    { ubl: `en-x${'-abcdefg1'.repeat(6)}-abcdef` },
    'ubl',
    'BCP 47 language tag such as "nb-NO", at most 64 characters long',
  ],
  ['no ld', { ld: undefined }, 'ld', 'UTC timestamp such as "2026-01-31T23:59:59.999Z"'],
  ['ld as a number', { ld: 1e12 }, 'ld', 'UTC timestamp such as "2026-01-31T23:59:59.999Z"'],
  ...[
    '2026-01-31T23:59:59Z',
    '2026-01-31T23:59:59.999',
    '2026-01-31T23:59:59.999+00:00',
    '2026-01-31T23:59:59.999z',
    '2026-01-31 23:59:59.999Z',
    '2026-01-31T24:00:00.000Z',
    '2026-01-31T23:60:00.000Z',
    '2026-01-31T23:59:60.000Z',
    '2026-13-01T00:00:00.000Z',
    '2026-00-01T00:00:00.000Z',
    '2026-01-00T00:00:00.000Z',
    '2026-01-32T00:00:00.000Z',
    '+002026-01-31T00:00:00.000Z',
    ' 2026-01-31T00:00:00.000Z',
    '2026-01-31T00:00:00.000Z\n',
  ].map((ld): [string, object, string, string] => [
    `ld ${JSON.stringify(ld)}`,
    { ld },
    'ld',
    'UTC timestamp such as "2026-01-31T23:59:59.999Z"',
  ]),
  ['30 February', { ld: '2026-02-30T00:00:00.000Z' }, 'ld', 'day that exists'],
  ['29 February of a common year', { ld: '2026-02-29T00:00:00.000Z' }, 'ld', 'day that exists'],
  ['31 April', { ld: '2026-04-31T00:00:00.000Z' }, 'ld', 'day that exists'],
  ['content without templateId', { content: {} }, 'content.templateId', 'non-empty string'],
  [
    'an empty templateId',
    { content: { templateId: '' } },
    'content.templateId',
    'non-empty string',
  ],
  ['content as a string', { content: 'template-7' }, 'content', 'object'],
  ['hc as text', { hc: 'true' }, 'hc', 'boolean'],
  ['hc as a number', { hc: 1 }, 'hc', 'boolean'],
  ['orgreferer null', { orgreferer: null }, 'orgreferer', 'string'],
  ['a misspelt field', { orgReferer: '' }, 'orgReferer', 'orgreferer'],
  ['an unknown field', { visitor: 1 }, 'visitor', 'nothing'],
  ['a field named toString', { toString: 1 }, 'toString', 'nothing'],
  ['a field named constructor', { constructor: 1 }, 'constructor', 'nothing'],
];

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
