import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { FAULTS_MAX, parseProjectsFile } from '../../src/projects/parse.ts';

const read = (text: string) => parseProjectsFile(new TextEncoder().encode(text), 'p.json');
const faultsOf = (text: string): readonly string[] => {
  const result = read(text);
  return 'faults' in result ? result.faults : [];
};

/**
 * Reads `what → text → fault` on each line. In the text, ⏎, ⇥ and ⍽ are line breaks, tabs and no-break
 * spaces.
 */
const rows = (table: string): [what: string, text: string, fault: string][] =>
  table
    .trim()
    .split('\n')
    .map((line) => {
      const breaks = line.replaceAll('⏎', '\n').replaceAll('⇥', '\t');
      const cells = breaks.replaceAll('⍽', '\u00a0').split(' → ');
      const [what = '', text = '', fault = ''] = cells;
      return [what, text, `p.json:${fault}`];
    });

const NOT_JSON = String.raw`
a comma before the last brace → {"projects":[],} → 1:15: unexpected comma before the closing "}"
a comma before the last bracket → {"projects":[⏎{"id":"1"},⏎]⏎} → 2:11: unexpected comma before the closing "]"
a missing colon → {"projects" []} → 1:13: expected ":"; found "["
a missing comma → {"a":1⏎"projects":[]} → 2:1: expected "," before "projects"
a missing bracket → {"projects":[{"id":"1"} → 1:24: expected "]" or ","; found the end of the text
an opening brace alone → { → 1:2: expected a key in double quotes or "}"; found the end of the text
an opening bracket at the end → {"projects":[ → 1:14: expected a JSON value or "]"; found the end of the text
a missing brace → {"projects":[] → 1:15: expected "}" or ","; found the end of the text
one brace too many → {"projects":[]}} → 1:16: expected the end of the text; found "}"
a line comment → // ours⏎{"projects":[] → 1:1: comments aren't allowed in JSON; found // ours
a comment without an end → /* never → 1:1: comments aren't allowed in JSON; found /* never
a key in single quotes → {'projects':[]} → 1:2: expected a key in double quotes or "}"; found 'projects'
a key in single quotes after a comma → {"a":1,'b':2} → 1:8: expected a key in double quotes; found 'b'
a key without quotes → {"a":[1],⏎ b:2} → 2:2: expected a key in double quotes; found the word b
a list's text in single quotes → {"a":[1,'b']} → 1:9: expected a JSON value (text needs double quotes); found 'b'
a wrong bracket → {"a":[1}} → 1:8: expected "]" or ","; found "}"
a bracket for a brace → {"a":1] → 1:7: expected "}" or ","; found "]"
a number with a zero in front → {"a":-01} → 1:6: expected a number without leading zeros; found -01
a number with a plus → {"a":+7} → 1:6: expected a number that begins with a digit, or with "-" and a digit; found +7
a word in capitals → {"a":[NULL]} → 1:7: expected true, false or null in lower case; found the word NULL
a capital letter → {"a":True} → 1:6: expected true, false or null in lower case; found the word True
a word cut short → {"a":tru → 1:6: expected true; found the end of the text
a typo in a word → {"a":ture} → 1:6: expected a JSON value (did you mean true?); found the word ture
a bare word → {"a":yes} → 1:6: expected a JSON value (text needs double quotes); found the word yes
an equals sign for a colon → {"a"=1} → 1:5: expected ":"; found =1
a colon in a list → ["a":1} → 1:5: expected "]" or ","; found ":"
a semicolon → {"a":1;"b":2} → 1:7: expected "}" or ","; found ";"
a word after the end → {} x → 1:4: expected the end of the text; found the word x
a hexadecimal number → {"a":0x1F} → 1:6: expected a decimal number, or text in double quotes; found 0x1F
a date without quotes → {"a":2026-11-22} → 1:6: expected a decimal number, or text in double quotes; found 2026-11-22
a number without its first digit → {"a":[1,-.5]} → 1:9: expected a number that begins with a digit, or with "-" and a digit; found -.5
a number that JavaScript knows → {"a":-Infinity} → 1:6: expected a JSON value (if there is none, leave it out); found -Infinity
a value that only JavaScript has → [undefined] → 1:2: expected a JSON value (if there is none, leave it out); found the word undefined
a comma in front → [,1] → 1:2: expected a JSON value or "]"; found ","
typographic quotes around a key → {“a”:1} → 1:2: expected a key in straight double quotes or "}"; found “a”
typographic quotes around a value → {"a":“b”} → 1:6: expected a JSON value (text needs straight double quotes); found “b”
a no-break space → {⍽"a":1} → 1:2: expected a key in double quotes or "}"; found \u00a0
a number as a key → {1:2} → 1:2: expected a key in double quotes or "}"; found 1
a number that ends in a point → {"a":1.} → 1:6: expected a digit at the end of the number; found 1.
a short Unicode escape → {"a":"\u12"} → 1:6: expected four hexadecimal digits after "\u"; found "\u12"
an unknown escape → {"a":"\q"} → 1:6: expected one of the characters " \ / b f n r t u after a backslash; found "\q"
a tab inside text → {"a":"⇥"} → 1:6: expected no tab or other control character inside text; found "\u0009"
`;

