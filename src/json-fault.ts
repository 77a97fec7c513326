import { parse, type ParseError, printParseErrorCode } from 'jsonc-parser';

/** Where JSON text goes wrong, and how. Line and column count from 1, columns in UTF-16 units. */
export interface JsonFault {
  readonly line: number;
  readonly column: number;
  readonly message: string;
}

// jsonc-parser's names for what it finds, in words. What is not listed cannot occur in strict JSON.
const MESSAGES: Record<string, string> = {
  InvalidSymbol: 'this is not a JSON value',
  InvalidNumberFormat: 'this is not a JSON number',
  PropertyNameExpected: 'a property name in double quotes is expected',
  ValueExpected: 'a value is expected',
  ColonExpected: 'a colon is expected',
  CommaExpected: 'a comma is expected',
  CloseBraceExpected: 'a closing brace is expected',
  CloseBracketExpected: 'a closing bracket is expected',
  EndOfFileExpected: 'nothing may follow the JSON value',
  InvalidCommentToken: 'JSON has no comments',
  UnexpectedEndOfComment: 'JSON has no comments',
  UnexpectedEndOfString: 'the string does not end',
  UnexpectedEndOfNumber: 'the number is not complete',
  InvalidUnicode: 'the \\u escape is not complete',
  InvalidEscapeCharacter: 'this escape is not known',
  InvalidCharacter: 'a control character must be escaped',
};

/**
 * The first fault of text that `JSON.parse` refuses. Runtimes word and place it differently, some
 * give no place at all; this says the same on each of them. `undefined` where no place is found.
 */
export function findJsonFault(text: string): JsonFault | undefined {
  const errors: ParseError[] = [];
  try {
    parse(text, errors, { disallowComments: true, allowTrailingComma: false });
  } catch {
    return undefined; // nested too deep for a recursive parser
  }
  const [first] = errors;
  if (first === undefined) return undefined;
  const before = text.slice(0, first.offset);
  const lineStart = Math.max(before.lastIndexOf('\n'), before.lastIndexOf('\r')) + 1;
  const name = printParseErrorCode(first.error);
  return {
    line: before.split(/\r\n|\n|\r/).length,
    column: first.offset - lineStart + 1,
    message: MESSAGES[name] ?? name,
  };
}
