import { expect, test } from 'vitest';
import { dayOfFileName, fileNameOf } from '../../src/disk/names.ts';

test.each([
  ['views-2026-03-01.ndjson', '2026-03-01'],
  ['views-2024-02-29.ndjson', '2024-02-29'],
])('the day of %j is %s', (name, day) => {
  expect(dayOfFileName('views', name)).toBe(day);
  expect(fileNameOf('views', day)).toBe(name);
});

test.each([
  'refused-2026-03-01.ndjson',
  'views-2026-03-01.ndjson.gz',
  'views-2026-03-01.ndjson\n',
  'xviews-2026-03-01.ndjson',
  'views-2026-02-29.ndjson',
  'views-2026-3-1.ndjson',
])("%j isn't a day's view file", (name) => {
  expect(dayOfFileName('views', name)).toBeUndefined();
});
