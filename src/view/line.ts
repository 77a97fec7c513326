// The stored line of a view, the one file that knows how it is spelt: `ts` and `id`, then the
// view's fields. `ts` and `id` come first because tailers tell files apart by their first bytes.
// The lines of refused views start alike.
import * as v from 'valibot';
import { MiB } from '../base/size.ts';
import { ViewSchema } from './view-schema.ts';

/** The largest line that any collector stores, its newline included: what `--max-view` goes to. */
export const LINE_BYTES_MAX = MiB;

/**
 * @param ts RFC 3339, UTC, milliseconds.
 * @param id UUIDv7.
 * @param fields the view's fields as JSON text, one well-formed object on one line, not empty.
 * @returns the line, its newline included.
 */
export const lineOf = (ts: string, id: string, fields: string): string =>
  `{"ts":"${ts}","id":"${id}",${fields.slice(1)}\n`;

const STAMPED = lineOf('t'.repeat(24), 'i'.repeat(36), '{}');
/** What a line has beyond its view's fields, in bytes: `ts`, `id` and the newline. */
export const STAMP_BYTES = STAMPED.length - '{}'.length;
/** What a line has before its view's fields, in bytes and in characters. */
export const HEAD_BYTES = STAMPED.length - '}\n'.length;

/** The bytes of the line that these fields become, its newline included. */
export const lineBytesOf = (fields: string): number => Buffer.byteLength(fields) + STAMP_BYTES;

/** What a report reads a line by. */
export const LineSchema = v.strictObject(
  { ts: v.string('string'), id: v.string('string'), ...ViewSchema.entries },
  'object',
);

const TS = String.raw`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z`;
const ID = '[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}';
const HEAD = String.raw`\{"ts":"(${TS})","id":"(${ID})"`;
const AT_START = new RegExp(`^${HEAD},`);
const WITHIN = new RegExp(`.${HEAD},`);
const AT_STARTS = new RegExp(`(?:^|\n)${HEAD}`, 'g');

/** What a line starts with, however little of it there is. */
export const LINE_START = '{"ts":"';

/** `ts` and `id` of a line, whole or not; `undefined` where it does not start with them. */
export function readHead(line: string): { readonly ts: string; readonly id: string } | undefined {
  const [, ts, id] = AT_START.exec(line) ?? [];
  return ts === undefined || id === undefined ? undefined : { ts, id };
}

/** The fields of a line that has a head, as JSON text. */
export const fieldsOf = (line: string): string => `{${line.slice(HEAD_BYTES)}`;

/** Whether a line's head stands within the text, not at its start. */
export const hasHeadWithin = (text: string): boolean => WITHIN.test(text);

/** The id of the last of these lines that has one, cut off behind it or not. */
export const lastIdIn = (lines: string): string | undefined =>
  [...lines.matchAll(AT_STARTS)].at(-1)?.[2];
