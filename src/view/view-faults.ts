import * as v from 'valibot';
import { LIMITS } from '../base/limits.ts';
import { clip, nearest, plural } from '../base/text.ts';
import { PROJECT_ID } from './project-id.ts';
import type { Issue, Refusal } from './refusal.ts';
import { type Entries, mayBeAbsent, type SchemaPart } from './schema-part.ts';
import { ViewSchema } from './view-schema.ts';

// Valibot would word every fault of a body that has thousands, and name one unknown field of each
// object. So the schema is gone through here, object by object and item by item; only what has
// neither fields nor items is left to valibot.

/**
 * The refusal of a value that is no view: all its faults are counted, and the first 50 told. They
 * come in the order of the schema's fields, those of an object where it stands; after the fields
 * that an object should have, those that it should not.
 */
export function invalidView(value: unknown): Refusal {
  const faults = new Faults();
  faults.find(value, ViewSchema, '');
  const { count, issues } = faults;
  const [first] = issues;
  const leftOut = count - issues.length;
  const more = leftOut > 0 ? `; ${leftOut} more than the ${issues.length} listed are left out` : '';
  const project = (value as { p?: unknown } | null | undefined)?.p;
  return {
    code: 'invalid-view',
    ...(typeof project === 'string' && PROJECT_ID.test(project) && { project }),
    detail: `The view has ${plural(count, 'fault')}${more}. ${first && sentence(first)}`,
    issues,
  };
}

class Faults {
  count = 0;
  readonly issues: Issue[] = [];

  /** @param field the value's place in the view. */
  find(value: unknown, part: SchemaPart, field: string): void {
    const before = this.count;
    this.#lookInside(value, unwrapped(part), field);
    if (this.count === before) this.#ask(value, part, field);
  }

  #lookInside(value: unknown, { item, entries, ...part }: SchemaPart, field: string): void {
    if (Array.isArray(value)) {
      // strictObject takes an array for an object.
      if (entries) this.#add(() => mustBe(field, nounOf(part), 'array'));
      if (item && item.type !== 'unknown') {
        value.forEach((one, i) => this.find(one, item, `${field}[${i}]`));
      }
    } else if (entries && typeof value === 'object' && value !== null) {
      this.#lookIntoFields(value as Record<string, unknown>, entries, field);
    }
  }

  #lookIntoFields(value: Record<string, unknown>, entries: Entries, parent: string): void {
    for (const [key, part] of Object.entries(entries)) {
      const field = joined(parent, key);
      if (Object.hasOwn(value, key)) this.find(value[key], part, field);
      else if (!mayBeAbsent(part)) this.#add(() => isMissing(field, nounOf(part)));
    }
    for (const key of Object.keys(value)) {
      if (Object.hasOwn(entries, key)) continue;
      this.#add(() => isUnknown(parent, key, value[key], Object.keys(entries)));
    }
  }

  /** Valibot. */
  #ask(value: unknown, part: SchemaPart, field: string): void {
    const { issues = [] } = v.safeParse(part as unknown as v.GenericSchema, value, PLAIN);
    for (const issue of issues) {
      const place = (issue.path ?? []).reduce(
        (parent, { key }) =>
          typeof key === 'number' ? `${parent}[${key}]` : joined(parent, String(key)),
        field,
      );
      this.#add(() => mustBe(place, issue.message, received(issue.input)));
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

const sentence = ({ field, message }: Issue): string =>
  `${field === '' ? 'It' : `"${field}"`} ${message}${message.endsWith('?') ? '' : '.'}`;

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

function received(value: unknown): string {
  if (typeof value === 'string') return JSON.stringify(clip(value, LIMITS.quoteLengthMax));
  if (Array.isArray(value)) return 'array';
  if (typeof value === 'object' && value !== null) return 'object';
  if (typeof value === 'number' && !Number.isFinite(value)) return "number beyond a double's range";
  return String(value);
}
