import { type Node, type ParseError, parseTree, printParseErrorCode } from 'jsonc-parser';
import type { BaseIssue } from 'valibot';
import { nearest, printable } from '../text.ts';
import { KEYS } from './schema.ts';
import type { Source } from './source.ts';

// Faults of the projects file, each at its place in the text, with what was expected and found.

/** `offset` counts UTF-16 units from the start of the text. */
export interface Fault {
  readonly offset: number;
  readonly message: string;
}

const QUOTE_LENGTH_MAX = 64;

const SYNTAX: Record<string, string> = {
  InvalidSymbol: 'expected text in double quotes, a number, true, false or null',
  InvalidNumberFormat: 'expected a number',
  PropertyNameExpected: 'expected a key in double quotes',
  ValueExpected: 'expected a value',
  ColonExpected: 'expected ":"',
  CommaExpected: 'expected ","',
  CloseBraceExpected: 'expected "}" or ","',
  CloseBracketExpected: 'expected "]" or ","',
  EndOfFileExpected: 'expected the end of the file',
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
  const options = { disallowComments: true, allowTrailingComma: false };
  const root = parseTree(source.text, errors, options);
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

function syntaxFault(text: string, { error, offset, length }: ParseError): Fault {
  const end = text.charAt(offset);
  const before = lastBefore(text, offset);
  if ((end === ']' || end === '}') && text.charAt(before) === ',') {
    return { offset: before, message: `expected no comma before the closing "${end}"` };
  }
  const expected = SYNTAX[printParseErrorCode(error)] ?? 'is not JSON';
  const found = length === 0 ? 'the end of the file' : quote(text.slice(offset, offset + length));
  return { offset, message: `${expected}; found ${found}` };
}

/** Where the last character before `offset` is that is not white space; -1 where none is. */
function lastBefore(text: string, offset: number): number {
  let at = offset - 1;
  while (at >= 0 && ' \t\r\n'.includes(text.charAt(at))) at--;
  return at;
}

/** Unknown keys, keys given twice, and ids given twice: what no schema reports one by one. */
export function keyFaults(source: Source, root: Node): Fault[] {
  const projects = itemsOf(child(root, 'projects'));
  return [
    ...objectFaults(source, root, '', KEYS.file),
    ...projects.flatMap((node, i) => objectFaults(source, node, `projects[${i}]`, KEYS.project)),
    ...idFaults(source, projects),
  ];
}

function objectFaults(
  source: Source,
  object: Node,
  path: string,
  known: readonly string[],
): Fault[] {
  const first = new Map<string, Node>();
  const where = path === '' ? '' : `${path}: `;
  return propertiesOf(object).flatMap(({ key, node }) => {
    const name = `"${quote(key)}"`;
    const earlier = first.get(key);
    if (earlier !== undefined) {
      const { line } = source.place(earlier.offset);
      return { offset: node.offset, message: `${where}the key ${name} is on line ${line} already` };
    }
    first.set(key, node);
    if (known.includes(key)) return [];
    const near = nearest(key, known);
    const hint = near === undefined ? `known are ${known.join(', ')}` : `did you mean "${near}"?`;
    return { offset: node.offset, message: `${where}unknown key ${name}; ${hint}` };
  });
}

function idFaults(source: Source, projects: readonly Node[]): Fault[] {
  const first = new Map<string, { index: number; offset: number }>();
  return projects.flatMap((project, index) => {
    const node = child(project, 'id');
    if (node?.type !== 'string') return [];
    const { offset } = node;
    const earlier = first.get(node.value);
    if (earlier === undefined) {
      first.set(node.value, { index, offset });
      return [];
    }
    const where = `projects[${earlier.index}] on line ${source.place(earlier.offset).line}`;
    const what = `must be unique; found ${found(node, source)}, the id of ${where}`;
    return { offset, message: `projects[${index}].id ${what}` };
  });
}

/** What the schema found, each at its place. Unknown keys are left to `keyFaults`. */
export function schemaFaults(
  source: Source,
  root: Node,
  issues: readonly BaseIssue<unknown>[],
): Fault[] {
  return issues.flatMap(({ type, expected, path: items = [], message }) => {
    if (type === 'strict_object' && expected === 'never') return [];
    const path = items.map((item) => item.key as string | number);
    const parent = nodeAt(root, path.slice(0, -1)) ?? root;
    // To valibot, a list in an object's place is an object without its keys.
    if (typeof path.at(-1) === 'string' && parent.type === 'array') path.pop();
    const node = nodeAt(root, path);
    const what = node === undefined ? message : `${message}; found ${found(node, source)}`;
    return { offset: (node ?? parent).offset, message: `${pathText(path)} ${what}` };
  });
}

function found(node: Node, { text }: Source): string {
  if (node.type === 'object') return 'an object';
  if (node.type === 'array') return node.children?.length === 0 ? 'an empty list' : 'a list';
  const literal = quote(text.slice(node.offset, node.offset + node.length));
  return node.type === 'number' ? `the number ${literal}` : literal;
}

const quote = (text: string): string => printable(text, QUOTE_LENGTH_MAX);

/** `projects[2].origins[0]` */
function pathText(path: readonly (string | number)[]): string {
  if (path.length === 0) return 'the file';
  return path
    .map((key, i) => (typeof key === 'number' ? `[${key}]` : `${i === 0 ? '' : '.'}${key}`))
    .join('');
}

/** The items of an array; none where `node` is something else. */
function itemsOf(node: Node | undefined): readonly Node[] {
  return node?.type === 'array' ? (node.children ?? []) : [];
}

function propertiesOf(node: Node): { key: string; node: Node; value: Node | undefined }[] {
  if (node.type !== 'object') return [];
  return (node.children ?? []).flatMap((property) => {
    const [key, value] = property.children ?? [];
    return key === undefined ? [] : [{ key: key.value as string, node: key, value }];
  });
}

/** The value of `key` in an object: of a key given twice the last, as `JSON.parse` has it. */
function child(node: Node | undefined, key: string): Node | undefined {
  if (node === undefined) return undefined;
  return propertiesOf(node).findLast((property) => property.key === key)?.value;
}

function nodeAt(root: Node, path: readonly (string | number)[]): Node | undefined {
  return path.reduce<Node | undefined>(
    (node, key) => (typeof key === 'number' ? itemsOf(node)[key] : child(node, key)),
    root,
  );
}
