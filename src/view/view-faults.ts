import * as v from 'valibot';
import { plural } from '../base/format.ts';
import { LIMITS } from '../base/limits.ts';
import { clip, nearest } from '../base/text.ts';
import { PROJECT_ID } from './project-id.ts';
import type { Issue, Refusal } from './refusal.ts';
import { isOptional, type SchemaPart } from './schema-part.ts';
import { ViewSchema } from './view-schema.ts';

// Valibot would word every fault of a body that has thousands, but only one unknown field of each
// object. So this walks through objects and arrays itself, words the first 50 faults and counts the
// rest. Valibot judges the values that have neither fields nor typed items.

/**
 * Returns the refusal of a value that is not a view. The faults are in the order in which the view
 * has them; missing fields come after the others of their object.
 */
export function invalidView(value: unknown): Refusal {
  const faults = new Faults();
  faults.find(value, ViewSchema, '');
  const { count, issues } = faults;
  const leftOut = count - issues.length;
  const more =
    leftOut > 0
      ? `; issues lists the first ${issues.length}, and ${leftOut} more are left out`
      : '';
  const project = (value as { p?: unknown } | null)?.p;
  return {
    code: 'invalid-view',
    ...(typeof project === 'string' && PROJECT_ID.test(project) && { project }),
    detail: `The view has ${plural(count, 'fault')}${more}. ${sentence(issues)}`,
    issues,
  };
}

function sentence([first, ...others]: readonly Issue[]): string {
  if (first === undefined) return '';
  const text = `${first.field === '' ? 'It' : `"${first.field}"`} ${first.message}`;
  if (others.length > 0) return `${text} (and ${others.length} more: see issues).`;
  return text.endsWith('?') ? text : `${text}.`;
}

class Faults {
  count = 0;
  readonly issues: Issue[] = [];

  find(value: unknown, part: SchemaPart, field: string): void {
    const { item, entries } = unwrapped(part);
    const before = this.count;
    if (Array.isArray(value)) {
      if (item !== undefined && item.type !== 'unknown') {
        for (let i = 0; i < value.length; i++) this.find(value[i], item, `${field}[${i}]`);
      }
    } else if (entries !== undefined && typeof value === 'object' && value !== null) {
      this.#findInFields(value as Record<string, unknown>, entries, field);
    }
    // Conditions on a whole object or array count only if nothing inside it is wrong.
    if (this.count === before) this.#ask(value, part, field);
  }

  #findInFields(
    value: Record<string, unknown>,
    entries: NonNullable<SchemaPart['entries']>,
    parent: string,
  ): void {
    for (const key of Object.keys(value)) {
      if (Object.hasOwn(entries, key)) this.find(value[key], entries[key]!, joined(parent, key));
      else this.#add(() => isUnknown(parent, key, value[key], Object.keys(entries)));
    }
    for (const [key, part] of Object.entries(entries)) {
      if (isOptional(part) || Object.hasOwn(value, key)) continue;
      this.#add(() => isMissing(joined(parent, key), String(part.message)));
    }
  }

  #ask(value: unknown, part: SchemaPart, field: string): void {
    const [issue] = v.safeParse(part as unknown as v.GenericSchema, value, FIRST).issues ?? [];
    if (issue === undefined) return;
    this.#add(() => ({
      field,
      message: `must be ${withArticle(issue.message)}`,
      expected: issue.message,
      received: received(value),
    }));
  }

  /** @param explain is called for the faults that are listed, because it is expensive. */
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

const FIRST: v.Config<v.BaseIssue<unknown>> = { abortEarly: true };

const unwrapped = (part: SchemaPart): SchemaPart =>
  part.wrapped === undefined ? part : unwrapped(part.wrapped);

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

const withArticle = (noun: string): string => `${/^[aeiou]/.test(noun) ? 'an' : 'a'} ${noun}`;

const joined = (parent: string, key: string): string => (parent === '' ? key : `${parent}.${key}`);

function received(value: unknown): string {
  if (typeof value === 'string') return JSON.stringify(clip(value, LIMITS.quoteLengthMax));
  if (Array.isArray(value)) return 'array';
  if (typeof value === 'object' && value !== null) return 'object';
  if (typeof value === 'number' && !Number.isFinite(value)) return "number beyond a double's range";
  return String(value);
}
