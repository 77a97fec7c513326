import { expect, it } from 'vitest';
import { layOut } from '../../src/manual/lay-out.ts';

const shown = (markdown: string, columns = 40): string => layOut(markdown, columns, false);

it('layOut wraps the widest columns of a table that is too wide', () => {
  const table =
    '| a | b | c |\n|---|---|---|\n| one | 1 two three four five six seven `x y z` | two |';
  expect(shown(table)).toBe(
    [
      '  a    b                             c',
      '  one  1 two three four five six     two',
      '       seven `x y z`',
    ].join('\n'),
  );
  expect(shown('| a | b |\n|---|---|\n| 1 2 3 4 5 6 7 8 | `a-long-file` 2 3 4 |', 26)).toBe(
    ['  a          b', '  1 2 3 4 5  `a-long-file`', '  6 7 8      2 3 4'].join('\n'),
  );
  expect(shown(table, 80)).toMatch(/^ {2}one {2}1 two three four five six seven `x y z` {2}two$/m);
});

const WORDS = 'one two three four five six `viewlog help trouble` seven';

it.each([
  [
    'a heading and strong words in bold',
    '# A\n\n**b c** d\n',
    '\u001b[1mA\u001b[22m\n\n\u001b[1mb c\u001b[22m d',
  ],
  [
    'a list in a list, with its items indented',
    '- one two three four five six seven\n  - eight nine ten eleven twelve',
    '- one two three four five six\n  seven\n  - eight nine ten eleven\n    twelve',
  ],
  ['a command on one line', WORDS, 'one two three four five six\n`viewlog help trouble` seven'],
  [
    'code as it is, however long',
    '```sh\n# [no](link) **bold**, in a line that is long\n```',
    '    # [no](link) **bold**, in a line that is long',
  ],
  ['a table in columns', '| a | b |\n|---|---|\n| long | `x\\|y` |\n', '  a     b\n  long  `x|y`'],
  [
    'a link to a page of the manual as a command',
    '[a](files.md#x) [b](#y)',
    'a (`viewlog help files`) b',
  ],
  ['a link to a website with its address', '[c](https://c.example)', 'c (https://c.example)'],
])('a terminal shows %s', (_, markdown, shown) => {
  expect(layOut(markdown, 30, true)).toBe(shown);
});
