import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { FAULTS_MAX, parseProjectsFile } from '../../src/projects/parse.ts';

const read = (text: string) => parseProjectsFile(new TextEncoder().encode(text), 'p.json');
const faultsOf = (text: string): readonly string[] => {
  const result = read(text);
  return 'faults' in result ? result.faults : [];
};
const project = (fields: string) => `{"projects":[{"id":"1",${fields}}]}`;

const ID = 'must be a string of 1 to 20 digits, such as "1000001"';
const FILE = 'the file must be an object with a list "projects"';
const LIST = 'must be a list of projects, such as [{ "id": "1000001" }]';
const OBJECT = 'must be an object, such as { "id": "1000001" }';
const EMAIL = 'must be an e-mail address, such as "views@example.com"';
const LIMIT = 'must be a whole number from 1, such as 6000';
const ORIGINS =
  'must be a list of at least one origin (to accept every origin, leave "origins" out)';
const PROJECT_KEYS = 'known are id, name, origins, active, maxViewsPerMinute, contact';

describe('a file that is not JSON', () => {
  test.each([
    ['', ['1:1: expected a value; found the end of the text']],
    [' \n ', ['2:2: expected a value; found the end of the text']],
    ['{"projects":[],}', ['1:15: expected no comma before the closing "}"']],
    ['{"projects":[\n{"id":"1"},\n]\n}', ['2:11: expected no comma before the closing "]"']],
    ['[1,\n 2,,3]', ['2:4: expected a value; found ,']],
    ['{"projects" []}', ['1:13: expected ":"; found [']],
    ['{"a":1\n"projects":[]}', ['2:1: expected ","; found "projects"']],
    ['{"projects":[{"id":"1"}', ['1:24: expected "]" or ","; found the end of the text']],
    ['{"projects":[]', ['1:15: expected "}" or ","; found the end of the text']],
    ['{"projects":[]}}', ['1:16: expected the end of the text; found }']],
    [
      '// ours\n{"projects":[] /* none */}',
      [
        '1:1: comments are not allowed in JSON; found // ours',
        '2:16: comments are not allowed in JSON; found /* none */',
      ],
    ],
    ['/* never', ['1:1: comments are not allowed in JSON; found /* never']],
    ['{projects:[]}', [`1:2: expected a key in double quotes; found projects`]],
    ["{'projects':[]}", [`1:2: expected a key in double quotes; found 'projects'`]],
    [
      '{"a":True}',
      ['1:6: expected text in double quotes, a number, true, false or null; found True'],
    ],
    ['{,}', ['1:2: expected a value; found ,']],
    ['{1:2}', ['1:2: expected a key in double quotes; found 1']],
    [
      '{"a":"x\n',
      [
        '1:6: expected text to end with a double quote on the same line; found "x',
        '2:1: expected "}" or ","; found the end of the text',
      ],
    ],
    ['{"a":1.}', ['1:6: expected a digit at the end of the number; found 1.']],
    ['{"a":"\\u12"}', ['1:6: expected four hexadecimal digits after "\\u"; found "\\u12"']],
    ['{"a":"\\q"}', ['1:6: expected one of "\\/bfnrtu after a backslash; found "\\q"']],
    [
      '{"a":"\t"}',
      ['1:6: expected no tab or other control character inside text; found "\\u0009"'],
    ],
    ['{\u202e}', ['1:2: expected a key in double quotes; found \\u202e']],
  ])('%j', (text, expected) => {
    expect(faultsOf(text)).toEqual(expected.map((fault) => `p.json:${fault}`));
  });

  test('brackets nested a hundred thousand deep are a fault, not a crash', () => {
    expect(faultsOf('['.repeat(100_000))).toEqual([
      expect.stringMatching(/^p\.json:1:1: cannot be parsed: /),
    ]);
  });

  test('text that is not UTF-8 is a fault of its line', () => {
    const bytes = Uint8Array.from([...new TextEncoder().encode('{\n"a":"é"\n,"b":"'), 0xe9, 0x0a]);
    expect(parseProjectsFile(bytes, 'p.json')).toEqual({
      faults: ['p.json:3: not UTF-8; save the file in that encoding'],
    });
  });
});

