import * as v from 'valibot';
import { parseJson, Source } from '../base/json.ts';
import { PROJECT_ID } from './project-id.ts';
import type { Issue, Refusal } from './refusal.ts';
import { LIMITS } from '../base/limits.ts';
import { clip, nearest, plural } from '../base/text.ts';
import { verbatim } from './pattern.ts';

// The view, and the only list of its fields: names, types and order. Each schema's message says
// what is expected, as a noun, so that a missing field can say it too.

const string = v.string('string');
const nonEmptyString = v.pipe(v.string('non-empty string'), v.nonEmpty('non-empty string'));
const integer = v.pipe(
  v.number('integer'),
  v.integer('integer'),
  v.safeInteger('integer from -9007199254740991 to 9007199254740991'),
);

const ID = 'string of 1 to 20 digits';
const projectId = v.pipe(v.string(ID), v.regex(PROJECT_ID, ID));

const isProjectId = (value: unknown): value is string => v.is(projectId, value);

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

const TIMESTAMP = 'UTC timestamp such as "2026-01-31T23:59:59.999Z"';
const timestamp = v.pipe(
  v.string(TIMESTAMP),
  v.regex(
    /^[0-9]{4}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])T([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9]\.[0-9]{3}Z$/,
    TIMESTAMP,
  ),
  v.check(dayExists, 'day that exists'),
);

/** Whether the month of a well-formed timestamp has its day. `Date` would take a microsecond. */
function dayExists(text: string): boolean {
  const day = Number(text.slice(8, 10));
  const month = Number(text.slice(5, 7));
  if (day < 29 || month !== 2) return day < 31 || [1, 3, 5, 7, 8, 10, 12].includes(month);
  const year = Number(text.slice(0, 4));
  return day === 29 && year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0);
}

const PATH = 'string that starts with "/"';
const NESTED = `array nested at most ${LIMITS.nestingMax} levels deep`;
const FINITE = "array of numbers within a double's range";
const anyArray = v.pipe(
  v.array(v.unknown(), 'array'),
  v.check((items) => depthWithin(items, LIMITS.nestingMax), NESTED),
  v.check((items) => allFinite(items), FINITE),
);

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

type View = v.InferOutput<typeof ViewSchema>;

/** What is stored of a view. */
export interface StorableView {
  /** The view's `p`. */
  readonly project: string;
  /**
   * Its fields as JSON text on one line, in the schema's order. Well-formed: lone surrogates, which
   * JSON can carry and UTF-8 cannot, became U+FFFD; U+2028 and U+2029, which some readers take for
   * line ends, are escaped.
   */
  readonly fields: string;
}

const projectOfVerbatim = verbatim(ViewSchema, 'p');
const safeParse = v.safeParser(ViewSchema, { abortPipeEarly: true });

/**
 * The view in a request's body.
 * @param text the body, decoded.
 * @returns the view, or the refusal `malformed-json` (with the place of the fault) or
 *   `invalid-view` (with every fault).
 */
export function readView(text: string): StorableView | Refusal {
  const project = projectOfVerbatim(text);
  if (project !== undefined) return { project, fields: text };
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return { code: 'malformed-json', detail: malformed(text) };
  }
  const { success, output, issues } = safeParse(value);
  return success ? { project: output.p, fields: serialize(output) } : invalid(value, issues);
}

