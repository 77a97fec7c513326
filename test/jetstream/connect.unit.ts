import { expect, it } from 'vitest';
import { versionWarnings } from '../../src/jetstream/connect.ts';

it.each<[version: string, server: string | undefined, warnings: string[]]>([
  ['2.9.25', 'a:4222', [expect.stringMatching(/^NATS server a:4222 has version 2\.9\.25: /)]],
  ['2.9.25', undefined, [expect.stringMatching(/^The last NATS server has version 2\.9\.25: /)]],
  ['2.12.1', 'a:4222', []],
  ['', undefined, []],
])(
  'viewlog warns about NATS servers before 2.10 only: version "%s" of server %s',
  (version, server, warnings) => {
    expect(versionWarnings(version, server)).toEqual(warnings);
  },
);
