import { expect, test } from 'vitest';
import { dayOfFileName, fileNameOf } from '../../src/disk/names.ts';

test('a day and its file name lead to each other', () => {
  expect(fileNameOf('views', '2026-03-01')).toBe('views-2026-03-01.ndjson');
  expect(dayOfFileName('views', 'views-2026-03-01.ndjson')).toBe('2026-03-01');
  expect(dayOfFileName('refused', 'refused-2024-02-29.ndjson')).toBe('2024-02-29');
});

test.each([
  'refused-2026-03-01.ndjson',
  'views-2026-03-01.ndjson.gz',
  'views-2026-03-01.ndjson\n',
  'xviews-2026-03-01.ndjson',
  'views-2026-02-29.ndjson',
  'views-2026-13-01.ndjson',
  'views-2026-3-1.ndjson',
  'views.ndjson',
  '',
])('%j is no view file', (name) => {
  expect(dayOfFileName('views', name)).toBeUndefined();
});
