import { findNodeAtLocation, getNodeValue, type Node } from 'jsonc-parser';
import type { BaseIssue } from 'valibot';
import { type Fault, quote } from '../base/json.ts';
import { nearest } from '../base/text.ts';
import { KEYS } from './projects-schema.ts';

// Faults of the projects file, each at its place in the text, with what was expected and found.

/** Returns unknown and repeated keys, and repeated ids, which a schema does not report one by one. */
export function keyFaults(root: Node): Fault[] {
  const list = findNodeAtLocation(root, ['projects']);
  const projects = list?.type === 'array' ? (list.children ?? []) : [];
  return [
    ...objectFaults(root, '', KEYS.file),
    ...projects.flatMap((node, i) => objectFaults(node, `projects[${i}]: `, KEYS.project)),
    ...idFaults(projects),
  ];
}

function objectFaults(object: Node, where: string, known: readonly string[]): Fault[] {
  if (object.type !== 'object') return [];
  const seen = new Set<string>();
  return (object.children ?? []).flatMap(({ children, offset }) => {
    const key = children![0]!.value as string;
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
    const node = findNodeAtLocation(project, ['id']);
    if (node?.type !== 'string') return [];
    const id = getNodeValue(node) as string;
    const earlier = first.get(id);
    if (earlier === undefined) first.set(id, index);
    if (earlier === undefined) return [];
    const what = `must be unique; found "${quote(id)}", the id of projects[${earlier}] too`;
    return { offset: node.offset, message: `projects[${index}].id ${what}` };
  });
}

/** Returns the schema's faults, each at its place, except unknown keys: see `keyFaults`. */
export function schemaFaults(root: Node, issues: readonly BaseIssue<unknown>[]): Fault[] {
  return issues.flatMap(({ type, expected, path: items = [], message }) => {
    if (type === 'strict_object' && expected === 'never') return [];
    const path = items.map((item) => item.key as string | number);
    const parent = findNodeAtLocation(root, path.slice(0, -1)) ?? root;
    // To valibot, a list instead of an object is an object without keys.
    if (typeof path.at(-1) === 'string' && parent.type === 'array') path.pop();
    const node = findNodeAtLocation(root, path);
    const what = node === undefined ? message : `${message}; found ${found(node)}`;
    return { offset: (node ?? parent).offset, message: `${pathText(path)} ${what}` };
  });
}

function found({ type, value, children = [] }: Node): string {
  if (type === 'object') return 'an object';
  if (type === 'array') return children.length === 0 ? 'an empty list' : 'a list';
  return type === 'number' ? `the number ${value}` : quote(JSON.stringify(value));
}

/** `projects[2].origins[0]` */
function pathText(path: readonly (string | number)[]): string {
  const text = path.map((key) => (typeof key === 'number' ? `[${key}]` : `.${key}`)).join('');
  return text === '' ? 'the file' : text.replace(/^\./, '');
}
