import { toJsonSchema } from '@valibot/to-json-schema';
import { expect, test } from 'vitest';
import { projectsFile } from '../../src/projects/projects-schema.ts';

const schema = toJsonSchema(projectsFile, { ignoreActions: ['check'] });

test('the published JSON Schema comes from the schema that reads the projects file', async () => {
  // If this fails, the schema was changed: "npx vitest -u" writes the file again.
  await expect(`${JSON.stringify(schema, null, 2)}\n`).toMatchFileSnapshot(
    '../../data/projects.schema.json',
  );
});
