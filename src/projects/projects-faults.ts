import type { Node } from 'jsonc-parser';
import type { BaseIssue } from 'valibot';
import { type Fault, quote, type Source } from '../base/json.ts';
import { nearest } from '../base/text.ts';
import { KEYS } from './projects-schema.ts';

// Faults of the projects file, each at its place in the text, with what was expected and found.

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
