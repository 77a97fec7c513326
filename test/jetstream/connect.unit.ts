import { expect, it } from 'vitest';
import { versionWarnings } from '../../src/jetstream/connect.ts';

it.each<[what: string, version: string, server: string | undefined, warnings: string[]]>([
  [
    'version 2.9.25 of a named server',
    '2.9.25',
    'a:4222',
    [expect.stringMatching(/^NATS server a:4222 has version 2\.9\.25: /)],
  ],
  [
    'version 2.9.25 of the last server',
    '2.9.25',
    undefined,
    [expect.stringMatching(/^The last NATS server has version 2\.9\.25: /)],
  ],
  ['version 2.12.1', '2.12.1', 'a:4222', []],
  ['an unknown version', '', undefined, []],
])('viewlog warns about NATS servers before 2.10 only: %s', (_, version, server, warnings) => {
  expect(versionWarnings(version, server)).toEqual(warnings);
});