describe("a projects file that isn't JSON", () => {
  test.each([
    ...rows(NOT_JSON),
    [
      'a list 100,000 levels deep',
      '['.repeat(100_000),
      'p.json:1:501: expected at most 500 levels of brackets',
    ],
  ])('causes an error that locates %s', (_, text, fault) => {
    expect(faultsOf(text)).toEqual([fault]);
  });

  test("causes an error that locates a byte that isn't UTF-8", () => {
    const bytes = Uint8Array.from([...new TextEncoder().encode('{\n"a":"é"\n,"b":"'), 0xe9, 0x0a]);
    expect(parseProjectsFile(bytes, 'p.json')).toEqual({
      faults: ['p.json:3:7: expected UTF-8; save the file as UTF-8'],
      line: [',"b":"', '\ufffd'],
    });
  });
});

const LIST = 'projects must be a list of projects, such as [{ "id": "1000001" }]';
const FAULTY = String.raw`
a list instead of an object → [{"id":"1"}] → 1:1: the file must be an object with a list "projects"; found [{"id":"1"}]
an empty list instead of an object → [] → 1:1: the file must be an object with a list "projects"; found []
a list instead of a project → {"projects":[[]]} → 1:14: projects[0] must be an object, such as { "id": "1000001" }; found []
null instead of an object → null → 1:1: the file must be an object with a list "projects"; found null
a missing list of projects → {} → 1:1: ${LIST.replace('must', 'is missing; it must')}
a project instead of the list → {"projects":{"id":"1"}} → 1:13: ${LIST}; found {"id":"1"}
an id instead of a project → {"projects":["1"]} → 1:14: projects[0] must be an object, such as { "id": "1000001" }; found "1"
a project without an id → {"projects":[{}]} → 1:14: projects[0].id is missing; it must be a string of 1 to 20 digits, such as "1000001"
an id that two projects have → {"projects":[⏎{"id":"7"},⏎{"id":"07"},⏎{"id":"7"}]} → 4:7: projects[2].id must be unique; found "7", also the id of projects[0]
a duplicate key in a project → {"projects":[{"id":"1",⏎"id":"2"}]} → 2:1: projects[0]: the key "id" occurs twice
a duplicate key in the file → {"projects":[],"projects":[]} → 1:16: the key "projects" occurs twice
an unknown key → {"projects":[{"id":"1","maxViewPerMinute":6}]} → 1:24: projects[0]: unknown key "maxViewPerMinute" (did you mean "maxViewsPerMinute"?)
a number as the address of the schema → {"$schema":1,"projects":[]} → 1:12: $schema must be a string; found 1
a name before the operator's address → {"operator":"Jo <jo@x.com>","projects":[]} → 1:13: operator must be an e-mail address, such as "views@example.com"; found "Jo <jo@x.com>"
`;

/** Fields of a project, each with values that aren't allowed. */
const WRONG_VALUES = String.raw`
id → 1000001 null "" "1\n" "١" "111111111111111111111" → must be a string of 1 to 20 digits, such as "1000001"
name → null 1 [] → must be a string
contact → ["a@b"] → must be a string
active → "true" 1 → must be true or false
origins → [] "https://a.com" → must be a list of at least one origin (to accept every origin, leave "origins" out)
origins[0] → [null] → must be a string, such as "https://www.example.com"
origins[0] → ["https://a.com/"] → must be http://host or https://host, with or without a port (did you mean "https://a.com"?)
origins[0] → ["*"] → must be http://host or https://host, with or without a port, such as "https://www.example.com" or "https://*.example.org" (to accept every origin, leave "origins" out)
maxViewsPerMinute → 0 -1 1.5 9007199254740992 "6000" null → must be a whole number of at least 1, such as 6000
`;

