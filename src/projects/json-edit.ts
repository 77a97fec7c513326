import { findNodeAtLocation, type JSONPath, type Node, parseTree } from 'jsonc-parser';

// Edits of a JSON text that leave every other byte as it is, and format additions like their
// neighbours. jsonc-parser's own `modify` would reformat the neighbours.

/** Sets the value at `path`, which must be in an existing object; a new key goes last. */
export function setValue(text: string, path: JSONPath, value: unknown): string {
  const node = nodeAt(text, path);
  if (node !== undefined) {
    const list = Array.isArray(value) && node.type === 'array' ? layoutOf(text, node) : undefined;
    return replace(text, node, spelt(text, value, list));
  }
  const key = String(path.at(-1));
  return append(text, nodeAt(text, path.slice(0, -1))!, member(text, key, value));
}

/** Adds an object at the end of the list of objects at `path`. */
export function addObject(text: string, path: JSONPath, object: object): string {
  const list = nodeAt(text, path)!;
  const members = Object.entries(object).map(([key, value]) => member(text, key, value));
  const model = list.children?.at(-1);
  if (model !== undefined) {
    return append(text, list, `{${laidOut(members, layoutOf(text, model))}}`);
  }
  // The first object has lines of its own if the list's key has one.
  const indent = /[\r\n]([ \t]*)$/.exec(text.slice(0, list.parent!.offset))?.[1];
  if (indent === undefined) return replace(text, list, `[{${laidOut(members, inline(text))}}]`);
  const line = (depth: number): string =>
    `${/\r\n|\r|\n/.exec(text)![0]}${indent}${(indent || '  ').repeat(depth)}`;
  const added = laidOut(members, { open: line(2), gap: line(2), close: line(1) });
  return replace(text, list, `[${line(1)}{${added}}${line(0)}]`);
}

/** The white space in an object or a list: at its start, before its other items, at its end. */
interface Layout {
  readonly open: string;
  readonly gap: string;
  readonly close: string;
}

const laidOut = (items: readonly string[], { open, gap, close }: Layout): string =>
  `${open}${items.join(`,${gap}`)}${close}`;

const inline = (text: string): Layout => ({ open: '', gap: isCompact(text) ? '' : ' ', close: '' });

const isCompact = (text: string): boolean => !/[:,]\s/.test(text);

function layoutOf(text: string, { offset, length, children = [] }: Node): Layout {
  const [first, last] = [children[0], children.at(-1)];
  if (first === undefined || last === undefined) return inline(text);
  const open = text.slice(offset + 1, first.offset);
  const before = /\s*$/.exec(text.slice(offset + 1, last.offset))![0];
  // ["a"] does not show how two items would be separated.
  const gap = before === '' && children.length === 1 ? inline(text).gap : before;
  return { open, gap, close: text.slice(last.offset + last.length, offset + length - 1) };
}

const member = (text: string, key: string, value: unknown): string =>
  `${JSON.stringify(key)}:${isCompact(text) ? '' : ' '}${spelt(text, value)}`;

function spelt(text: string, value: unknown, list = inline(text)): string {
  if (!Array.isArray(value)) return JSON.stringify(value);
  const items = value.map((item) => JSON.stringify(item));
  return `[${laidOut(items, list)}]`;
}

/** Adds text at the end of an object or a list. */
function append(text: string, container: Node, addition: string): string {
  const last = container.children?.at(-1);
  if (last === undefined) return insert(text, container.offset + 1, 0, addition);
  const { gap } = layoutOf(text, container);
  return insert(text, last.offset + last.length, 0, `,${gap}${addition}`);
}

function nodeAt(text: string, path: JSONPath): Node | undefined {
  const root = parseTree(text);
  return root && findNodeAtLocation(root, path);
}

const replace = (text: string, { offset, length }: Node, addition: string): string =>
  insert(text, offset, length, addition);

const insert = (text: string, offset: number, removed: number, addition: string): string =>
  text.slice(0, offset) + addition + text.slice(offset + removed);
