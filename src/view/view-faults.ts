import * as v from 'valibot';
import { plural } from '../base/format.ts';
import { LIMITS } from '../base/limits.ts';
import { clip, nearest } from '../base/text.ts';
import type { SchemaPart } from './pattern.ts';
import type { Issue, Refusal } from './refusal.ts';
import { FINITE, NESTED, PROJECT_ID, ViewSchema } from './view-schema.ts';

// Valibot would word every fault of a body with thousands of faults, but only one unknown field per
// object. So viewlog walks through objects and arrays itself, words the first 50 faults, and counts
// the rest. Valibot judges the values that have neither fields nor typed items.

/**
 * Returns the refusal of a value that isn't a view. The faults are in the order of the view's
 * fields; missing fields follow the other faults of their object.
 */
export function invalidView(value: unknown): Refusal {
  const issues: Issue[] = [];
  let count = 0;
  for (const word of faultsOf(value, ViewSchema, '')) {
    if (++count <= LIMITS.issuesMax) issues.push(word());
  }
  const leftOut = count - issues.length;
  const listed = leftOut > 0 ? `the first ${issues.length} listed` : 'all listed';
  const many = count > 1 ? ` The view has ${plural(count, 'fault')}, ${listed} in issues.` : '';
  const project = (value as { p?: unknown } | null)?.p;
  return {
    code: 'invalid-view',
    ...(typeof project === 'string' && PROJECT_ID.test(project) && { project }),
    detail: `${sentence(issues[0]!)}${many}`,
    issues,
  };
}

/** `"mb" must be an integer; received the string "12".` */
function sentence({ field, message, received }: Issue): string {
  const text = `${field === '' ? 'The view' : `"${field}"`} ${message}`;
  // Without these words, a number in quotes would look like the expected number.
  const found = received.startsWith('"') ? `the string ${received}` : withKind(received, message);
  if (message.startsWith('must')) return `${text}; received ${found}.`;
  return `${text}.`;
}

/** Returns what was received, and that it is a number if a string was expected: digits look alike. */
export const withKind = (received: string, message: string): string =>
  /^-?\d/.test(received) && message.includes('string') ? `the number ${received}` : received;

/** Names that other programs give to fields of a view. */
const OTHER_NAMES = new Map([
  ['title', 'pn'],
  ['path', 'url'],
  ['project', 'p'],
  ['language', 'ubl'],
  ['referrer', 'ref'],
]);

/**
 * Yields each fault of a value as a function that words it, because only the first faults are
 * worded.
 */
function* faultsOf(value: unknown, part: SchemaPart, field: string): Generator<() => Issue> {
  const schema = part.wrapped ?? part;
  let hasFault = false;
  for (const fault of faultsInside(value, schema, field)) {
    hasFault = true;
    yield fault;
  }
  // Conditions on a whole object or array count only if nothing inside it is wrong.
  if (hasFault) return;
  const [issue] = v.safeParse(schema as unknown as v.GenericSchema, value, FIRST).issues ?? [];
  if (issue === undefined) return;
  const absent = part.wrapped !== undefined && value === null ? ', or left out' : '';
  const must = `must be ${withArticle(issue.message)}${absent}`;
  yield () => issueOf(field, must, issue.message, value);
}

function* faultsInside(
  value: unknown,
  { item, entries }: SchemaPart,
  parent: string,
): Generator<() => Issue> {
  if (Array.isArray(value)) {
    if (item === undefined || item.type === 'unknown') return;
    for (let i = 0; i < value.length; i++) yield* faultsOf(value[i], item, `${parent}[${i}]`);
    return;
  }
  if (entries === undefined || typeof value !== 'object' || value === null) return;
  const pathOf = (key: string): string => (parent === '' ? key : `${parent}.${key}`);
  for (const [key, inner] of Object.entries(value)) {
    if (Object.hasOwn(entries, key)) yield* faultsOf(inner, entries[key]!, pathOf(key));
    else {
      yield () => {
        const other = OTHER_NAMES.get(key) ?? '';
        const name = parent === '' && other ? other : nearest(key, Object.keys(entries));
        const hint = name === undefined ? '' : ` (did you mean "${pathOf(name)}"?)`;
        const expected = name === undefined ? 'no such field' : pathOf(name);
        return issueOf(pathOf(key), `isn't a field of a view${hint}`, expected, inner);
      };
    }
  }
  for (const [key, { type, message }] of Object.entries(entries)) {
    if (type === 'optional' || Object.hasOwn(value, key)) continue;
    const expected = String(message);
    const required = `is required: ${withArticle(expected)}`;
    yield () => issueOf(pathOf(key), required, expected, undefined);
  }
}

/** @param value the received value; `undefined` if the field is missing. */
function issueOf(path: string, message: string, expected: string, value: unknown): Issue {
  const field = clip(path, LIMITS.quoteLengthMax);
  return { field, message, expected, received: receivedOf(value, expected) };
}

const FIRST: v.Config<v.BaseIssue<unknown>> = { abortEarly: true };

const withArticle = (noun: string): string => `${/^[aeiou]/.test(noun) ? 'an' : 'a'} ${noun}`;

/** Words for a received array that breaks a rule. */
const OTHER_ARRAYS = new Map([
  [NESTED, 'a deeper array'],
  [FINITE, 'an array with a greater number'],
]);

function receivedOf(value: unknown, expected: string): string {
  if (value === undefined) return 'nothing';
  if (Array.isArray(value)) return OTHER_ARRAYS.get(expected) ?? 'an array';
  if (typeof value === 'object' && value !== null) return 'an object';
  if (typeof value === 'number' && !Number.isFinite(value))
    return "a number beyond a double's range";
  const text = JSON.stringify(value);
  if (typeof value !== 'string') return clip(text, LIMITS.quoteLengthMax);
  return `"${clip(text.slice(1, -1), LIMITS.quoteLengthMax - 2)}"`;
}
