import * as v from 'valibot';
import { isUtf8 } from 'node:buffer';
import { endsTooEarly, lineAndColumn, syntaxFault } from '../base/json.ts';
import { KiB, plural } from '../base/format.ts';
import { bytewise } from '../base/text.ts';
import { compileMatcher } from './pattern.ts';
import { type Refusal, refusal } from './refusal.ts';
import { invalidView } from './view-faults.ts';
import { ViewSchema } from './view-schema.ts';

/** A valid view, as it will be stored. */
export interface StorableView {
  /** The view's `p`. */
  readonly project: string;
  /**
   * The view's fields as JSON text on one line, in UTF-8 and in the schema's order. Lone surrogates
   * are replaced with U+FFFD, because UTF-8 can't encode them. U+2028 and U+2029 are escaped,
   * because some readers treat them as line ends.
   */
  readonly fields: Uint8Array;
}

/** Longer views are rare, and Bun's regular expressions take milliseconds for some of them. */
const PATTERN_BYTES_MAX = 4 * KiB;

const projectOf = compileMatcher(ViewSchema, 'p');
// The first fault is enough here: `invalidView` finds them all.
const safeParse = v.safeParser(ViewSchema, { abortEarly: true });

/**
 * Reads the view in a text, in time linear in its length.
 * @returns the view, or a refusal: `malformed-json` with the place of the fault, or `invalid-view`
 *   with every fault.
 */
export const readView = (text: string): StorableView | Refusal =>
  readByPattern(Buffer.from(text)) ?? parseView(text);

/**
 * Reads a request's body without parsing it, if the body is spelt exactly like the stored line. The
 * body's own bytes are then stored: decoding and encoding them would slow viewlog down by 5% on
 * Node.
 * @returns `undefined` if only parsing can show whether the body is valid.
 */
export function readByPattern(body: Uint8Array): StorableView | undefined {
  if (body.length > PATTERN_BYTES_MAX) return undefined;
  const project = projectOf(bytewise(body));
  return project !== undefined && isUtf8(body) ? { project, fields: body } : undefined;
}

/** Parses and validates a body. A long body with thousands of faults takes milliseconds. */
export function parseView(text: string): StorableView | Refusal {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return refusal('malformed-json', whereNotJson(text));
  }
  const { success, output } = safeParse(value);
  if (!success) return invalidView(value);
  return { project: output.p, fields: Buffer.from(storedText(output)) };
}

/** Matches the whole escape of a lone surrogate and the first two characters of other escapes. */
const ESCAPE = /\\(?:ud[89a-f]..|.)/g;

/** Returns a value as JSON text, without the characters that no stored line may contain. */
function storedText(value: unknown): string {
  const text = JSON.stringify(value);
  const wellFormed = text.includes('\\ud')
    ? text.replace(ESCAPE, (escape) => (escape.length > 2 ? '\ufffd' : escape))
    : text;
  return wellFormed.replaceAll('\u2028', '\\u2028').replaceAll('\u2029', '\\u2029');
}

function whereNotJson(text: string): string {
  if (text.trim() === '') return 'The body is empty; send one JSON object.';
  if (/^\s*\[object \w+\]\s*$/.test(text)) {
    return `The body is "${text.trim()}", not the object's JSON. Send JSON.stringify(view).`;
  }
  const fault = syntaxFault(text);
  if (fault === undefined) return "The body isn't JSON; send one JSON object.";
  const { line, column } = lineAndColumn(text, fault.offset);
  const place = `Line ${line}, column ${column}: ${fault.message}.`;
  if (!isCutOff(text)) return place;
  const bytes = plural(Buffer.byteLength(text), 'byte');
  return `${place} The body ends after ${bytes}, without the object's closing brace; a proxy may have cut it off.`;
}

/** Returns whether a text that isn't JSON is the beginning of an object, without its end. */
export const isCutOff = (text: string): boolean =>
  text.trimStart().startsWith('{') &&
  !text.trimEnd().endsWith('}') &&
  endsTooEarly(syntaxFault(text)?.message ?? '');
