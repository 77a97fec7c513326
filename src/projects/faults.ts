import { type Node, type ParseError, parseTree, printParseErrorCode } from 'jsonc-parser';
import type { BaseIssue } from 'valibot';
import { nearest, printable } from '../text.ts';
import { KEYS } from './schema.ts';

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
export function parseJson(text: string): { root: Node } | { faults: Fault[] } {
  const errors: ParseError[] = [];
  const root = parseTree(text, errors, { disallowComments: true, allowTrailingComma: false });
  const faults: Fault[] = [];
  let line = 0;
  for (const error of errors) {
    const fault = syntaxFault(text, error);
    const faultLine = locate(text, fault.offset).line;
    if (faultLine !== line) faults.push(fault);
    line = faultLine;
  }
  if (faults.length > 0 || root === undefined) return { faults };
  return { root };
}

function syntaxFault(text: string, { error, offset, length }: ParseError): Fault {
  const comma = /,\s*$/.exec(text.slice(0, offset));
  if (comma !== null && /[\]}]/.test(text.charAt(offset))) {
    const message = `expected no comma before the closing "${text.charAt(offset)}"`;
    return { offset: comma.index, message };
  }
  const expected = SYNTAX[printParseErrorCode(error)] ?? 'is not JSON';
  const found = length === 0 ? 'the end of the file' : quote(text.slice(offset, offset + length));
  return { offset, message: `${expected}; found ${found}` };
}

/** Unknown keys, keys given twice, and ids given twice: what no schema reports one by one. */
export function keyFaults(text: string, root: Node): Fault[] {
  const projects = itemsOf(child(root, 'projects'));
  return [
    ...objectFaults(text, root, '', KEYS.file),
    ...projects.flatMap((node, i) => objectFaults(text, node, `projects[${i}]`, KEYS.project)),
    ...idFaults(text, projects),
  ];
}

function objectFaults(
  text: string,
  object: Node,
  path: string,
  known: readonly string[],
): Fault[] {
  const first = new Map<string, Node>();
  const where = path === '' ? '' : `${path}: `;
  return propertiesOf(object).flatMap(({ key, node }) => {
    const name = `"${printable(key, QUOTE_LENGTH_MAX)}"`;
    const earlier = first.get(key);
    if (earlier === undefined) first.set(key, node);
    if (earlier !== undefined) {
      const { line } = locate(text, earlier.offset);
      return { offset: node.offset, message: `${where}the key ${name} is on line ${line} already` };
    }
    if (known.includes(key)) return [];
    const near = nearest(key, known);
    const hint = near === undefined ? `known are ${known.join(', ')}` : `did you mean "${near}"?`;
    return { offset: node.offset, message: `${where}unknown key ${name}; ${hint}` };
  });
}

function idFaults(text: string, projects: readonly Node[]): Fault[] {
  const first = new Map<string, number>();
  return projects.flatMap((project, i) => {
    const node = child(project, 'id');
    if (node?.type !== 'string') return [];
    const id = node.value as string;
    const earlier = first.get(id);
    if (earlier === undefined) first.set(id, i);
    if (earlier === undefined) return [];
    const { line } = locate(text, child(projects[earlier], 'id')!.offset);
    const message = `must be unique; found ${found(node, text)}, the id of projects[${earlier}]`;
    return { offset: node.offset, message: `projects[${i}].id ${message} on line ${line}` };
  });
}

/** What the schema found, each at its place. Unknown keys are left to `keyFaults`. */
export function schemaFaults(
  text: string,
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
    const what = node === undefined ? message : `${message}; found ${found(node, text)}`;
    return { offset: (node ?? parent).offset, message: `${pathText(path)} ${what}` };
  });
}

function found(node: Node, text: string): string {
  const source = quote(text.slice(node.offset, node.offset + node.length));
  if (node.type === 'number') return `the number ${source}`;
  if (node.type === 'array') return node.children?.length === 0 ? 'an empty list' : 'a list';
  return node.type === 'object' ? 'an object' : source;
}

const quote = (source: string): string => printable(source, QUOTE_LENGTH_MAX);

/** `projects[2].origins[0]` */
function pathText(path: readonly (string | number)[]): string {
  if (path.length === 0) return 'the file';
  return path
    .map((key, i) => (typeof key === 'number' ? `[${key}]` : `${i === 0 ? '' : '.'}${key}`))
    .join('');
}

/** The items of an array; none where `node` is something else. */
export function itemsOf(node: Node | undefined): readonly Node[] {
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
export function child(node: Node | undefined, key: string): Node | undefined {
  if (node === undefined) return undefined;
  return propertiesOf(node).findLast((property) => property.key === key)?.value;
}

function nodeAt(root: Node, path: readonly (string | number)[]): Node | undefined {
  return path.reduce<Node | undefined>(
    (node, key) => (typeof key === 'number' ? itemsOf(node)[key] : child(node, key)),
    root,
  );
}

/** Line and column as editors count them, from 1, columns in UTF-16 units. */
export function locate(text: string, offset: number): { line: number; column: number } {
  const lines = text.slice(0, offset).split(/\r\n|\r|\n/);
  return { line: lines.length, column: lines.at(-1)!.length + 1 };
}
