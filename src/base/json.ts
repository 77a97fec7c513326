import { type ParseErrorCode, printParseErrorCode, visit } from 'jsonc-parser';
import { LIMITS } from './limits.ts';
import { printable } from './text.ts';

// Finds where and why a text isn't JSON, with the same words on every runtime. Each runtime's
// JSON.parse describes and locates faults differently; some give no position.

/** A fault at an offset, in UTF-16 units from the start of the text. */
export interface Fault {
  readonly offset: number;
  readonly message: string;
}

/** Returns the place of an offset as editors count: from 1, columns in UTF-16 units. */
export function lineAndColumn(text: string, offset: number): { line: number; column: number } {
  const lines = text.slice(0, offset).split(/\r\n|\r|\n/);
  return { line: lines.length, column: lines.at(-1)!.length + 1 };
}

// jsonc-parser's names of faults, in words.
const SYNTAX: Record<string, string> = {
  InvalidSymbol: 'expected a JSON value (text needs double quotes)',
  PropertyNameExpected: 'expected a key in double quotes',
  ValueExpected: 'expected a value',
  ColonExpected: 'expected ":"',
  CommaExpected: 'expected ","',
  CloseBraceExpected: 'expected "}" or ","',
  CloseBracketExpected: 'expected "]" or ","',
  EndOfFileExpected: 'expected the end of the text',
  InvalidCommentToken: "comments aren't allowed in JSON",
  UnexpectedEndOfNumber: 'expected a digit at the end of the number',
  InvalidUnicode: 'expected four hexadecimal digits after "\\u"',
  InvalidEscapeCharacter: 'expected one of the characters " \\ / b f n r t u after a backslash',
  InvalidCharacter: 'expected no tab or other control character inside text',
};

/** Some words need another spelling; text only needs quotes. */
const HINTS: readonly (readonly [RegExp, string])[] = [
  [/^(true|false|null)$/i, 'expected true, false or null in lower case'],
  [/^[+.]\d/, 'expected a number that begins with a digit or "-"'],
];

/** The words after an opening bracket. */
const FIRST: Record<string, string> = {
  CloseBraceExpected: 'expected a key in double quotes or "}"',
  CloseBracketExpected: 'expected a value or "]"',
};

/** The parser is recursive, and deeper texts would exhaust the stack. */
const DEPTH_MAX = 500;
const STOP = new Error('One fault is enough');

/** Returns whether a fault says that the text ends too early, as if its end were missing. */
export const endsTooEarly = (message: string): boolean => message.endsWith(AT_END);

const AT_END = 'found the end of the text';

/** Returns the first place where a text isn't JSON. The parser only guesses at what follows. */
export function syntaxFault(text: string): Fault | undefined {
  let fault: Fault | undefined;
  const stop = (offset: number, message: string): never => {
    fault = { offset, message };
    throw STOP;
  };
  /** The brackets that are open here. */
  const open: string[] = [];
  const enter = (offset: number): void => {
    if (open.push(text.charAt(offset)) > DEPTH_MAX)
      stop(offset, `expected at most ${DEPTH_MAX} levels of brackets`);
  };
  const leave = (): void => void open.pop();
  const onError = (error: ParseErrorCode, offset: number, length: number): void => {
    const end = text.charAt(offset);
    const before = text.slice(0, offset).trimEnd().length - 1;
    const isEnd = end === ']' || end === '}';
    if (isEnd && text.charAt(before) === ',') {
      stop(before, `unexpected comma before the closing "${end}"`);
    }
    // The parser reads `01` as two numbers.
    if (text.charAt(offset - 1) === '0' && /\d/.test(end)) {
      const [digits = ''] = /^\d+/.exec(text.slice(offset - 1)) ?? [];
      stop(offset - 1, `expected a number without leading zeros; found ${quote(digits)}`);
    }
    const named = printParseErrorCode(error);
    const missing = open.at(-1) === '{' ? 'CloseBraceExpected' : 'CloseBracketExpected';
    const code = isEnd && named === 'CommaExpected' ? missing : named;
    const isFirst = text.charAt(before) === (code === 'CloseBraceExpected' ? '{' : '[');
    const isNext = '{,'.includes(text.charAt(before));
    const isKey = code === 'InvalidSymbol' && open.at(-1) === '{' && isNext;
    const found = text.slice(offset, offset + length);
    const hint = HINTS.find(([word]) => code === 'InvalidSymbol' && !isKey && word.test(found));
    const usual = hint?.[1] ?? SYNTAX[isKey ? 'PropertyNameExpected' : code] ?? "isn't JSON";
    // No comma can follow an opening bracket.
    const expected = isFirst ? (FIRST[code] ?? usual) : usual;
    if (code === 'UnexpectedEndOfString') {
      const begun = quote(text.slice(offset + 1, offset + length));
      const isLast = text.slice(offset + length).trim() === '';
      const where = isLast ? `; ${AT_END}` : ' on this line';
      stop(offset, `expected a closing double quote after "${begun}"${where}`);
    }
    stop(offset, `${expected}; ${length === 0 ? AT_END : `found ${quote(found)}`}`);
  };
  const onBegin = { onObjectBegin: enter, onArrayBegin: enter };
  const onEnd = { onObjectEnd: leave, onArrayEnd: leave };
  try {
    visit(text, { ...onBegin, ...onEnd, onError }, { disallowComments: true });
  } catch (error) {
    if (error !== STOP) throw error;
  }
  return fault;
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
