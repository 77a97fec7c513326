import { type Node, type ParseError, parseTree, printParseErrorCode, visit } from 'jsonc-parser';
import { LIMITS } from './limits.ts';
import { printable } from './text.ts';

// JSON with the places of its faults. Runtimes word and place them differently, and some give no
// place at all; this says the same on each of them.

/** `offset` counts UTF-16 units from the start of the text. */
export interface Fault {
  readonly offset: number;
  readonly message: string;
}

/** A text, and where in it an offset is. */
export class Source {
  readonly text: string;
  #lineStarts: readonly number[] | undefined;

  constructor(text: string) {
    this.text = text;
  }

  /** Line and column as editors count them: from 1, columns in UTF-16 units. */
  place(offset: number): { line: number; column: number } {
    this.#lineStarts ??= [0, ...Array.from(this.text.matchAll(/\r\n|\r|\n/g), endOf)];
    // A file can be faulty on every line, so the line is searched for, not counted out.
    let low = 0;
    let high = this.#lineStarts.length;
    while (high - low > 1) {
      const middle = (low + high) >> 1;
      if (this.#lineStarts[middle]! <= offset) low = middle;
      else high = middle;
    }
    return { line: low + 1, column: offset - this.#lineStarts[low]! + 1 };
  }
}

const endOf = (match: RegExpExecArray): number => match.index + match[0].length;

// jsonc-parser's names for what it finds, in words.
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

/**
 * The tree of a JSON text, or where it is not JSON: at most one fault a line, for one slip makes
 * a parser stumble several times.
 */
export function parseJson(source: Source): { root: Node } | { faults: Fault[] } {
  const errors: ParseError[] = [];
  const root = parseTree(source.text, errors, STRICT);
  const faults: Fault[] = [];
  let line = 0;
  for (const error of errors) {
    const fault = syntaxFault(source.text, error);
    const previousLine = line;
    line = source.place(fault.offset).line;
    if (line !== previousLine) faults.push(fault);
  }
  if (faults.length > 0 || root === undefined) return { faults };
  return { root };
}

const STRICT = { disallowComments: true, allowTrailingComma: false };
/** The parser calls itself for each level. */
const DEPTH_MAX = 500;
const STOP = new Error('That is all that was asked');

/**
 * Where a text ceases to be JSON: a text full of faults costs no more than one that has the first
 * of them. `undefined` where that is nested too deep to be found.
 */
export function firstFault(text: string): Fault | undefined {
  let fault: Fault | undefined;
  let depth = 0;
  const enter = (): void => {
    depth += 1;
    if (depth > DEPTH_MAX) throw STOP;
  };
  const leave = (): void => {
    depth -= 1;
  };
  const onError = (error: number, offset: number, length: number): never => {
    fault = syntaxFault(text, { error, offset, length });
    throw STOP;
  };
  const levels = { onObjectBegin: enter, onArrayBegin: enter };
  try {
    visit(text, { ...levels, onObjectEnd: leave, onArrayEnd: leave, onError }, STRICT);
  } catch (error) {
    if (error !== STOP) throw error;
  }
  return fault;
}

function syntaxFault(text: string, { error, offset, length }: ParseError): Fault {
  const end = text.charAt(offset);
  const before = lastBefore(text, offset);
  if ((end === ']' || end === '}') && text.charAt(before) === ',') {
    return { offset: before, message: `expected no comma before the closing "${end}"` };
  }
  const code = printParseErrorCode(error);
  const isKey = code === 'InvalidSymbol' && text.charAt(before) === '{';
  const expected = SYNTAX[isKey ? 'PropertyNameExpected' : code] ?? 'is not JSON';
  const found = length === 0 ? 'the end of the text' : quote(text.slice(offset, offset + length));
  return { offset, message: `${expected}; found ${found}` };
}

/** Where the last character before `offset` is that is not white space; -1 where none is. */
function lastBefore(text: string, offset: number): number {
  let at = offset - 1;
  while (at >= 0 && ' \t\r\n'.includes(text.charAt(at))) at--;
  return at;
}

/** A stranger's text, as a fault quotes it. */
export const quote = (text: string): string => printable(text, LIMITS.quoteLengthMax);

export function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
