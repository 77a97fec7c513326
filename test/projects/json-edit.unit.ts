import fc from 'fast-check';
import { expect, test } from 'vitest';
import { addObject, setValue } from '../../src/projects/json-edit.ts';

const NEW = { id: '9', origins: ['https://n.com'], active: true };

/** Reads `a | b | c` on each line; ⏎ and ⇥ are line breaks and tabs. */
const rows = (table: string) =>
  table
    .trim()
    .split('\n')
    .map(
      (line) =>
        line.replaceAll('⏎', '\n').replaceAll('⇥', '\t').split(' | ') as [string, string, string],
    );

// A file, and what is added at ¦.
const ADDED = `
{⏎  "projects": [⏎    {⏎      "id": "1"⏎    }¦⏎  ]⏎} | ,⏎    {⏎      "id": "9",⏎      ORIGINS,⏎      ACTIVE⏎    }
{ "projects": [⏎⇥{ "id": "1", "name": "" },⏎⇥{ "id": "2" }¦⏎]} | ,⏎⇥{ "id": "9", ORIGINS, ACTIVE }
{⏎⇥"projects": [{⏎⇥⇥"id": "1"⏎⇥}¦]⏎} | , {⏎⇥⇥"id": "9",⏎⇥⇥ORIGINS,⏎⇥⇥ACTIVE⏎⇥}
{"projects":[{"id":"1","name":""}¦]} | ,{"id":"9","origins":["https://n.com"],"active":true}
{"projects":[¦]} | {"id":"9","origins":["https://n.com"],"active":true}
{ "projects": [¦] } | {"id": "9", ORIGINS, ACTIVE}
{⏎⇥"projects": [¦]⏎} | ⏎⇥⇥{⏎⇥⇥⇥"id": "9",⏎⇥⇥⇥ORIGINS,⏎⇥⇥⇥ACTIVE⏎⇥⇥}⏎⇥
`
  .replaceAll('ORIGINS', '"origins": ["https://n.com"]')
  .replaceAll('ACTIVE', '"active": true');

test.each(rows(ADDED))('a new project is laid out like the last one, in %j', (file, added) => {
  expect(addObject(file.replace('¦', ''), ['projects'], NEW)).toBe(file.replace('¦', added));
});

// A file, the new value of "a", and the file after it.
test.each(
  rows(`
{ "c": 2,⏎   "b": 1⏎} | false | { "c": 2,⏎   "b": 1,⏎   "a": false⏎}
{} | false | {"a":false}
{"a": [ "x",  "z" ]} | ["x","y"] | {"a": [ "x",  "y" ]}
{"a": [⏎  "w",⏎  "x"⏎]} | ["x"] | {"a": [⏎  "x"⏎]}
`),
)('in %j, "a" is set to %s', (before, value, after) => {
  expect(setValue(before, ['a'], JSON.parse(value))).toBe(after);
});

test('an edit has the meaning that was wanted, and leaves all other text as it was', () => {
  const space = fc.stringMatching(/^[ \t\r\n]{0,3}$/);
  const value = fc.oneof(fc.constantFrom('1', 'null', '"\\u0061"', '1.50e1', '{ }', '[ 1,2 ]'));
  const key = fc.constantFrom('"id"', '"name"', '"\\u0078"', '"__proto__"');
  const member = fc.tuple(space, key, space, space, value, space);
  const object = fc
    .uniqueArray(member, { minLength: 1, maxLength: 4, selector: (parts) => parts[1] })
    .map(
      (members) => `{${members.map(([a, k, b, c, v, d]) => `${a}${k}${b}:${c}${v}${d}`).join()}}`,
    );
  const item = fc.tuple(space, object, space).map((parts) => parts.join(''));
  const text = fc
    .tuple(space, space, fc.array(item, { maxLength: 3 }), space, space)
    .map(([a, b, items, c, d]) => `${a}{"before": 1e2,${b}"projects":[${items.join()}]${c}}${d}`);

  fc.assert(
    fc.property(text, (before) => {
      const model = JSON.parse(before);
      const added = addObject(before, ['projects'], NEW);
      expect(JSON.parse(added)).toEqual({ ...model, projects: [...model.projects, NEW] });
      expectInsertion(before, added);

      const origins = ['https://n.com', 'https://o.com'];
      const last = ['projects', model.projects.length];
      const set = setValue(
        setValue(added, [...last, 'active'], false),
        [...last, 'origins'],
        origins,
      );
      const named = setValue(set, ['projects', 0, 'contact'], 'é"');
      const expected = [...model.projects, { ...NEW, active: false, origins }];
      // A spread would not copy a key named "__proto__".
      Object.assign(expected[0], { contact: 'é"' });
      expect(JSON.parse(named)).toEqual({ ...model, projects: expected });
      expectInsertion(set, named);
    }),
    { numRuns: 500 },
  );
});

/** Expects `after` to be `before` with one insertion; an empty list may lose its space. */
function expectInsertion(before: string, after: string): void {
  const text = before.replace(/\[[ \t\r\n]+\]/, '[]');
  let start = 0;
  while (start < text.length && text[start] === after[start]) start++;
  expect(after.endsWith(text.slice(start))).toBe(true);
}
