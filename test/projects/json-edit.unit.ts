import fc from 'fast-check';
import { expect, test } from 'vitest';
import { addObject, setValue } from '../../src/projects/json-edit.ts';

const NEW = { id: '9', origins: ['https://n.com'], active: true };

test.each([
  // A file, with ¦ where the project is added.
  [
    '{\n  "projects": [\n    {\n      "id": "1"\n    }¦\n  ]\n}\n',
    ',\n    {\n      "id": "9",\n      "origins": ["https://n.com"],\n      "active": true\n    }',
  ],
  [
    '{ "projects": [\n\t{ "id": "1", "active": true },\n\t{ "id": "2" }¦\n]}',
    ',\n\t{ "id": "9", "origins": ["https://n.com"], "active": true }',
  ],
  [
    '{\r\n\t"projects": [{\r\n\t\t"id": "1"\r\n\t}¦]\r\n}',
    ', {\r\n\t\t"id": "9",\r\n\t\t"origins": ["https://n.com"],\r\n\t\t"active": true\r\n\t}',
  ],
  [
    '{"projects":[{"id":"1","active":true}¦]}',
    ',{"id":"9","origins":["https://n.com"],"active":true}',
  ],
  ['{"projects":[¦]}', '{"id":"9","origins":["https://n.com"],"active":true}'],
  ['{ "projects": [¦] }', '{"id": "9", "origins": ["https://n.com"], "active": true}'],
  [
    '{\n\t"projects": [¦]\n}',
    '\n\t\t{\n\t\t\t"id": "9",\n\t\t\t"origins": ["https://n.com"],\n\t\t\t"active": true\n\t\t}\n\t',
  ],
])('a new project is laid out like the last one, in %j', (file, added) => {
  expect(addObject(file.replace('¦', ''), ['projects'], NEW)).toBe(file.replace('¦', added));
});

test.each<[before: string, value: unknown, after: string]>([
  ['{ "a":   true }', false, '{ "a":   false }'],
  ['{"b":1}', false, '{"b":1,"a":false}'],
  ['{"b": 1}', false, '{"b": 1, "a": false}'],
  ['{ "b": 1 }', false, '{ "b": 1, "a": false }'],
  ['{\n\t"b": 1 }', false, '{\n\t"b": 1,\n\t"a": false }'],
  ['{ "c": 2,\n   "b": 1\n}', false, '{ "c": 2,\n   "b": 1,\n   "a": false\n}'],
  ['{}', false, '{"a":false}'],
  ['{"b": 1}', ['x', 'y'], '{"b": 1, "a": ["x", "y"]}'],
  ['{"a":["x"]}', ['x', 'y'], '{"a":["x","y"]}'],
  ['{"a": ["x"]}', ['x', 'y'], '{"a": ["x", "y"]}'],
  ['{"a": [ "x",  "z" ]}', ['x', 'y'], '{"a": [ "x",  "y" ]}'],
  ['{"a": [\n  "w",\n  "x"\n]}', ['x'], '{"a": [\n  "x"\n]}'],
  ['{"a": [\n  "x"\n]}', ['x', 'y'], '{"a": [\n  "x",\n  "y"\n]}'],
])('in %j, "a" is set to %j', (before, value, after) => {
  expect(setValue(before, ['a'], value)).toBe(after);
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
