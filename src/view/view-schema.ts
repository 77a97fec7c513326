import * as v from 'valibot';
import { LIMITS } from '../base/limits.ts';

// The view and the only list of its fields: names, types and order. Each schema's message names
// the expected value with a noun, so that the fault of a missing field can use the message too.

/** The form of a project's id, in a view, in the projects file and on the command line. */
export const PROJECT_ID = /^[0-9]{1,20}$/;

const string = v.string('string');
const nonEmptyString = v.pipe(v.string('non-empty string'), v.nonEmpty('non-empty string'));
const integer = v.pipe(
  v.number('integer'),
  v.integer('integer'),
  v.safeInteger('integer from -9007199254740991 to 9007199254740991'),
);

const ID = 'string of 1 to 20 digits';
const projectId = v.pipe(v.string(ID), v.regex(PROJECT_ID, ID));

// RFC 5646's langtag, without its grandfathered tags and with a language of 2 or 3 letters. Spelt
// for both letter cases, because a JSON Schema pattern has no flags.
const LANGUAGE = 'BCP 47 language tag such as "nb-NO"';
const LANGUAGE_TAG =
  /^[A-Za-z]{2,3}(-[A-Za-z]{3}){0,3}(-[A-Za-z]{4})?(-([A-Za-z]{2}|[0-9]{3}))?(-([A-Za-z0-9]{5,8}|[0-9][A-Za-z0-9]{3}))*(-[0-9A-WY-Za-wy-z](-[A-Za-z0-9]{2,8})+)*(-[Xx](-[A-Za-z0-9]{1,8})+)?$/;
const LANGUAGE_MAX = `${LANGUAGE}, at most 64 characters long`;
const languageTag = v.pipe(
  v.string(LANGUAGE),
  v.maxLength(64, LANGUAGE_MAX),
  v.regex(LANGUAGE_TAG, LANGUAGE),
);

const TIMESTAMP =
  'UTC timestamp with milliseconds, as new Date().toISOString() returns it: "2026-01-31T23:59:59.999Z"';
const timestamp = v.pipe(
  v.string(TIMESTAMP),
  v.regex(
    /^[0-9]{4}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])T([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9]\.[0-9]{3}Z$/,
    TIMESTAMP,
  ),
  v.check(dayExists, 'UTC timestamp of a day that exists'),
);

/** Tests the day's number first, because this runs for every view and `Date` takes longer. */
function dayExists(text: string): boolean {
  const day = Number(text.slice(8, 10));
  // `Date` reads 30 February as 2 March or not at all.
  return day < 29 || new Date(text).getUTCDate() === day;
}

const PATH = 'string that starts with "/"';
export const NESTED = `array nested at most ${LIMITS.nestingMax} levels deep`;
export const FINITE = "array whose numbers are within a double's range";
const anyArray = v.pipe(
  v.array(v.unknown(), 'array'),
  v.check((items) => depthWithin(items, LIMITS.nestingMax), NESTED),
  v.check((items) => allFinite(items), FINITE),
);

function depthWithin(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return true;
  return levels > 0 && itemsOf(value).every((item) => depthWithin(item, levels - 1));
}

/** JSON can spell numbers, such as 1e400, that a double can't hold. */
function allFinite(value: unknown): boolean {
  if (typeof value === 'number') return Number.isFinite(value);
  return typeof value !== 'object' || value === null || itemsOf(value).every(allFinite);
}

const itemsOf = (value: object): unknown[] => (Array.isArray(value) ? value : Object.values(value));

/** One page view, as a page sends it. */
export const ViewSchema = v.strictObject(
  {
    pn: v.optional(string),
    pid: nonEmptyString,
    mb: v.optional(integer),
    mv: v.optional(v.strictObject({ vt: integer, v30: integer, dlv: integer }, 'object')),
    mp: v.optional(v.strictObject({ p: v.array(string, 'array of strings') }, 'object')),
    cf: v.optional(anyArray),
    csf: v.optional(anyArray),
    p: projectId,
    ubl: v.optional(languageTag),
    ref: v.optional(string),
    ld: timestamp,
    url: v.pipe(v.string(PATH), v.startsWith('/', PATH)),
    content: v.optional(v.strictObject({ templateId: nonEmptyString }, 'object')),
    orgreferer: v.optional(string),
    hc: v.optional(v.boolean('boolean')),
  },
  'object',
);
