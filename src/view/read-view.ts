import * as v from 'valibot';
import { bytesOfBytewise, bytewise, isUtf8, textOfBytewise } from '../base/bytes.ts';
import { firstFault, Source } from '../base/json.ts';
import { KiB } from '../base/size.ts';
import { verbatim } from './pattern.ts';
import { malformed, type Refusal } from './refusal.ts';
import { endOfNested, respeller } from './respell.ts';
import type { SchemaPart } from './schema-part.ts';
import { invalidView } from './view-faults.ts';
import { ViewSchema } from './view-schema.ts';

/** What is stored of a view. */
export interface StorableView {
  /** The view's `p`. */
  readonly project: string;
  /**
   * Its fields as JSON text on one line, in UTF-8, in the schema's order. Lone surrogates, which
   * JSON can carry and UTF-8 cannot, became U+FFFD; U+2028 and U+2029, which some readers take for
   * line ends, are escaped.
   */
  readonly fields: Uint8Array;
}

/** Longer views are rare, and those with many quotes or items take Bun's expressions ms. */
const PATTERN_BYTES_MAX = 4 * KiB;

const projectOfVerbatim = verbatim(ViewSchema, 'p');
const respell = respeller(Object.keys(ViewSchema.entries));
// The first fault is enough here: `invalidView` finds them all.
const safeParse = v.safeParser(ViewSchema, { abortEarly: true });

/**
 * The view in a text, in time that is linear in its length.
 * @returns the view, or the refusal `malformed-json` (with the place of the fault) or
 *   `invalid-view` (with every fault).
 */
export const readView = (text: string): StorableView | Refusal =>
  readByPattern(Buffer.from(text)) ?? readAnySpelling(text);

/**
 * The view in a request's body without parsing it: one regular expression finds that it is spelt as
 * it is stored, and its own bytes are stored, or that it can be respelt so. To decode and to encode
 * it would take 5 % of all speed on Node.
 * @returns `undefined` says nothing of the body.
 */
export function readByPattern(body: Uint8Array): StorableView | undefined {
  if (body.length > PATTERN_BYTES_MAX) return undefined;
  const text = bytewise(body);
  const project = projectOf(text);
  if (project !== undefined) return isUtf8(body) ? { project, fields: body } : undefined;
  return isUtf8(body) ? readRespelt(text) : undefined;
}

function readRespelt(text: string): StorableView | undefined {
  const respelt = respell(text);
  if (respelt === undefined) return undefined;
  const project = projectOf(respelt);
  return project === undefined ? undefined : { project, fields: bytesOfBytewise(respelt) };
}

/** Of a view as it is stored, a character for each byte. */
function projectOf(text: string): string | undefined {
  const project = projectOfVerbatim(text);
  if (project !== undefined) return project;
  const closed = withoutItems(text);
  return closed === undefined ? undefined : projectOfVerbatim(closed);
}

/** Arrays that may hold anything, which no expression tells; each with what stands before it. */
const OPEN_ARRAYS = Object.entries<SchemaPart>(ViewSchema.entries).flatMap(
  ([field, { wrapped: part }]) =>
    part?.item?.type === 'unknown' ? [{ part, key: `${JSON.stringify(field)}:` }] : [],
);

/**
 * The text with nothing in its open arrays. Where it then is a view as it is stored, it was one
 * before: what was taken out is as it is stored, and nothing else than its key spells so.
 * @returns `undefined` where there was nothing in them, or what is not stored so.
 */
function withoutItems(text: string): string | undefined {
  let closed = text;
  for (const { part, key } of OPEN_ARRAYS) {
    const at = closed.indexOf(`${key}[`) + key.length;
    if (at < key.length || closed.startsWith('[]', at)) continue;
    const end = endOfNested(closed, at);
    if (!isStoredAlike(part, textOfBytewise(closed.slice(at, end)))) return undefined;
    closed = `${closed.slice(0, at)}[]${closed.slice(end)}`;
  }
  return closed === text ? undefined : closed;
}

function isStoredAlike(part: SchemaPart, text: string): boolean {
  const schema = part as unknown as v.GenericSchema;
  try {
    const { success, output } = v.safeParse(schema, JSON.parse(text), { abortEarly: true });
    return success && storedText(output) === text;
  } catch {
    return false;
  }
}

/** The view in a body that is spelt in any way; of a long body with thousands of faults it takes ms. */
export function readAnySpelling(text: string): StorableView | Refusal {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return malformed(whereNotJson(text));
  }
  const { success, output } = safeParse(value);
  if (!success) return invalidView(value);
  return { project: output.p, fields: Buffer.from(storedText(output)) };
}

/** As JSON.stringify spells it, but for what a line must not have. */
function storedText(value: unknown): string {
  let text = JSON.stringify(value);
  // JSON.stringify escapes a surrogate only where it is alone.
  if (text.includes('\\ud')) text = JSON.stringify(wellFormed(value));
  if (text.includes('\u2028')) text = text.replaceAll('\u2028', '\\u2028');
  if (text.includes('\u2029')) text = text.replaceAll('\u2029', '\\u2029');
  return text;
}

function wellFormed(value: unknown): unknown {
  if (typeof value === 'string') return value.toWellFormed();
  if (Array.isArray(value)) return value.map(wellFormed);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [key.toWellFormed(), wellFormed(item)]),
  );
}

function whereNotJson(text: string): string {
  if (text.trim() === '') return 'The body is empty; send one JSON object.';
  const fault = firstFault(text);
  if (fault === undefined) return 'The body is not JSON; send one JSON object.';
  const { line, column } = new Source(text.slice(0, fault.offset + 1)).place(fault.offset);
  return `Line ${line}, column ${column}: ${fault.message}.`;
}
