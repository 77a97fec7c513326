import { isDeepStrictEqual } from 'node:util';
import {
  applyEdits,
  type Edit,
  findNodeAtLocation,
  getNodeValue,
  type Node,
  parseTree,
} from 'jsonc-parser';
import type { ProjectsFile } from './projects-schema.ts';

// Edits of the projects file's text that leave all other bytes unchanged and format additions
// like their neighbours. The `modify` of jsonc-parser would reformat the neighbours. Its
// `parseTree` skips a byte order mark.

/**
 * Returns the text with the values of `file`: changed ones in their places, new keys at the end of
 * their object, and at most one new project at the end of the list.
 */
export const rewritten = (text: string, file: ProjectsFile): string =>
  applyEdits(text, [...editsOf(text, parseTree(text)!, file)]);

function* editsOf(text: string, container: Node, values: object): Generator<Edit> {
  const isList = Array.isArray(values);
  for (const [key, value] of Object.entries(values)) {
    const old = findNodeAtLocation(container, [isList ? Number(key) : key]);
    if (old === undefined) yield additionTo(text, container, key, value);
    else if (isList || key === 'projects') yield* editsOf(text, old, value);
    else if (!isDeepStrictEqual(getNodeValue(old), value)) {
      yield { offset: old.offset, length: old.length, content: spelt(text, value, old) };
    }
  }
}

/** Adds a key at the end of an object or a project at the end of the list. */
function additionTo(text: string, container: Node, key: string, value: object): Edit {
  const last = container.children!.at(-1);
  if (last === undefined) return firstProject(text, container, value);
  const offset = last.offset + last.length;
  const { gap } = layoutOf(text, container);
  if (container.type === 'object') {
    return { offset, length: 0, content: `,${gap}${member(text, key, value)}` };
  }
  const members = Object.entries(value).map(([name, part]) => member(text, name, part));
  return { offset, length: 0, content: `,${gap}{${laidOut(members, layoutOf(text, last))}}` };
}

/** Adds the first project, on lines of its own if the list's key begins a line. */
function firstProject(text: string, { offset, length, parent }: Node, project: object): Edit {
  const line = /(?:\r\n|\r|\n)([ \t]*)$/.exec(text.slice(0, parent!.offset));
  const list = JSON.stringify([project], null, line ? line[1] || 2 : undefined);
  return { offset, length, content: list.replaceAll('\n', line?.[0] ?? '') };
}

type Layout = ReturnType<typeof layoutOf>;

const laidOut = (items: readonly string[], { open, gap, close }: Layout): string =>
  `${open}${items.join(`,${gap}`)}${close}`;

/** The space after a comma or a colon, in an object or a list on one line. */
const spaceIn = (text: string): string => (/[:,]\s/.test(text) ? ' ' : '');

/**
 * Returns the white space in an object or a list that isn't empty: at its start, before its other
 * items, at its end.
 */
function layoutOf(text: string, { offset, length, children = [] }: Node) {
  const [first, last] = [children[0]!, children.at(-1)!];
  const open = text.slice(offset + 1, first.offset);
  const before = /\s*$/.exec(text.slice(offset + 1, last.offset))![0];
  // ["a"] doesn't show how two items would be separated.
  const gap = before === '' && children.length === 1 ? spaceIn(text) : before;
  return { open, gap, close: text.slice(last.offset + last.length, offset + length - 1) };
}

const member = (text: string, key: string, value: unknown): string =>
  `${JSON.stringify(key)}:${spaceIn(text)}${spelt(text, value)}`;

/** @param old the value that it replaces; a list takes over its layout. */
function spelt(text: string, value: unknown, old?: Node): string {
  if (!Array.isArray(value)) return JSON.stringify(value);
  const items = value.map((item) => JSON.stringify(item));
  const layout = old ? layoutOf(text, old) : { open: '', gap: spaceIn(text), close: '' };
  return `[${laidOut(items, layout)}]`;
}
