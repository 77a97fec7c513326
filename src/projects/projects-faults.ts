import type { Node } from 'jsonc-parser';
import type { BaseIssue } from 'valibot';
import { type Fault, quote, type Source } from '../base/json.ts';
import { nearest } from '../base/text.ts';
import { KEYS } from './projects-schema.ts';

// Faults of the projects file, each at its place in the text, with what was expected and found.

/** Returns what no schema reports one by one: unknown and repeated keys, and repeated ids. */
export function keyFaults(root: Node): Fault[] {
  const projects = itemsOf(child(root, 'projects'));
  return [
    ...objectFaults(root, '', KEYS.file),
    ...projects.flatMap((node, i) => objectFaults(node, `projects[${i}]: `, KEYS.project)),
    ...idFaults(projects),
  ];
}

function objectFaults(object: Node, where: string, known: readonly string[]): Fault[] {
  const seen = new Set<string>();
  return propertiesOf(object).flatMap(({ key, offset }) => {
    const name = `"${quote(key)}"`;
    if (seen.has(key)) return { offset, message: `${where}the key ${name} is given twice` };
    seen.add(key);
    if (known.includes(key)) return [];
    const near = nearest(key, known);
    const hint = near === undefined ? `known are ${known.join(', ')}` : `did you mean "${near}"?`;
    return { offset, message: `${where}unknown key ${name}; ${hint}` };
  });
}

function idFaults(projects: readonly Node[]): Fault[] {
  const first = new Map<string, number>();
  return projects.flatMap((project, index) => {
    const node = child(project, 'id');
    if (node?.type !== 'string') return [];
    const id = node.value as string;
    const earlier = first.get(id);
    if (earlier === undefined) {
      first.set(id, index);
      return [];
    }
    const what = `must be unique; found "${quote(id)}", the id of projects[${earlier}] too`;
    return { offset: node.offset, message: `projects[${index}].id ${what}` };
  });
}

/** Returns what the schema found, each at its place, except unknown keys: see `keyFaults`. */
export function schemaFaults(
  source: Source,
  root: Node,
  issues: readonly BaseIssue<unknown>[],
): Fault[] {
  return issues.flatMap(({ type, expected, path: items = [], message }) => {
    if (type === 'strict_object' && expected === 'never') return [];
    const path = items.map((item) => item.key as string | number);
    const parent = nodeAt(root, path.slice(0, -1)) ?? root;
    // To valibot, a list in the place of an object is an object without its keys.
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

/** `projects[2].origins[0]` */
function pathText(path: readonly (string | number)[]): string {
  const text = path.map((key) => (typeof key === 'number' ? `[${key}]` : `.${key}`)).join('');
  return text === '' ? 'the file' : text.replace(/^\./, '');
}

const itemsOf = (node: Node | undefined): readonly Node[] =>
  node?.type === 'array' ? (node.children ?? []) : [];

interface Property {
  readonly key: string;
  readonly offset: number;
  readonly value: Node | undefined;
}

function propertiesOf(node: Node | undefined): Property[] {
  if (node?.type !== 'object') return [];
  return (node.children ?? []).map(({ children: [key, value] = [], offset }) => ({
    key: key!.value as string,
    offset,
    value,
  }));
}

/** Returns the value of a key: if it is repeated the last, as in `JSON.parse`. */
const child = (node: Node | undefined, key: string): Node | undefined =>
  propertiesOf(node).findLast((property) => property.key === key)?.value;

const nodeAt = (root: Node, path: readonly (string | number)[]): Node | undefined =>
  path.reduce<Node | undefined>(
    (node, key) => (typeof key === 'number' ? itemsOf(node)[key] : child(node, key)),
    root,
  );
