import { type ParseErrorCode, printParseErrorCode, visit } from 'jsonc-parser';
import { hasHeadWithin, LINE_START } from '../view/line.ts';

/** jsonc-parser's names of a string, a number or a word that the end of the text cuts off. */
const UNFINISHED = /^(UnexpectedEnd|InvalidSymbol)/;

/**
 * Returns whether the line is a fragment: the start of a line that a crash cut off and that the
 * next start ended with a newline. A power cut can leave NULs in place of the rest or of the
 * newline alone. The start of a line that another line follows without a newline isn't a fragment:
 * the file has lost part of a whole line.
 */
export function isFragment(line: string): boolean {
  const [text = ''] = line.split('\0', 1);
  if (line === '' || text.padEnd(line.length, '\0') !== line) return false;
  if (text.length <= LINE_START.length) return LINE_START.startsWith(text);
  if (!text.startsWith(LINE_START) || hasHeadWithin(text)) return false;
  /** True: the error at this index is the end of the text. */
  const errors: boolean[] = [];
  const onError = (code: ParseErrorCode, offset: number, length: number): void => {
    const isAtEnd = length === 0 || UNFINISHED.test(printParseErrorCode(code));
    errors.push(isAtEnd && offset + length === text.length);
  };
  try {
    visit(text, { onError }, { disallowComments: true });
  } catch {
    // The parser calls itself for each level of nesting, and a view never has that many.
    return false;
  }
  // The line was cut off right before its newline; without NULs it would be whole.
  return errors.length === 0 ? text !== line : errors.every(Boolean);
}
