import { plural } from '../base/format.ts';
import * as v from 'valibot';
import { reasonOf } from '../base/exit.ts';
import { type Fault, parseJson, Source } from '../base/json.ts';
import { keyFaults, schemaFaults } from './projects-faults.ts';
import { projectsFile, type ProjectsFile } from './projects-schema.ts';

/** A sound projects file, and its text, which follows `bom`. */
export interface Sound {
  readonly file: ProjectsFile;
  readonly bom: string;
  readonly text: string;
}

/** One line a fault, each naming the file and the place in it. */
export interface Faulty {
  readonly faults: readonly string[];
}

export const FAULTS_MAX = 50;

const BOM = '\ufeff';

/**
 * Reads the text of a projects file: strict JSON in UTF-8, a byte order mark ignored.
 * @param name the file, as faults name it.
 */
export function parseProjectsFile(bytes: Uint8Array, name: string): Sound | Faulty {
  const decoded = decode(bytes);
  if (typeof decoded !== 'string') {
    return { faults: [`${name}:${decoded.line}: not UTF-8; save the file in that encoding`] };
  }
  const bom = decoded.startsWith(BOM) ? BOM : '';
  const text = decoded.slice(bom.length);
  const source = new Source(text);
  const { file, faults } = parseSource(source);
  if (file !== undefined) return { file, bom, text };
  const shown = faults.slice(0, FAULTS_MAX).map(({ offset, message }) => {
    const { line, column } = source.place(offset);
    return `${name}:${line}:${column}: ${message}`;
  });
  const more = faults.length - shown.length;
  if (more > 0) shown.push(`${name}: and ${plural(more, 'more fault')}`);
  return { faults: shown };
}

function parseSource(source: Source): { file?: ProjectsFile; faults: Fault[] } {
  try {
    const parsed = parseJson(source);
    if ('faults' in parsed) return parsed;
    const result = v.safeParse(projectsFile, JSON.parse(source.text), { abortPipeEarly: true });
    const faults = [
      ...keyFaults(source, parsed.root),
      ...schemaFaults(source, parsed.root, result.issues ?? []),
    ];
    if (faults.length === 0 && result.success) return { file: result.output, faults };
    return { faults: faults.sort((a, b) => a.offset - b.offset) };
  } catch (error) {
    // A hundred thousand brackets exhaust the parser's stack; the file is no less faulty for it.
    return { faults: [{ offset: 0, message: `cannot be parsed: ${reasonOf(error)}` }] };
  }
}

/** The text with its byte order mark, or the first line that is not UTF-8. */
function decode(bytes: Uint8Array): string | { line: number } {
  const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
  const decodes = (part: Uint8Array): boolean => {
    try {
      decoder.decode(part);
      return true;
    } catch {
      return false;
    }
  };
  if (decodes(bytes)) return decoder.decode(bytes);
  // A newline byte is never part of another character, so lines can be checked one by one.
  let line = 1;
  let start = 0;
  for (let end = bytes.indexOf(0x0a); end >= 0; end = bytes.indexOf(0x0a, start)) {
    if (!decodes(bytes.subarray(start, end))) break;
    start = end + 1;
    line++;
  }
  return { line };
}
