import { expect, test } from 'vitest';
import { rewritten } from '../../src/projects/json-edit.ts';
import type { ProjectsFile } from '../../src/projects/projects-schema.ts';

const NEW = { id: '9', origins: ['https://n.com'], active: true };

/** A file, in which ⏎ and ⇥ are line breaks and tabs, and the text that an edit adds at ¦. */
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
  const { projects } = JSON.parse(text) as ProjectsFile;
  expect(rewritten(text, { projects: [...projects, NEW] })).toBe(before.replace('¦', added));
});