describe('a file that is JSON', () => {
  test.each([
    ['[]', [`1:1: ${FILE}; found an empty list`]],
    ['[{"id":"1"}]', [`1:1: ${FILE}; found a list`]],
    ['null', [`1:1: ${FILE}; found null`]],
    ['"projects"', [`1:1: ${FILE}; found "projects"`]],
    ['{}', [`1:1: projects is missing; it ${LIST}`]],
    ['{"projects":{"id":"1"}}', [`1:13: projects ${LIST}; found an object`]],
    ['{"projects":null}', [`1:13: projects ${LIST}; found null`]],
    ['{"projects":["1"]}', [`1:14: projects[0] ${OBJECT}; found "1"`]],
    ['{"projects":[[]]}', [`1:14: projects[0] ${OBJECT}; found an empty list`]],
    ['{"projects":[["id"]]}', [`1:14: projects[0] ${OBJECT}; found a list`]],
    ['{"projects":[{}]}', [`1:14: projects[0].id is missing; it ${ID}`]],
    ['{"projects":[{"id":1000001}]}', [`1:20: projects[0].id ${ID}; found the number 1000001`]],
    ['{"projects":[{"id":1e3}]}', [`1:20: projects[0].id ${ID}; found the number 1e3`]],
    ['{"projects":[{"id":null}]}', [`1:20: projects[0].id ${ID}; found null`]],
    ['{"projects":[{"id":""}]}', [`1:20: projects[0].id ${ID}; found ""`]],
    ['{"projects":[{"id":"12a"}]}', [`1:20: projects[0].id ${ID}; found "12a"`]],
    ['{"projects":[{"id":"1\\n"}]}', [`1:20: projects[0].id ${ID}; found "1\\n"`]],
    ['{"projects":[{"id":"١"}]}', [`1:20: projects[0].id ${ID}; found "١"`]],
    [
      `{"projects":[{"id":"${'1'.repeat(21)}"}]}`,
      [`1:20: projects[0].id ${ID}; found "${'1'.repeat(21)}"`],
    ],
    [
      '{"projects":[\n{"id":"7"},\n{"id":"07"},\n{"id":"7"}]}',
      ['4:7: projects[2].id must be unique; found "7", the id of projects[0] on line 2'],
    ],
    [
      '{"projects":[{"id":"1",\n"id":"2"}]}',
      ['2:1: projects[0]: the key "id" is on line 1 already'],
    ],
    [
      project('"active":true,"active":1'),
      [
        '1:38: projects[0]: the key "active" is on line 1 already',
        '1:47: projects[0].active must be true or false; found the number 1',
      ],
    ],
    ['{"projects":[],"projects":[]}', ['1:16: the key "projects" is on line 1 already']],
    [
      project('"maxViewPerMinute":6'),
      ['1:24: projects[0]: unknown key "maxViewPerMinute"; did you mean "maxViewsPerMinute"?'],
    ],
    [
      project('"Origins":[],\n"colour":1'),
      [
        '1:24: projects[0]: unknown key "Origins"; did you mean "origins"?',
        `2:1: projects[0]: unknown key "colour"; ${PROJECT_KEYS}`,
      ],
    ],
    [
      '{"__proto__":{},"projects":[{"id":"1","__proto__":{"active":false}}]}',
      [
        '1:2: unknown key "__proto__"; known are $schema, operator, projects',
        `1:39: projects[0]: unknown key "__proto__"; ${PROJECT_KEYS}`,
      ],
    ],
    [
      '{"project":[]}',
      [
        `1:1: projects is missing; it ${LIST}`,
        '1:2: unknown key "project"; did you mean "projects"?',
      ],
    ],
    [
      '{"$schema":1,"projects":[]}',
      ['1:12: $schema must be a string, such as "./projects.schema.json"; found the number 1'],
    ],
    ['{"operator":1,"projects":[]}', [`1:13: operator ${EMAIL}; found the number 1`]],
    ['{"operator":"views","projects":[]}', [`1:13: operator ${EMAIL}; found "views"`]],
    [
      '{"operator":"Jo <jo@x.com>","projects":[]}',
      [`1:13: operator ${EMAIL}; found "Jo <jo@x.com>"`],
    ],
    [project('"name":null'), ['1:31: projects[0].name must be a string; found null']],
    [project('"contact":["a@b"]'), ['1:34: projects[0].contact must be a string; found a list']],
    [project('"active":"true"'), ['1:33: projects[0].active must be true or false; found "true"']],
    [project('"active":null'), ['1:33: projects[0].active must be true or false; found null']],
    [
      project('"maxViewsPerMinute":0'),
      [`1:44: projects[0].maxViewsPerMinute ${LIMIT}; found the number 0`],
    ],
    [
      project('"maxViewsPerMinute":-1'),
      [`1:44: projects[0].maxViewsPerMinute ${LIMIT}; found the number -1`],
    ],
    [
      project('"maxViewsPerMinute":1.5'),
      [`1:44: projects[0].maxViewsPerMinute ${LIMIT}; found the number 1.5`],
    ],
    [
      project('"maxViewsPerMinute":1e999'),
      [`1:44: projects[0].maxViewsPerMinute ${LIMIT}; found the number 1e999`],
    ],
    [
      project('"maxViewsPerMinute":9007199254740992'),
      [`1:44: projects[0].maxViewsPerMinute ${LIMIT}; found the number 9007199254740992`],
    ],
    [
      project('"maxViewsPerMinute":"6000"'),
      [`1:44: projects[0].maxViewsPerMinute ${LIMIT}; found "6000"`],
    ],
    [project('"origins":[]'), [`1:34: projects[0].origins ${ORIGINS}; found an empty list`]],
    [
      project('"origins":"https://a.com"'),
      [`1:34: projects[0].origins ${ORIGINS}; found "https://a.com"`],
    ],
    [project('"origins":null'), [`1:34: projects[0].origins ${ORIGINS}; found null`]],
    [
      project('"origins":[null]'),
      [
        '1:35: projects[0].origins[0] must be a string, such as "https://www.example.com"; found null',
      ],
    ],
    [
      project('"origins":["https://a.com","https://a.com/","null"]'),
      [
        '1:51: projects[0].origins[1] must end after its host and port, as in "https://a.com"; found "https://a.com/"',
        '1:68: projects[0].origins[2] must not be "null", which sandboxed pages of any site send; found "null"',
      ],
    ],
  ])('%j', (text, expected) => {
    expect(faultsOf(text)).toEqual(expected.map((fault) => `p.json:${fault}`));
  });

  test('every fault is reported, in the order of the file', () => {
    const text = '{"operator":"x",\n"projects":[\n{"id":1,"active":2},\n[],\n{"x":1}]}';
    expect(faultsOf(text).map((fault) => fault.split(' ', 2).join(' '))).toEqual([
      'p.json:1:13: operator',
      'p.json:3:7: projects[0].id',
      'p.json:3:18: projects[0].active',
      'p.json:4:1: projects[1]',
      'p.json:5:1: projects[2].id',
      'p.json:5:2: projects[2]:',
    ]);
  });

  test.each([
    [FAULTS_MAX, FAULTS_MAX, undefined],
    [FAULTS_MAX + 1, FAULTS_MAX + 1, 'p.json: and 1 more fault'],
    [FAULTS_MAX + 2, FAULTS_MAX + 1, 'p.json: and 2 more faults'],
  ])('of %i faults, %i lines are shown', (count, lines, last) => {
    const faults = faultsOf(`{"projects":[${Array(count).fill('1').join()}]}`);
    expect(faults).toHaveLength(lines);
    if (last !== undefined) expect(faults.at(-1)).toBe(last);
  });

  test('a value is clipped and made printable', () => {
    const [fault] = faultsOf(`{"projects":[{"id":"${'\u202e'.repeat(100)}"}]}`);
    expect(fault).toContain('found "\\u202e\\u202e');
    expect(fault).toMatch(/\\u202e…$/);
  });

  test.each(['\n', '\r\n', '\r'])('lines are counted as editors do: %j', (eol) => {
    const text = ['{', '"projects":[', '  {"id":1}]}'].join(eol);
    expect(faultsOf(text)).toEqual([`p.json:3:9: projects[0].id ${ID}; found the number 1`]);
  });
});

