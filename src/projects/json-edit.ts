import { type Node, findNodeAtLocation, type JSONPath, parseTree } from 'jsonc-parser';

// Edits of a JSON text that leave every other byte as it is, and format additions like their
// neighbours. jsonc-parser's own `modify` would reformat the neighbours.

/** Sets the value at `path`, whose parent is an object; a new key goes last. */
export function setValue(text: string, path: JSONPath, value: unknown): string {
  const node = nodeAt(text, path);
  if (node !== undefined) return replace(text, node.offset, node.length, inline(text, value));
  const object = nodeAt(text, path.slice(0, -1))!;
  const colon = isCompact(text) ? ':' : ': ';
  return append(text, object, `${JSON.stringify(path.at(-1))}${colon}${inline(text, value)}`);
}

/** Adds an item at the end of the list at `path`. */
export function addItem(text: string, path: JSONPath, item: string): string {
  return append(text, nodeAt(text, path)!, JSON.stringify(item));
}

/** Removes the item at `path` of a list, with its comma and the white space on that side. */
export function removeItem(text: string, path: JSONPath): string {
  const list = nodeAt(text, path.slice(0, -1))!.children!;
  const index = Number(path.at(-1));
  const { offset, length } = list[index]!;
  const [previous, next] = [list[index - 1], list[index + 1]];
  const start = previous === undefined ? offset : previous.offset + previous.length;
  const end = previous === undefined && next !== undefined ? next.offset : offset + length;
  return replace(text, start, end - start, '');
}

/** Adds an object at the end of the list of objects at `path`. */
export function addObject(text: string, path: JSONPath, object: Record<string, unknown>): string {
  const list = nodeAt(text, path)!;
  const colon = isCompact(text) ? ':' : ': ';
  const properties = Object.entries(object).map(
    ([key, value]) => `${JSON.stringify(key)}${colon}${inline(text, value)}`,
  );
  const model = list.children?.at(-1);
  if (model === undefined) return addFirst(text, list, properties);
  const [first, last] = [model.children![0]!, model.children!.at(-1)!];
  const open = text.slice(model.offset + 1, first.offset);
  const close = text.slice(last.offset + last.length, model.offset + model.length - 1);
  return append(text, list, `{${open}${properties.join(`,${gapIn(text, model)}`)}${close}}`);
}

/** Adds the first object of an empty list, on lines of its own if the list's key has its own line. */
function addFirst(text: string, list: Node, properties: readonly string[]): string {
  const key = list.parent!;
  const indent = /[\r\n]([ \t]*)$/.exec(text.slice(0, key.offset))?.[1];
  if (indent === undefined) {
    const object = `{${properties.join(isCompact(text) ? ',' : ', ')}}`;
    return replace(text, list.offset, list.length, `[${object}]`);
  }
  const line = (depth: number) =>
    `${/\r\n|\r|\n/.exec(text)![0]}${indent}${(indent || '  ').repeat(depth)}`;
  const object = `{${line(2)}${properties.join(`,${line(2)}`)}${line(1)}}`;
  return replace(text, list.offset, list.length, `[${line(1)}${object}${line(0)}]`);
}

function append(text: string, container: Node, addition: string): string {
  const last = container.children?.at(-1);
  if (last === undefined) return replace(text, container.offset + 1, 0, addition);
  return replace(text, last.offset + last.length, 0, `,${gapIn(text, container)}${addition}`);
}

/** Returns the white space before the last child of `container`, for one more child. */
function gapIn(text: string, container: Node): string {
  const children = container.children!;
  const last = children.at(-1)!;
  const gap = /\s*$/.exec(text.slice(container.offset + 1, last.offset))![0];
  // ["a"] does not show how two items would be separated.
  return gap === '' && children.length === 1 && !isCompact(text) ? ' ' : gap;
}

/** Returns the value on one line. */
function inline(text: string, value: unknown): string {
  if (!Array.isArray(value)) return JSON.stringify(value);
  return `[${value.map((item) => JSON.stringify(item)).join(isCompact(text) ? ',' : ', ')}]`;
}

const isCompact = (text: string): boolean => !/[:,]\s/.test(text);

function nodeAt(text: string, path: JSONPath): Node | undefined {
  const root = parseTree(text);
  return root && findNodeAtLocation(root, path);
}

function replace(text: string, offset: number, length: number, addition: string): string {
  return text.slice(0, offset) + addition + text.slice(offset + length);
}
