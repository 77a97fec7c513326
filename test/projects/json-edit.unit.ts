import { expect, test } from 'vitest';
import { rewritten } from '../../src/projects/json-edit.ts';
import type { ProjectsFile } from '../../src/projects/projects-schema.ts';

const NEW = { id: '9', origins: ['https://n.com'], active: true };

/** The layout of a file, the file (⏎ and ⇥ are line breaks and tabs), and the text added at ¦. */
const ADDED = `
a line per field and two spaces | {⏎  "projects": [⏎    {⏎      "id": "1"⏎    }¦⏎  ]⏎} | ,⏎    {⏎      "id": "9",⏎      ORIGINS,⏎      ACTIVE⏎    }
a line per project and tabs | { "projects": [⏎⇥{ "id": "1", "name": "" },⏎⇥{ "id": "2" }¦⏎]} | ,⏎⇥{ "id": "9", ORIGINS, ACTIVE }
a brace on the line of its bracket | {⏎⇥"projects": [{⏎⇥⇥"id": "1"⏎⇥}¦]⏎} | , {⏎⇥⇥"id": "9",⏎⇥⇥ORIGINS,⏎⇥⇥ACTIVE⏎⇥}
a single line | {"projects":[{"id":"1","name":""}¦]} | ,{"id":"9","origins":["https://n.com"],"active":true}
tabs and no project yet | {⏎⇥"projects": [¦]⏎} | ⏎⇥⇥{⏎⇥⇥⇥"id": "9",⏎⇥⇥⇥"origins": [⏎⇥⇥⇥⇥"https://n.com"⏎⇥⇥⇥],⏎⇥⇥⇥ACTIVE⏎⇥⇥}⏎⇥
a single line and no project yet | {"projects":[¦]} | {"id":"9","origins":["https://n.com"],"active":true}
`
  .replaceAll('ORIGINS', '"origins": ["https://n.com"]')
  .replaceAll('ACTIVE', '"active": true')
  .replaceAll('⏎', '\r\n')
  .replaceAll('⇥', '\t')
  .trim()
  .split(/(?<!\r)\n/)
  .map((row) => row.split(' | '));

test.each(ADDED)('a new project is laid out like a file with %s', (_, before = '', added = '') => {
  const text = before.replace('¦', '');
  const { projects } = JSON.parse(text) as ProjectsFile;
  expect(rewritten(text, { projects: [...projects, NEW] })).toBe(before.replace('¦', added));
});
