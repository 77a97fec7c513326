import { type ParseErrorCode, printParseErrorCode, visit } from 'jsonc-parser';
import { hasHeadWithin, LARGEST_MAX_VIEW_BYTES, LINE_START } from '../view/line.ts';

/** What a string, a number or a word is called that the text ends in the middle of. */
const UNFINISHED = /^(UnexpectedEnd|InvalidSymbol)/;

/**
 * Whether the line is the start of one, which a crash cut off and the next start ended with a
 * newline; a power cut can leave NULs where the rest should be, be it only the newline. A start
 * that another line follows at once is none: there a whole line was lost.
 */
export function isFragment(line: string): boolean {
  const [text = ''] = line.split('\0', 1);
  if (line === '' || text.padEnd(line.length, '\0') !== line) return false;
  if (text.length <= LINE_START.length) return LINE_START.startsWith(text);
  // What a crash cut off was shorter than a line.
  if (text.length > LARGEST_MAX_VIEW_BYTES) return false;
  if (!text.startsWith(LINE_START) || hasHeadWithin(text)) return false;
  let isWhole = true;
  let isCut = true;
  const onError = (code: ParseErrorCode, offset: number, length: number): void => {
    isWhole = false;
    const isAtEnd = length === 0 || UNFINISHED.test(printParseErrorCode(code));
    isCut &&= isAtEnd && offset + length === text.length;
  };
  try {
    visit(text, { onError }, { disallowComments: true });
  } catch {
    // The parser calls itself for each level, and no view has so many.
    return false;
  }
  // Cut off right before its newline; without NULs it would be a line.
  return isWhole ? text !== line : isCut;
}
