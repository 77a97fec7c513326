import { isUtf8 } from 'node:buffer';
import { parseTree } from 'jsonc-parser';
import * as v from 'valibot';
import { plural } from '../base/format.ts';
import { type Fault, type Place, placesIn, syntaxFaults } from '../base/json.ts';
import { keyFaults, schemaFaults } from './projects-faults.ts';
import { projectsFile, type ProjectsFile } from './projects-schema.ts';

/** A file without faults, and its text, which follows `bom`. */
export interface Sound {
  readonly file: ProjectsFile;
  readonly bom: string;
  readonly text: string;
}

/** The faults of a file that cannot be used. */
export interface Faulty {
  /** One line per fault, each with the file's name and the place in it. */
  readonly faults: readonly string[];
  /** The place of the first fault; `undefined` if the file could not be read. */
  readonly place?: Place;
  /** The project ids in the text, as far as they can be recognised. */
  readonly ids: ReadonlySet<string>;
}

export const FAULTS_MAX = 50;

const BOM = '\ufeff';
const ID = /"id"\s*:\s*"([0-9]{1,20})"/g;

/**
 * Reads the text of a projects file: strict JSON in UTF-8; a byte order mark is ignored.
 * @param name the file's name for the faults.
 */
export function parseProjectsFile(bytes: Uint8Array, name: string): Sound | Faulty {
  const decoded = new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes);
  const bom = decoded.startsWith(BOM) ? BOM : '';
  const text = decoded.slice(bom.length);
  const result = isUtf8(bytes) ? check(text) : notUtf8(text);
  if (!Array.isArray(result)) return { file: result, bom, text };
  const shown = result.slice(0, FAULTS_MAX);
  const placeOf = placesIn(text);
  const faults = shown.map(({ offset, message }) => {
    const { line, column } = placeOf(offset);
    return `${name}:${line}:${column}: ${message}`;
  });
  const more = result.length - shown.length;
  if (more > 0) faults.push(`${name}: and ${plural(more, 'more fault')}`);
  const ids = new Set(Array.from(text.matchAll(ID), ([, id]) => id!));
  return { faults, place: placeOf(shown[0]!.offset), ids };
}

function check(text: string): ProjectsFile | Fault[] {
  const syntax = syntaxFaults(text);
  if (syntax.length > 0) return syntax;
  const root = parseTree(text)!;
  const result = v.safeParse(projectsFile, JSON.parse(text), { abortPipeEarly: true });
  const faults = [...keyFaults(root), ...schemaFaults(root, result.issues ?? [])];
  if (result.success && faults.length === 0) return result.output;
  return faults.sort((a, b) => a.offset - b.offset);
}

/** Bytes that are not UTF-8 decode to U+FFFD. */
const notUtf8 = (text: string): Fault[] => [
  { offset: text.indexOf('\ufffd'), message: 'not UTF-8; save the file in that encoding' },
];
