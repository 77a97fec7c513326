import * as v from 'valibot';
import { plural } from '../base/format.ts';
import { LIMITS } from '../base/limits.ts';
import { clip, nearest } from '../base/text.ts';
import type { SchemaPart } from './pattern.ts';
import type { Issue, Refusal } from './refusal.ts';
import { PROJECT_ID, ViewSchema } from './view-schema.ts';

// Valibot would word every fault of a body that has thousands, but only one unknown field of each
// object. So this walks through objects and arrays itself, words the first 50 faults and counts the
// rest. Valibot judges the values that have neither fields nor typed items.

/**
 * Returns the refusal of a value that is not a view. The faults are in the order in which the view
 * has them; missing fields come after the others of their object.
 */
export function invalidView(value: unknown): Refusal {
  const { count, issues } = new Faults(value);
  const leftOut = count - issues.length;
  const listed = leftOut > 0 ? `the first ${issues.length}, and leaves out ${leftOut} more` : 'all';
  const many = count > 1 ? ` The view has ${plural(count, 'fault')}; issues lists ${listed}.` : '';
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
  if (message.startsWith('must')) return `${text}; received ${inWords(received)}.`;
  return text.endsWith('?') ? text : `${text}.`;
}

/** A number in quotes looks like the number that it should be. */
function inWords(received: string): string {
  if (received.startsWith('"')) return `the string ${received}`;
  return /^(array|object|number)/.test(received) ? withArticle(received) : received;
}

/** The faults of a value: how many there are, and the first of them. */
class Faults {
  count = 0;
  readonly issues: Issue[] = [];

  constructor(value: unknown) {
    this.#find(value, ViewSchema, '');
  }

  #find(value: unknown, part: SchemaPart, field: string): void {
    const { wrapped, item, entries } = part;
    if (wrapped !== undefined) return this.#find(value, wrapped, field);
    const before = this.count;
    if (Array.isArray(value)) {
      if (item !== undefined && item.type !== 'unknown') {
        for (let i = 0; i < value.length; i++) this.#find(value[i], item, `${field}[${i}]`);
      }
    } else if (entries !== undefined && typeof value === 'object' && value !== null) {
      this.#findInFields(value as Record<string, unknown>, entries, field);
    }
    // Conditions on a whole object or array count only if nothing inside it is wrong.
    if (this.count > before) return;
    const [issue] = v.safeParse(part as unknown as v.GenericSchema, value, FIRST).issues ?? [];
    if (issue === undefined) return;
    this.#add(field, `must be ${withArticle(issue.message)}`, issue.message, value);
  }

  #findInFields(
    value: Record<string, unknown>,
    entries: NonNullable<SchemaPart['entries']>,
    parent: string,
  ): void {
    const pathOf = (key: string): string => (parent === '' ? key : `${parent}.${key}`);
    for (const key of Object.keys(value)) {
      if (Object.hasOwn(entries, key)) {
        this.#find(value[key], entries[key]!, pathOf(key));
        continue;
      }
      // Only for faults that are listed, because it takes time.
      const name = this.#isFull ? undefined : nearest(key, Object.keys(entries));
      const near = name === undefined ? undefined : pathOf(name);
      const hint = near === undefined ? '' : `; did you mean "${near}"?`;
      const message = `is not a field of a view${hint}`;
      this.#add(pathOf(key), message, near ?? 'nothing', value[key]);
    }
    for (const [key, { type, message }] of Object.entries(entries)) {
      if (type === 'optional' || Object.hasOwn(value, key)) continue;
      const expected = String(message);
      this.#add(pathOf(key), `is required: ${withArticle(expected)}`, expected, undefined);
    }
  }

  get #isFull(): boolean {
    return this.count >= LIMITS.issuesMax;
  }

  /** @param value what was received; `undefined` if nothing. */
  #add(path: string, message: string, expected: string, value: unknown): void {
    if (!this.#isFull) {
      const field = clip(path, LIMITS.quoteLengthMax);
      this.issues.push({ field, message, expected, received: receivedOf(value) });
    }
    this.count += 1;
  }
}

const FIRST: v.Config<v.BaseIssue<unknown>> = { abortEarly: true };

const withArticle = (noun: string): string => `${/^[aeiou]/.test(noun) ? 'an' : 'a'} ${noun}`;

function receivedOf(value: unknown): string {
  if (value === undefined) return 'nothing';
  if (Array.isArray(value)) return 'array';
  if (typeof value === 'object' && value !== null) return 'object';
  if (typeof value === 'number' && !Number.isFinite(value)) return "number beyond a double's range";
  const text = typeof value === 'string' ? clip(value, LIMITS.quoteLengthMax) : value;
  return clip(JSON.stringify(text), LIMITS.quoteLengthMax);
}