describe('a projects file that is JSON', () => {
  test.each(rows(FAULTY))('causes an error that locates %s', (_, text, fault) => {
    expect(faultsOf(text)).toEqual([fault]);
  });

  test.each(rows(WRONG_VALUES))(
    'causes an error for each of these values of %s: %s',
    (field, values, expected) => {
      const key = field.replace('[0]', '');
      for (const value of values.split(' ')) {
        const id = key === 'id' ? '' : '"id":"1",';
        const faults = faultsOf(`{"projects":[{${id}"${key}":${value}}]}`);
        expect(faults.map((fault) => fault.replace(/:\d+:\d+: (.*); found .*/, ':$1'))).toEqual([
          expected.replace(':', `:projects[0].${field} `),
        ]);
      }
    },
  );

  test('causes errors in the order of the file', () => {
    const text =
      '{"__proto__":{},\n"projects":[{"id":2,"active":1,"active":0,"colour":1},\n' +
      '{"id":"1","origins":["https://a.com","a","null"]},\n3]}';
    expect(faultsOf(text).map((fault) => fault.slice(7, 30))).toEqual([
      '1:2: unknown key "__pro',
      '2:19: projects[0].id mu',
      '2:30: projects[0].activ',
      '2:32: projects[0]: the ',
      '2:43: projects[0]: unkn',
      '3:38: projects[1].origi',
      '3:42: projects[1].origi',
      '4:1: projects[2] must b',
    ]);
    expect(faultsOf(text)[4]).toBe(
      'p.json:2:43: projects[0]: unknown key "colour"; known keys: id, name, origins, active, maxViewsPerMinute, contact',
    );
  });

  test.each([
    [FAULTS_MAX, FAULTS_MAX, /: projects\[49\] must be an object/],
    [FAULTS_MAX + 2, FAULTS_MAX + 1, /^p\.json: and 2 more faults$/],
  ])('causes %i errors, in %i lines', (count, lines, last) => {
    const faults = faultsOf(`{"projects":[${Array(count).fill('1').join()}]}`);
    expect(faults).toHaveLength(lines);
    expect(faults.at(-1)).toMatch(last);
  });

  test.each(['\n', '\r\n', '\r'])(
    'causes an error with line and column if lines end with %j',
    (eol) => {
      const text = ['{', '"projects":[', '  {"id":1}]', '}'].join(eol);
      expect(parseProjectsFile(Buffer.from(text), 'p.json')).toMatchObject({
        line: ['  {"id":', '1}]'],
      });
      expect(faultsOf(text)).toEqual([expect.stringMatching(/^p\.json:3:9: projects\[0\]\.id /)]);
    },
  );
});

describe('a valid projects file', () => {
  test("may begin with a byte order mark, which the columns of errors don't count", () => {
    expect(faultsOf('\ufeff1')).toEqual([expect.stringMatching(/^p\.json:1:1: the file must be /)]);
    expect(faultsOf('\ufeff\ufeff[]')).toHaveLength(1);
  });

  test('contains only text that JSON.parse accepts', () => {
    const valid =
      '{"operator": "a@b", "projects": [\n {"id": "1", "active": true, "name": "\\u00e9"}]}';
    const damage = fc.constantFrom(...Array.from('{}[]:,"\\/*\'\n\t\f0-+.eEtn\u00a0\u2028\ufeffx'));
    const position = fc.nat(valid.length);
    fc.assert(
      fc.property(position, fc.nat(2), damage, damage, (at, removed, a, b) => {
        const text = valid.slice(0, at) + a + b + valid.slice(at + removed);
        let isJson = true;
        try {
          JSON.parse(text.replace(/^\ufeff/, ''));
        } catch {
          isJson = false;
        }
        const faults = faultsOf(text);
        if (!isJson) expect(faults).not.toEqual([]);
        if (isJson) expect(faults.join()).not.toMatch(/expected|comments/);
      }),
      { numRuns: 3_000 },
    );
  });
});
