import { expect, it } from 'vitest';
import { createLog } from '../../src/base/log.ts';

it.each([
  ['with words, as text', 'text', false, ['1 begun', '2 warning: odd', '2 error: "broken"']],
  [
    'with words and priorities, as text for the journal',
    'text',
    true,
    ['1 <6>begun', '2 <4>warning: odd', '2 <3>error: "broken"'],
  ],
  [
    'with a field, as JSON, even for the journal',
    'json',
    true,
    [
      '1 {"time":"1970-01-01T00:00:00.000Z","level":"info","message":"begun"}',
      '2 {"time":"1970-01-01T00:00:00.000Z","level":"warn","message":"odd"}',
      '2 {"time":"1970-01-01T00:00:00.000Z","level":"error","message":"\\"broken\\""}',
    ],
  ],
] as const)('the log marks levels %s', (_, format, isJournal, expected) => {
  const lines: string[] = [];
  const writeLine = (fd: number, line: string): void => void lines.push(`${fd} ${line}`);
  const log = createLog(format, { writeLine, now: () => 0, isJournal: () => isJournal });
  log.info('begun');
  log.warn('odd');
  log.error('"broken"');
  expect(lines).toStrictEqual(expected);
});
