import { type ParseErrorCode, printParseErrorCode, visit } from 'jsonc-parser';
import { LIMITS } from './limits.ts';
import { printable } from './text.ts';

// Finds where and why a text is not JSON, with the same words on every runtime. Each JSON.parse words
// and places faults differently, and some give no place at all.

/** A fault at an offset, in UTF-16 units from the start of the text. */
export interface Fault {
  readonly offset: number;
  readonly message: string;
}

/** Line and column as editors count them: from 1, columns in UTF-16 units. */
export interface Place {
  readonly line: number;
  readonly column: number;
}

/** Returns a function that finds the place of an offset in the text. */
export function placesIn(text: string): (offset: number) => Place {
  const ends = Array.from(text.matchAll(/\r\n|\r|\n/g), ({ index, 0: end }) => index + end.length);
  const starts = [0, ...ends];
  return (offset) => {
    const line = starts.findLastIndex((start) => start <= offset);
    return { line: line + 1, column: offset - starts[line]! + 1 };
  };
}

// jsonc-parser's names of faults, in words.
const SYNTAX: Record<string, string> = {
  InvalidSymbol: 'expected text in double quotes, a number, true, false or null',
  InvalidNumberFormat: 'expected a number',
  PropertyNameExpected: 'expected a key in double quotes',
  ValueExpected: 'expected a value',
  ColonExpected: 'expected ":"',
  CommaExpected: 'expected ","',
  CloseBraceExpected: 'expected "}" or ","',
  CloseBracketExpected: 'expected "]" or ","',
  EndOfFileExpected: 'expected the end of the text',
  InvalidCommentToken: 'comments are not allowed in JSON',
  UnexpectedEndOfComment: 'comments are not allowed in JSON',
  UnexpectedEndOfString: 'expected text to end with a double quote on the same line',
  UnexpectedEndOfNumber: 'expected a digit at the end of the number',
  InvalidUnicode: 'expected four hexadecimal digits after "\\u"',
  InvalidEscapeCharacter: 'expected one of "\\/bfnrtu after a backslash',
  InvalidCharacter: 'expected no tab or other control character inside text',
};

/** The parser is recursive, and deeper texts would exhaust the stack. */
const DEPTH_MAX = 500;
const STOP = new Error('No more faults are wanted');

/**
 * Returns the faults of a text that is not JSON, at most one per line, because one mistake makes
 * the parser stumble several times. Stops at `countMax` faults.
 */
export function syntaxFaults(text: string, countMax = Infinity): Fault[] {
  const faults: Fault[] = [];
  let [depth, faultyLine] = [0, -1];
  const add = (fault: Fault, isLast = false): void => {
    faults.push(fault);
    if (isLast || faults.length >= countMax) throw STOP;
  };
  const enter = (offset: number): void => {
    const message = `expected at most ${DEPTH_MAX} levels of brackets`;
    if (++depth > DEPTH_MAX) add({ offset, message }, true);
  };
  const leave = (): void => void depth--;
  const onError = (code: ParseErrorCode, offset: number, length: number, line: number): void => {
    if (line !== faultyLine) add(syntaxFault(text, code, offset, length));
    faultyLine = line;
  };
  const onBegin = { onObjectBegin: enter, onArrayBegin: enter };
  const onEnd = { onObjectEnd: leave, onArrayEnd: leave };
  try {
    visit(text, { ...onBegin, ...onEnd, onError }, { disallowComments: true });
  } catch (error) {
    if (error !== STOP) throw error;
  }
  return faults;
}

/** Returns the first place where a text is not JSON. */
export const firstFault = (text: string): Fault | undefined => syntaxFaults(text, 1)[0];

function syntaxFault(text: string, error: ParseErrorCode, offset: number, length: number): Fault {
  const end = text.charAt(offset);
  const before = text.slice(0, offset).trimEnd().length - 1;
  if ((end === ']' || end === '}') && text.charAt(before) === ',') {
    return { offset: before, message: `expected no comma before the closing "${end}"` };
  }
  const code = printParseErrorCode(error);
  const isKey = code === 'InvalidSymbol' && text.charAt(before) === '{';
  const expected = SYNTAX[isKey ? 'PropertyNameExpected' : code] ?? 'is not JSON';
  const found = length === 0 ? 'the end of the text' : quote(text.slice(offset, offset + length));
  return { offset, message: `${expected}; found ${found}` };
}

/** Returns untrusted text as a fault quotes it: escaped and cut. */
export const quote = (text: string): string => printable(text, LIMITS.quoteLengthMax);

export function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
