import { plural } from '../base/format.ts';
import * as v from 'valibot';
import { LIMITS } from '../base/limits.ts';
import { clip, nearest } from '../base/text.ts';
import { PROJECT_ID } from './project-id.ts';
import type { Issue, Refusal } from './refusal.ts';
import { type Entries, mayBeAbsent, type SchemaPart } from './schema-part.ts';
import { ViewSchema } from './view-schema.ts';

// Valibot would word every fault of a body that has thousands, and name one unknown field of each
// object. So the schema is gone through here, object by object and item by item; only what has
// neither fields nor items is left to valibot.

/** The refusal of a value that is no view; the fault that its `detail` names is the first of its issues. */
export function invalidView(value: unknown): Refusal {
  const { count, issues: found } = faultsOf(value, ViewSchema);
  const first = firstMet(value, found);
  const issues = first === undefined ? found : [first, ...found.filter((one) => one !== first)];
  const leftOut = count - issues.length;
  const more = leftOut > 0 ? `; ${leftOut} more than the ${issues.length} listed are left out` : '';
  const project = (value as { p?: unknown } | null | undefined)?.p;
  return {
    code: 'invalid-view',
    ...(typeof project === 'string' && PROJECT_ID.test(project) && { project }),
    detail: `The view has ${plural(count, 'fault')}${more}. ${first && sentence(first, issues.length - 1)}`,
    issues,
  };
}

/** The fault that the client meets first when it reads what it sent; what is missing comes last. */
function firstMet(value: unknown, issues: readonly Issue[]): Issue | undefined {
  const byField = new Map<string, Issue>();
  for (const issue of issues) {
    const [field = ''] = issue.field.split(/[.[]/, 1);
    if (!byField.has(field)) byField.set(field, issue);
  }
  const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
  const met = isObject && Object.keys(value).find((field) => byField.has(field));
  return (typeof met === 'string' && byField.get(met)) || issues[0];
}

/**
 * How many faults a value has, and the first 50 of them. They come in the order of the schema's
 * fields, those of an object where it stands; after the fields that an object should have, those
 * that it should not.
 */
export function faultsOf(
  value: unknown,
  schema: SchemaPart,
): { readonly count: number; readonly issues: readonly Issue[] } {
  const faults = new Faults();
  faults.find(value, schema, () => '');
  return faults;
}

/** Where a value stands in the view: a field, made when it is asked for. */
type Place = () => string;

class Faults {
  count = 0;
  readonly issues: Issue[] = [];

  find(value: unknown, part: SchemaPart, place: Place): void {
    const { item, entries } = unwrapped(part);
    const before = this.count;
    if (Array.isArray(value)) {
      // strictObject takes an array for an object.
      if (entries) this.#add(() => mustBe(place(), nounOf(unwrapped(part)), 'array'));
      if (item && item.type !== 'unknown') {
        value.forEach((one, i) => this.find(one, item, () => `${place()}[${i}]`));
      }
    } else if (entries && typeof value === 'object' && value !== null) {
      this.#findInFields(value as Record<string, unknown>, entries, place);
    }
    if (this.count === before) this.#ask(value, part, place);
  }

  #findInFields(value: Record<string, unknown>, entries: Entries, place: Place): void {
    for (const [key, part] of Object.entries(entries)) {
      const field: Place = () => joined(place(), key);
      if (Object.hasOwn(value, key)) this.find(value[key], part, field);
      else if (!mayBeAbsent(part)) {
        this.#add(() => isMissing(field(), nounOf(unwrapped(part))));
      }
    }
    for (const key of Object.keys(value)) {
      if (Object.hasOwn(entries, key)) continue;
      this.#add(() => isUnknown(place(), key, value[key], Object.keys(entries)));
    }
  }

  /** Asks valibot. */
  #ask(value: unknown, part: SchemaPart, place: Place): void {
    const schema = part as unknown as v.GenericSchema;
    if (v.is(schema, value)) return;
    if (this.count >= LIMITS.issuesMax) {
      this.count += 1;
      return;
    }
    for (const issue of v.safeParse(schema, value, PLAIN).issues ?? []) {
      this.#add(() => mustBe(fieldOf(place(), issue), issue.message, received(issue.input)));
    }
  }

  /** @param explain is called for those that are listed only: it costs more than finding them. */
  #add(explain: () => Issue): void {
    this.count += 1;
    if (this.count > LIMITS.issuesMax) return;
    const issue = explain();
    this.issues.push({
      ...issue,
      field: clip(issue.field, LIMITS.quoteLengthMax),
      received: clip(issue.received, LIMITS.quoteLengthMax),
    });
  }
}

const unwrapped = (part: SchemaPart): SchemaPart =>
  part.wrapped === undefined ? part : unwrapped(part.wrapped);

const PLAIN: v.Config<v.BaseIssue<unknown>> = {
  abortPipeEarly: true,
  // Of what the schema has no words for.
  message: ({ expected }) => expected ?? 'valid value',
};

const nounOf = ({ message, expects }: SchemaPart): string =>
  typeof message === 'string' ? message : (expects ?? 'valid value');

/** @param others how many are listed behind it. */
function sentence({ field, message }: Issue, others: number): string {
  const text = `${field === '' ? 'It' : `"${field}"`} ${message}`;
  const more = others > 0 ? ` (and ${others} more: see issues)` : '';
  return `${text}${more}${more === '' && text.endsWith('?') ? '' : '.'}`;
}

const mustBe = (field: string, expected: string, received: string): Issue => ({
  field,
  message: `must be ${withArticle(expected)}`,
  expected,
  received,
});

const isMissing = (field: string, expected: string): Issue => ({
  field,
  message: `is required: ${withArticle(expected)}`,
  expected,
  received: 'nothing',
});

function isUnknown(parent: string, key: string, value: unknown, known: string[]): Issue {
  const near = nearest(key, known);
  return {
    field: joined(parent, key),
    message: `is not a field of a view${near ? `; did you mean "${joined(parent, near)}"?` : ''}`,
    expected: near ? joined(parent, near) : 'nothing',
    received: received(value),
  };
}

function withArticle(noun: string): string {
  if (!/^[a-z]/i.test(noun)) return noun;
  return `${/^[aeiou]/.test(noun) ? 'an' : 'a'} ${noun}`;
}

const joined = (parent: string, key: string): string => (parent === '' ? key : `${parent}.${key}`);

const fieldOf = (parent: string, { path }: v.BaseIssue<unknown>): string =>
  (path ?? []).reduce(
    (field, { key }) => (typeof key === 'number' ? `${field}[${key}]` : joined(field, String(key))),
    parent,
  );

function received(value: unknown): string {
  if (typeof value === 'string') return JSON.stringify(clip(value, LIMITS.quoteLengthMax));
  if (Array.isArray(value)) return 'array';
  if (typeof value === 'object' && value !== null) return 'object';
  if (typeof value === 'number' && !Number.isFinite(value)) return "number beyond a double's range";
  return String(value);
}
