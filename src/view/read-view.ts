import * as v from 'valibot';
import { bytewise, isUtf8 } from '../base/bytes.ts';
import { firstFault, Source } from '../base/json.ts';
import { verbatim } from './pattern.ts';
import { malformed, type Refusal } from './refusal.ts';
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

const projectOfVerbatim = verbatim(ViewSchema, 'p');
// The first fault is enough here: `invalidView` finds them all.
const safeParse = v.safeParser(ViewSchema, { abortEarly: true });

/**
 * The view in a text, in time that is linear in its length.
 * @returns the view, or the refusal `malformed-json` (with the place of the fault) or
 *   `invalid-view` (with every fault).
 */
export const readView = (text: string): StorableView | Refusal =>
  readVerbatim(Buffer.from(text)) ?? readAnySpelling(text);

/**
 * The view in a request's body that is spelt as it is stored, as most are: one regular expression,
 * and its own bytes are stored. To decode them, and to encode them again, would take 5 % of all
 * speed on Node.
 */
export function readVerbatim(body: Uint8Array): StorableView | undefined {
  const project = projectOfVerbatim(bytewise(body));
  return project === undefined || !isUtf8(body) ? undefined : { project, fields: body };
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
  return { project: output.p, fields: Buffer.from(serialize(output)) };
}

function serialize(view: v.InferOutput<typeof ViewSchema>): string {
  let text = JSON.stringify(view);
  // JSON.stringify escapes a surrogate only where it is alone.
  if (text.includes('\\ud')) text = JSON.stringify(wellFormed(view));
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