describe('a sound file', () => {
  test('needs nothing but a list, and of a project nothing but its id', () => {
    expect(read('{"projects":[]}')).toMatchObject({ file: { projects: [] } });
    expect(read('{"projects":[{"id":"00000000000000000007"}]}')).toMatchObject({
      file: { projects: [{ id: '00000000000000000007' }] },
    });
  });

  test('may begin with a byte order mark, which no column counts', () => {
    const text = '{"projects":[]}';
    expect(read(`\ufeff${text}`)).toMatchObject({ file: { projects: [] }, bom: '\ufeff', text });
    expect(faultsOf('\ufeff[]')).toEqual([`p.json:1:1: ${FILE}; found an empty list`]);
    expect(faultsOf('\ufeff\ufeff[]')).toHaveLength(1);
  });

  test('is read as JSON.parse reads it', () => {
    const optional = { requiredKeys: ['id' as const] };
    const entry = fc.record(
      {
        id: fc.bigInt(0n, 10n ** 20n - 1n).map(String),
        name: fc.string({ unit: 'binary' }),
        origins: fc.array(
          fc.webAuthority({ withPort: true }).map((host) => `https://${host}`),
          {
            minLength: 1,
          },
        ),
        active: fc.boolean(),
        maxViewsPerMinute: fc.maxSafeNat().map((n) => Math.max(1, n)),
        contact: fc.string(),
      },
      optional,
    );
    const entries = fc.uniqueArray(entry, { selector: ({ id }) => id });
    fc.assert(
      fc.property(entries, fc.nat(4), (projects, indent) => {
        const text = JSON.stringify({ projects }, null, indent);
        expect(read(text)).toEqual({ file: JSON.parse(text), bom: '', text });
      }),
    );
  });

  test('is strict JSON: what JSON.parse throws on is a fault, whatever was damaged', () => {
    const sound =
      '{"operator": "a@b", "projects": [\n {"id": "1", "active": true, "name": "\\u00e9"}]}';
    const damage = fc.constantFrom(...Array.from('{}[]:,"\\/*\'\n\t\f0-+.eEtn\u00a0\u2028\ufeffx'));
    const position = fc.nat(sound.length);
    fc.assert(
      fc.property(position, fc.nat(2), damage, damage, (at, removed, a, b) => {
        const text = sound.slice(0, at) + a + b + sound.slice(at + removed);
        let isJson = true;
        try {
          JSON.parse(text.replace(/^\ufeff/, ''));
        } catch {
          isJson = false;
        }
        const faults = faultsOf(text);
        if (!isJson) expect(faults).not.toEqual([]);
        if (isJson) expect(faults.join()).not.toMatch(/expected|comments|cannot be parsed/);
      }),
      { numRuns: 5_000 },
    );
  });
});
