import fc from 'fast-check';
import { expect, test } from 'vitest';
import { rewritten } from '../../src/projects/json-edit.ts';
import type { ProjectsFile } from '../../src/projects/projects-schema.ts';

const NEW = { id: '9', origins: ['https://n.com'], active: true };

const withNew = (file: ProjectsFile): ProjectsFile => ({
  ...file,
  projects: [...file.projects, { ...NEW }],
});

/** A file, in which ⏎ and ⇥ are line breaks and tabs, and what is added at ¦. */
const ADDED = `
{⏎  "projects": [⏎    {⏎      "id": "1"⏎    }¦⏎  ]⏎} | ,⏎    {⏎      "id": "9",⏎      ORIGINS,⏎      ACTIVE⏎    }
{ "projects": [⏎⇥{ "id": "1", "name": "" },⏎⇥{ "id": "2" }¦⏎]} | ,⏎⇥{ "id": "9", ORIGINS, ACTIVE }
{⏎⇥"projects": [{⏎⇥⇥"id": "1"⏎⇥}¦]⏎} | , {⏎⇥⇥"id": "9",⏎⇥⇥ORIGINS,⏎⇥⇥ACTIVE⏎⇥}
{"projects":[{"id":"1","name":""}¦]} | ,{"id":"9","origins":["https://n.com"],"active":true}
{⏎⇥"projects": [¦]⏎} | ⏎⇥⇥{⏎⇥⇥⇥"id": "9",⏎⇥⇥⇥"origins": [⏎⇥⇥⇥⇥"https://n.com"⏎⇥⇥⇥],⏎⇥⇥⇥ACTIVE⏎⇥⇥}⏎⇥
{"projects":[¦]} | {"id":"9","origins":["https://n.com"],"active":true}
`
  .replaceAll('ORIGINS', '"origins": ["https://n.com"]')
  .replaceAll('ACTIVE', '"active": true')
  .replaceAll('⏎', '\r\n')
  .replaceAll('⇥', '\t')
  .trim()
  .split(/(?<!\r)\n/);

test.each(ADDED)('a new project is laid out like the last one: %j', (row) => {
  const [before = '', added = ''] = row.split(' | ');
  const text = before.replace('¦', '');
  expect(rewritten(text, withNew(JSON.parse(text)))).toBe(before.replace('¦', added));
});

test('an edit has the meaning that was wanted, and leaves all other text as it was', () => {
  const space = fc.stringMatching(/^[ \t\r\n]{0,3}$/);
  const list = fc.constantFrom(
    '[]',
    '[{"id":"\\u0061"}]',
    '[{"id":"1"},{"a":1},{"origins":["a","b"]}]',
  );
  const text = fc.tuple(list, fc.array(space, { minLength: 20 })).map(([projects, spaces]) => {
    let i = 0;
    const next = (): string => spaces[i++ % spaces.length]!;
    const file = `{"before":1.50e1,"projects":${projects}}`;
    return file.replaceAll(/[[\]{}:,]/g, (token) => `${next()}${token}${next()}`);
  });

  fc.assert(
    fc.property(text, (before) => {
      const file = withNew(JSON.parse(before));
      const added = rewritten(before, file);
      expect(JSON.parse(added)).toEqual(file);
      expectInsertion(before, added);

      Object.assign(file.projects.at(-1)!, { active: false, origins: ['https://o.com'] });
      const changed = rewritten(added, file);
      Object.assign(file.projects[0]!, { contact: 'é"' });
      const edited = rewritten(changed, file);
      expect(JSON.parse(edited)).toEqual(file);
      expectInsertion(changed, edited);
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
