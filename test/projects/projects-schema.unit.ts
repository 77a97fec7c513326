import { toJsonSchema } from '@valibot/to-json-schema';
import { expect, test } from 'vitest';
import { loadProjects } from '../../src/projects/project-list.ts';
import { projectsFile } from '../../src/projects/projects-schema.ts';

const schema = toJsonSchema(projectsFile, { ignoreActions: ['check'] });

test('the published JSON Schema is that of the schema which reads the file', async () => {
  // If this fails, the schema was changed: "npx vitest -u" writes the file anew.
  await expect(`${JSON.stringify(schema, null, 2)}\n`).toMatchFileSnapshot(
    '../../data/projects.schema.json',
  );
});

test('every field of the JSON Schema has a description, for editors to show', () => {
  const { properties: file } = JSON.parse(JSON.stringify(schema));
  const fields = Object.entries({ ...file, ...file.projects.items.properties });
  expect(fields.length).toBeGreaterThan(8);
  for (const [name, field] of fields) expect(field, name).toHaveProperty('description');
});

test('the demonstration project takes views from anywhere, so that a first curl works', async () => {
  const projects = await loadProjects(
    new URL('../../data/projects.json', import.meta.url).pathname,
  );
  expect(projects.operator).toBe('views@example.com');
  expect(projects.find('1000001')?.active).toBe(true);
  expect(projects.find('1000001')?.allowsOrigin(undefined)).toBe(true);
  expect(projects.find('1000001')?.allowsOrigin('http://localhost:3000')).toBe(true);
});