function serialize(view: View): string {
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

function depthWithin(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return true;
  if (levels === 0) return false;
  return Object.values(value).every((item) => depthWithin(item, levels - 1));
}

/** JSON can spell numbers, such as 1e400, that a double cannot hold. */
function allFinite(value: unknown): boolean {
  if (typeof value === 'number') return Number.isFinite(value);
  return typeof value !== 'object' || value === null || Object.values(value).every(allFinite);
}

function malformed(text: string): string {
  if (text.trim() === '') return 'The body is empty; send one JSON object.';
  const source = new Source(text);
  try {
    const parsed = parseJson(source);
    if ('faults' in parsed && parsed.faults[0]) {
      const { offset, message } = parsed.faults[0];
      const { line, column } = source.place(offset);
      return `Line ${line}, column ${column}: ${message}.`;
    }
  } catch {
    // Nested too deep for a parser that says where.
  }
  return 'The body is not JSON; send one JSON object.';
}

function invalid(value: unknown, found: readonly v.BaseIssue<unknown>[]): Refusal {
  const byField = new Map<string, Issue>();
  const add = (issue: Issue): void => {
    if (!byField.has(issue.field)) byField.set(issue.field, issue);
  };
  for (const issue of found) if (!isUnknownKey(issue)) add(explain(issue));
  for (const issue of unknownFields(value, ViewSchema, '')) add(issue);
  const all = [...byField.values()];
  const issues = all.slice(0, LIMITS.issuesMax).map(clipped);
  const [first] = issues;
  const leftOut = all.length - issues.length;
  const more = leftOut > 0 ? `; ${leftOut} more than the ${issues.length} listed are left out` : '';
  const project = (value as { p?: unknown } | null | undefined)?.p;
  return {
    code: 'invalid-view',
    ...(isProjectId(project) && { project }),
    detail: `The view has ${plural(all.length, 'fault')}${more}. ${first && sentence(first)}`,
    issues,
  };
}

const sentence = ({ field, message }: Issue): string =>
  `${field === '' ? 'It' : `"${field}"`} ${message}${message.endsWith('?') ? '' : '.'}`;

const clipped = (issue: Issue): Issue => ({
  ...issue,
  field: clip(issue.field, LIMITS.quoteLengthMax),
  received: clip(issue.received, LIMITS.quoteLengthMax),
});

// strictObject names only the first unknown key; `unknownFields` finds them all.
const isUnknownKey = (issue: v.BaseIssue<unknown>): boolean =>
  issue.type === 'strict_object' && issue.expected === 'never';

/** What valibot found, in the words of a page's developer. */
function explain(issue: v.BaseIssue<unknown>): Issue {
  const path = issue.path ?? [];
  // strictObject takes an array for an object and misses its fields; the fault is the array.
  const inArray = path.findIndex((item) => item.type === 'object' && Array.isArray(item.input));
  if (inArray >= 0) return mustBe(fieldOf(path.slice(0, inArray)), 'object', 'array');
  const field = fieldOf(path);
  if (issue.type !== 'strict_object' || issue.received !== 'undefined') {
    return mustBe(field, issue.message, quote(issue.input));
  }
  const expected = expectedAt(path.map((item) => item.key));
  return { field, message: `is required: ${withArticle(expected)}`, expected, received: 'nothing' };
}

const mustBe = (field: string, expected: string, received: string): Issue => ({
  field,
  message: `must be ${withArticle(expected)}`,
  expected,
  received,
});

const withArticle = (noun: string): string => `${/^[aeiou]/.test(noun) ? 'an' : 'a'} ${noun}`;

const fieldOf = (path: readonly v.IssuePathItem[]): string =>
  path.reduce((field, { key }) => {
    if (typeof key === 'number') return `${field}[${key}]`;
    return joined(field, String(key));
  }, '');

const joined = (parent: string, key: string): string => (parent === '' ? key : `${parent}.${key}`);

function quote(value: unknown): string {
  if (typeof value === 'string') return JSON.stringify(clip(value, LIMITS.quoteLengthMax));
  if (Array.isArray(value)) return 'array';
  if (typeof value === 'object' && value !== null) return 'object';
  if (typeof value === 'number' && !Number.isFinite(value)) return "number beyond a double's range";
  return String(value);
}

interface ObjectSchema {
  readonly entries: Readonly<Record<string, unknown>>;
}

const entriesOf = (schema: unknown): ObjectSchema['entries'] | undefined =>
  (unwrapped(schema) as Partial<ObjectSchema> | undefined)?.entries;

const unwrapped = (schema: unknown): unknown =>
  (schema as { wrapped?: unknown } | undefined)?.wrapped ?? schema;

function expectedAt(keys: readonly unknown[]): string {
  let schema: unknown = ViewSchema;
  for (const key of keys) schema = unwrapped(entriesOf(schema)?.[String(key)]);
  return String((schema as { message?: unknown }).message);
}

function* unknownFields(value: unknown, schema: unknown, parent: string): Generator<Issue> {
  const entries = entriesOf(schema);
  if (!entries || typeof value !== 'object' || value === null || Array.isArray(value)) return;
  for (const [key, item] of Object.entries(value)) {
    const field = joined(parent, key);
    if (Object.hasOwn(entries, key)) {
      yield* unknownFields(item, entries[key], field);
      continue;
    }
    const near = nearest(key, Object.keys(entries));
    yield {
      field,
      message: `is not a field of a view${near ? `; did you mean "${joined(parent, near)}"?` : ''}`,
      expected: near ? joined(parent, near) : 'nothing',
      received: quote(item),
    };
  }
}
