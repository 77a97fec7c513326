import { isUtf8 } from 'node:buffer';
import { findNodeAtLocation, getNodeValue, type Node, parseTree } from 'jsonc-parser';
import * as v from 'valibot';
import { plural } from '../base/format.ts';
import { type Fault, lineAndColumn, quote, syntaxFault } from '../base/json.ts';
import { nearest } from '../base/text.ts';
import { isList, KEYS, projectsFile, type ProjectsFile } from './projects-schema.ts';

// Reads the projects file's text and reports each fault with its place, what was expected and what
// was found.

/**
 * A file without faults, or the faults of a file that can't be used. Each fault is one line of text
 * that names the file and the place. `line` is the file's line with the first fault, split there.
 */
export type Parsed =
  | { readonly file: ProjectsFile }
  | { readonly faults: readonly string[]; readonly line?: readonly [string, string] };

export const FAULTS_MAX = 50;
const LINE_END = /\r\n|\r|\n/;

/**
 * Reads the text of a projects file: strict JSON in UTF-8; a byte order mark is ignored.
 * @param name the file's name for the faults.
 */
export function parseProjectsFile(bytes: Uint8Array, name: string): Parsed {
  const text = new TextDecoder().decode(bytes);
  const result = isUtf8(bytes) ? check(text) : [notUtf8(text)];
  if (!Array.isArray(result)) return { file: result };
  const faults = result.slice(0, FAULTS_MAX).map(({ offset, message }) => {
    const { line, column } = lineAndColumn(text, offset);
    return `${name}:${line}:${column}: ${message}`;
  });
  const more = result.length - faults.length;
  const { offset } = result[0]!;
  return {
    faults: more > 0 ? [...faults, `${name}: and ${plural(more, 'more fault')}`] : faults,
    line: [
      text.slice(0, offset).split(LINE_END).at(-1)!,
      text.slice(offset).split(LINE_END, 1)[0]!,
    ],
  };
}

/** Bytes that aren't UTF-8 decode to U+FFFD. */
const notUtf8 = (text: string): Fault => ({
  offset: text.indexOf('\ufffd'),
  message: 'expected UTF-8; save the file as UTF-8',
});

function check(text: string): ProjectsFile | Fault[] {
  const syntax = syntaxFault(text);
  if (syntax !== undefined) return [syntax];
  const root = parseTree(text)!;
  const list = findNodeAtLocation(root, ['projects']);
  const projects = list?.type === 'array' ? list.children! : [];
  const result = v.safeParse(projectsFile, JSON.parse(text), { abortPipeEarly: true });
  const faults = [
    ...keyFaults(root, '', KEYS.file),
    ...projects.flatMap((node, i) => keyFaults(node, `projects[${i}]: `, KEYS.project)),
    ...idFaults(projects),
    ...(result.issues ?? []).flatMap((issue) => schemaFault(root, issue)),
  ];
  if (result.success && faults.length === 0) return result.output;
  return faults.sort((a, b) => a.offset - b.offset);
}

/**
 * Finds unknown and repeated keys: valibot reports only the first unknown key and no repeated one.
 */
function keyFaults({ type, children = [] }: Node, where: string, known: readonly string[]) {
  const seen = new Set<string>();
  return (type === 'object' ? children : []).flatMap((property): Fault[] => {
    const { offset } = property;
    const key = property.children![0]!.value as string;
    const name = `"${quote(key)}"`;
    if (seen.has(key)) return [{ offset, message: `${where}the key ${name} occurs twice` }];
    seen.add(key);
    if (known.includes(key)) return [];
    const near = nearest(key, known);
    const hint =
      near === undefined ? `; known keys: ${known.join(', ')}` : ` (did you mean "${near}"?)`;
    return [{ offset, message: `${where}unknown key ${name}${hint}` }];
  });
}

function idFaults(projects: readonly Node[]): Fault[] {
  const ids = projects.map((project) => findNodeAtLocation(project, ['id']));
  const firstOf = new Map(ids.map((node, i) => [node?.value, i] as const).toReversed());
  return ids.flatMap((node, i): Fault[] => {
    const first = firstOf.get(node?.value);
    if (node?.type !== 'string' || first === i) return [];
    const found = `found "${quote(node.value)}", also the id of projects[${first}]`;
    return [{ offset: node.offset, message: `projects[${i}].id must be unique; ${found}` }];
  });
}

/** Returns a fault that the schema found, unless `keyFaults` finds it too. */
function schemaFault(root: Node, issue: v.BaseIssue<unknown>): Fault[] {
  if (issue.type === 'strict_object' && issue.expected === 'never') return [];
  // valibot treats a list as an object without its required key; `objectMessage` doesn't.
  const steps = (issue.path ?? []).filter(({ input, key }) => !isList(input, key));
  const path = steps.map(({ key }) => key as string | number);
  const parent = findNodeAtLocation(root, path.slice(0, -1)) ?? root;
  const node = findNodeAtLocation(root, path);
  const end = node === undefined ? '' : `; found ${quote(JSON.stringify(getNodeValue(node)))}`;
  return [{ offset: (node ?? parent).offset, message: `${name(path)} ${issue.message}${end}` }];
}

/** `projects[2].origins[0]` */
function name(path: readonly (string | number)[]): string {
  const text = path.map((key) => (typeof key === 'number' ? `[${key}]` : `.${key}`)).join('');
  return text === '' ? 'the file' : text.replace(/^\./, '');
}
