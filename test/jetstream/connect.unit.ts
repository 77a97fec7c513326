import { expect, it } from 'vitest';
import { versionWarnings } from '../../src/jetstream/connect.ts';

it.each<[what: string, version: string, server: string | undefined, warnings: string[]]>([
  [
    'warns about NATS 2.9.25 on a named server',
    '2.9.25',
    'a:4222',
    [expect.stringMatching(/^NATS server a:4222 has version 2\.9\.25: /)],
  ],
  [
    'warns about NATS 2.9.25 on the last server',
    '2.9.25',
    undefined,
    [expect.stringMatching(/^The last NATS server has version 2\.9\.25: /)],
  ],
  ["doesn't warn about NATS 2.12.1", '2.12.1', 'a:4222', []],
  ["doesn't warn about an unknown version of NATS", '', undefined, []],
])('viewlog %s', (_, version, server, warnings) => {
  expect(versionWarnings(version, server)).toEqual(warnings);
});
