import { toJsonSchema } from '@valibot/to-json-schema';
import { expect, test } from 'vitest';
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
