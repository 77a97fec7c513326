import { expect, test } from 'vitest';
import { dayOfFileName, fileNameOf } from '../../src/disk/names.ts';

test.each([
  ['views-2026-03-01.ndjson', '2026-03-01'],
  ['views-2024-02-29.ndjson', '2024-02-29'],
  ['refused-2026-03-01.ndjson', undefined],
  ['views-2026-03-01.ndjson.gz', undefined],
  ['views-2026-03-01.ndjson\n', undefined],
  ['xviews-2026-03-01.ndjson', undefined],
  ['views-2026-02-29.ndjson', undefined],
  ['views-2026-3-1.ndjson', undefined],
])('the day of %j is %s', (name, day) => {
  expect(dayOfFileName('views', name)).toBe(day);
  if (day !== undefined) expect(fileNameOf('views', day)).toBe(name);
});
