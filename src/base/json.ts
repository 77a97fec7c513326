import { type ParseErrorCode, printParseErrorCode, visit } from 'jsonc-parser';
import { LIMITS } from './limits.ts';
import { nearest, printable } from './text.ts';

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

const VALUE = 'a JSON value';
const KEY = 'a key in double quotes';
/** The signs that may follow a value within these brackets. */
const AFTER: Record<string, string> = { '{': '"}" or ","', '[': '"]" or ","' };

/** Faults within a value or a comment, by jsonc-parser's names. */
const WITHIN: Record<string, string> = {
  InvalidCommentToken: "comments aren't allowed in JSON",
  UnexpectedEndOfNumber: 'expected a digit at the end of the number',
  InvalidUnicode: 'expected four hexadecimal digits after "\\u"',
  InvalidEscapeCharacter: 'expected one of the characters " \\ / b f n r t u after a backslash',
  InvalidCharacter: 'expected no tab or other control character inside text',
};

const WORD = /^[-+\w.]+/;
/** Words that are no value, each with what to write instead. */
const WORDS: readonly (readonly [RegExp, string])[] = [
  [/^(true|false|null)$/i, 'true, false or null in lower case'],
  [/^[-+]?(NaN|Infinity|undefined|None)$/, `${VALUE} (if there is none, leave it out)`],
  [/^-|^[+.]\d/, 'a number that begins with a digit, or with "-" and a digit'],
  [/^/, `${VALUE} (text needs double quotes)`],
];
function insteadOf(word: string): string {
  const near = nearest(word, ['true', 'false', 'null']);
  const isTypo = near !== undefined && near !== word.toLowerCase();
  return isTypo
    ? `${VALUE} (did you mean ${near}?)`
    : WORDS.find(([words]) => words.test(word))![1];
}

/** The parser is recursive, and deeper texts would exhaust the stack. */
const DEPTH_MAX = 500;
const STOP = new Error('One fault is enough');

/** Returns whether a fault says that the text ends too early, as if its end were missing. */
export const endsTooEarly = (message: string): boolean => message.endsWith(`found ${AT_END}`);

const AT_END = 'the end of the text';

/** A quote that a word processor or a blog has made typographic. */
const CURLY = /^[“”„‟«»]/;

const wordAt = (text: string, offset: number): string => WORD.exec(text.slice(offset))?.[0] ?? '';

/** Returns the word within which the text ends: `true` for `tru`. */
const cutWord = (found: string, rest: string): string | undefined =>
  rest.trim() === '' ? ['true', 'false', 'null'].find((one) => one.startsWith(found)) : undefined;

function badNumber(word: string): string {
  const expected = /^-?0\d+$/.test(word)
    ? 'a number without leading zeros'
    : 'a decimal number, or text in double quotes';
  return `expected ${expected}; found ${quote(word)}`;
}

function unclosed(begun: string, rest: string): string {
  const where = rest.trim() === '' ? `; found ${AT_END}` : ' on this line';
  return `expected a closing double quote after "${quote(begun)}"${where}`;
}

/** Returns the first place where a text isn't JSON. The parser only guesses at what follows. */
export function syntaxFault(text: string): Fault | undefined {
  let fault: Fault | undefined;
  const stop = (offset: number, message: string): never => {
    fault = { offset, message };
    throw STOP;
  };
  /** The brackets that are open here. */
  const open: string[] = [];
  /** The words for all that may follow here. */
  let next: string = VALUE;
  const afterValue = (): void => void (next = AFTER[open.at(-1) ?? ''] ?? AT_END);
  const enter = (offset: number): void => {
    const begin = text.charAt(offset);
    if (open.push(begin) > DEPTH_MAX)
      stop(offset, `expected at most ${DEPTH_MAX} levels of brackets`);
    next = begin === '{' ? `${KEY} or "}"` : `${VALUE} or "]"`;
  };
  /** The latest number. */
  let number = { offset: 0, end: -1 };
  const onLiteralValue = (value: unknown, offset: number, length: number): void => {
    if (typeof value === 'number') number = { offset, end: offset + length };
    afterValue();
  };
  const leave = (_: number, length: number): void => {
    // The end of the text also ends what is open.
    if (length === 0) return;
    open.pop();
    afterValue();
  };
  const onSeparator = (character: string): void => {
    next = character === ':' || open.at(-1) === '[' ? VALUE : KEY;
  };
  const onError = (error: ParseErrorCode, offset: number, length: number): void => {
    const name = printParseErrorCode(error);
    const [found, rest] = [text.slice(offset, offset + length), text.slice(offset + length)];
    const before = text.slice(0, offset).trimEnd().length - 1;
    if (/^[\]}]/.test(found) && text.charAt(before) === ',') {
      stop(before, `unexpected comma before the closing "${found}"`);
    }
    // The parser reads `01`, `0x1F` and `2026-11-22` as several words.
    if (number.end === offset && WORD.test(found))
      stop(number.offset, badNumber(wordAt(text, number.offset)));
    if (name === 'UnexpectedEndOfString') stop(offset, unclosed(found.slice(1), rest));
    const isWord = name === 'InvalidSymbol' && next.startsWith(VALUE);
    const cut = isWord && cutWord(found, rest);
    if (cut) stop(offset, `expected ${cut}; found ${AT_END}`);
    const word = isWord ? wordAt(text, offset) || found : found;
    // The text has the next item but no comma before it.
    const isItem = /^["{[\w-]/.test(found) && next.endsWith('","');
    if (isItem) stop(offset, `expected "," before ${named(word)}`);
    const usual = isWord ? insteadOf(word) : next;
    const expected = CURLY.test(found) ? usual.replace('double', 'straight double') : usual;
    const end = length === 0 ? AT_END : named(word);
    stop(offset, `${WITHIN[name] ?? `expected ${expected}`}; found ${end}`);
  };
  const onBegin = { onObjectBegin: enter, onArrayBegin: enter };
  const onEnd = { onObjectEnd: leave, onArrayEnd: leave };
  const within = { onObjectProperty: () => void (next = '":"'), onSeparator, onLiteralValue };
  try {
    visit(text, { ...onBegin, ...onEnd, ...within, onError }, { disallowComments: true });
  } catch (error) {
    if (error !== STOP) throw error;
  }
  return fault;
}

/** Returns untrusted text as a fault quotes it: escaped and cut. */
export const quote = (text: string): string =>
  printable(text, LIMITS.quoteLengthMax).replaceAll('\u00a0', String.raw`\u00a0`);

/** Returns a token as a sentence names it: `"{"`, `the word no`; quotes that it has are its own. */
const named = (token: string): string =>
  /^[{}[\]:;,=]$/.test(token)
    ? `"${token}"`
    : `${/^[a-z]\w*$/i.test(token) ? 'the word ' : ''}${quote(token)}`;

export function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
