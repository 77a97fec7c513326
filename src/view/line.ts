// The stored line of a view. Only this file knows the line's format: `ts` and `id`, then the view's
// fields. `ts` and `id` come first because shippers identify files by their first bytes. The lines
// of refused views begin with `ts` and `id` as well.
import * as v from 'valibot';
import { MiB } from '../base/format.ts';
import { NEWLINE } from '../base/text.ts';
import { ViewSchema } from './view-schema.ts';

/** The largest value of `--max-view`: no collector stores a longer line, newline included. */
export const LARGEST_MAX_VIEW_BYTES = MiB;

/**
 * Returns the part of a line before its view's fields.
 * @param ts RFC 3339, UTC, milliseconds.
 * @param id UUIDv7.
 */
export const lineHeadOf = (ts: string, id: string): string => `{"ts":"${ts}","id":"${id}",`;

/** The length of a head in bytes and in characters: a head is ASCII. */
export const HEAD_BYTES = lineHeadOf('t'.repeat(24), 'i'.repeat(36)).length;
/** The bytes that a line adds to its view's fields: `ts`, `id` and the newline. */
export const STAMP_BYTES = HEAD_BYTES - '{'.length + '\n'.length;

/** Returns the length in bytes of a line with these fields, newline included. */
export const lineBytesOf = (fields: Uint8Array): number => fields.length + STAMP_BYTES;

const encoder = new TextEncoder();

/**
 * @param heads the lines' heads, one after another.
 * @param fields each line's view as JSON text in UTF-8, one object on one line, not empty.
 * @returns the lines, their newlines included.
 */
export function linesOf(heads: string, fields: readonly Uint8Array[]): Uint8Array {
  let bytes = 0;
  for (const one of fields) bytes += lineBytesOf(one);
  const lines = new Uint8Array(bytes);
  // Encodes all heads in one call, because encoding each head alone would take twice the time.
  const headsBytes = encoder.encode(heads);
  let at = 0;
  for (let i = 0; i < fields.length; i++) {
    // The head, which is set next, overwrites the object's opening brace.
    lines.set(fields[i]!, at + HEAD_BYTES - 1);
    lines.set(headsBytes.subarray(i * HEAD_BYTES, (i + 1) * HEAD_BYTES), at);
    at += lineBytesOf(fields[i]!);
    lines[at - 1] = NEWLINE;
  }
  return lines;
}

/**
 * The fields of a stored line, in order. Reports make their pattern from it, and the printed table
 * of ClickHouse its columns.
 */
export const LineSchema = v.strictObject(
  { ts: v.string('string'), id: v.string('string'), ...ViewSchema.entries },
  'object',
);

const TS = String.raw`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z`;
const ID = '[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}';
/** The source of a regular expression that matches a line's head and captures `ts` and `id`. */
export const HEAD_PATTERN = String.raw`\{"ts":"(${TS})","id":"(${ID})",`;
const AT_START = new RegExp(`^${HEAD_PATTERN}`);
const WITHIN = new RegExp(`.${HEAD_PATTERN}`);

/** The start of every line and of every fragment that is long enough. */
export const LINE_START = '{"ts":"';

/**
 * Returns `ts` and `id` of a line or a fragment; `undefined` if the text doesn't start with them.
 */
export function readHead(line: string): { readonly ts: string; readonly id: string } | undefined {
  const [, ts, id] = AT_START.exec(line) ?? [];
  return ts === undefined || id === undefined ? undefined : { ts, id };
}

/** Returns the fields of a line that has a head, as JSON text. */
export const lineFieldsOf = (line: string): string => `{${line.slice(HEAD_BYTES)}`;

/** Returns whether a text contains the head of a line after its first character. */
export const hasHeadWithin = (text: string): boolean => WITHIN.test(text);
