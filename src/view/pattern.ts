// Most pages spell a view as JSON.stringify does, with its fields in the schema's order, and then
// its bytes are stored as they came. One regular expression, made from the schema, tells such a view
// from any other in a fifth of the time that parsing, checking and spelling it anew takes. It pays
// 20 % of all speed on Node and Deno, 10 % on Bun; a report reads lines by one three times as fast.
//
// A pattern may match less than what is valid, never more: what it does not match is parsed. So a
// kind of schema that is not known here costs speed and nothing else.
//
// What is matched has a character for each byte of UTF-8. Beyond ASCII no condition of a schema can
// be asked of that, but for a few.
import * as v from 'valibot';
import { bytewise } from '../base/bytes.ts';
import { type Entries, mayBeAbsent, type SchemaPart } from './schema-part.ts';

type Test = (text: string) => boolean;

/** A string without escapes, or an integer, that a group of the expression captures. */
interface Group {
  /** `p`, `mv.vt` */
  readonly path: string;
  /** All of them hold where the schema takes it, and leaves it as it is. */
  readonly tests: readonly Test[];
}

interface Pattern {
  /** Of a regular expression with the flag `u`, without its ends. */
  readonly source: string;
  readonly groups: readonly Group[];
}

interface Wanted {
  /** Paths of strings and numbers to capture. */
  readonly captured: ReadonlySet<string>;
  /** Whether those with conditions are captured too, to be checked by whoever uses the pattern. */
  readonly isChecked: boolean;
}

// What JSON.stringify leaves as it is; other escapes, fractions, exponents and numbers of more than
// 15 digits are left to JSON.parse. No two parts of it match the same text, or an attacker could
// have it tried in all the ways there are.
const CHARACTERS = String.raw`[^"\\\x00-\x1f]*`;
const ASCII = String.raw`[^"\\\x00-\x1f\x7f-\xff]*`;
const STRING = String.raw`"${CHARACTERS}(?:\\["\\bfnrt]${CHARACTERS})*"`;
const INTEGER = '(?:0|-?[1-9][0-9]{0,14})';

/** U+2028 and U+2029, which JSON.stringify leaves and a stored line must not have. */
const SEPARATORS = ['\u00e2\u0080\u00a8', '\u00e2\u0080\u00a9'] as const;

/**
 * Finds the objects that need not be parsed: valid, and spelt just as `JSON.stringify` would spell
 * what the schema makes of them.
 * @param schema an object's.
 * @param key a required field of it, a string.
 * @returns gives the field's value for a text that is such an object, a character for each byte
 *   of UTF-8. `undefined` says nothing of the text: it may be valid and spelt otherwise, or the
 *   schema may have no pattern.
 */
export function verbatim(schema: object, key: string): (text: string) => string | undefined {
  const pattern = patternOf(schema, { captured: new Set([key]), isChecked: true });
  const at = pattern?.groups.findIndex(({ path }) => path === key) ?? -1;
  if (pattern === undefined || at < 0) return () => undefined;
  const whole = new RegExp(`^${pattern.source}$`, 'u');
  const { groups } = pattern;
  return (text) => {
    const match = whole.exec(text);
    if (match === null) return undefined;
    if (text.includes(SEPARATORS[0]) || text.includes(SEPARATORS[1])) return undefined;
    for (let i = 0; i < groups.length; i++) {
      const value = match[i + 1];
      if (value === undefined) continue; // an absent field
      for (const test of groups[i]!.tests) if (!test(value)) return undefined;
    }
    return match[at + 1];
  };
}

/**
 * The texts of a schema's values, spelt as `JSON.stringify` spells them.
 * @returns `undefined` where there is no pattern: parse.
 */
export function patternOf(schema: object, wanted: Wanted): Pattern | undefined {
  return valuePattern(schema as SchemaPart, '', wanted);
}

function valuePattern(part: SchemaPart, path: string, wanted: Wanted): Pattern | undefined {
  let inner = part;
  let isNullable = false;
  while ((mayBeAbsent(inner) || inner.type === 'nullable') && isPlain(inner)) {
    isNullable ||= inner.type.startsWith('null');
    inner = inner.wrapped!;
  }
  const pattern = barePattern(inner, path, wanted);
  if (!isNullable || pattern === undefined) return pattern;
  return { ...pattern, source: `(?:null|${pattern.source})` };
}

function barePattern(part: SchemaPart, path: string, wanted: Wanted): Pattern | undefined {
  if (part.async === true || part.fallback !== undefined) return undefined;
  switch (part.type) {
    case 'string':
      return scalarPattern(part, path, wanted, isPlain(part));
    case 'picklist':
    case 'enum':
    case 'literal':
      return scalarPattern(part, path, wanted, false);
    case 'number':
      return scalarPattern(part, path, wanted, actionsOf(part).every(holdsForIntegers));
    case 'boolean':
      return isPlain(part) ? { source: '(?:true|false)', groups: [] } : undefined;
    case 'array':
      return arrayPattern(part, path, wanted);
    case 'strict_object':
      return isPlain(part) ? objectPattern(part.entries!, path, wanted) : undefined;
    default:
      return undefined;
  }
}

/** @param isFree whether every string or integer will do. */
function scalarPattern(part: SchemaPart, path: string, wanted: Wanted, isFree: boolean): Pattern {
  const isNumber = part.type === 'number';
  const isCaptured = wanted.captured.has(path) || (wanted.isChecked && !isFree);
  if (!isCaptured) return { source: isNumber ? INTEGER : STRING, groups: [] };
  const tests = isFree ? [] : testsOf(part);
  const characters = wanted.isChecked && !isFree && !holdsForBytes(part) ? ASCII : CHARACTERS;
  const source = isNumber ? `(${INTEGER})` : `"(${characters})"`;
  return { source, groups: [{ path, tests }] };
}

function arrayPattern(part: SchemaPart, path: string, wanted: Wanted): Pattern | undefined {
  const isFree = isPlain(part) || !wanted.isChecked;
  const item = isFree ? valuePattern(part.item!, `${path}[]`, wanted) : undefined;
  // Of what is repeated only the last is captured.
  if (item?.groups.length === 0) {
    return { source: String.raw`\[(?:${item.source}(?:,${item.source})*)?\]`, groups: [] };
  }
  return isLeftAlone(part, []) ? { source: String.raw`\[\]`, groups: [] } : undefined;
}

function objectPattern(entries: Entries, path: string, wanted: Wanted): Pattern | undefined {
  const fields: { readonly source: string; readonly isOptional: boolean }[] = [];
  const groups: Group[] = [];
  for (const [key, part] of Object.entries(entries)) {
    const isOptional = mayBeAbsent(part);
    // What an absent field becomes is not in the text.
    if (isOptional && !isPlain(part)) return undefined;
    const value = valuePattern(part, path === '' ? key : `${path}.${key}`, wanted);
    if (value !== undefined) {
      fields.push({ source: `${literally(JSON.stringify(key))}:${value.source}`, isOptional });
      groups.push(...value.groups);
    } else if (!isOptional) return undefined;
  }
  return { source: String.raw`\{${joined(fields)}\}`, groups };
}

/** A comma follows each field before the first required one, and precedes each after it. */
function joined(fields: readonly { source: string; isOptional: boolean }[]): string {
  const first = fields.findIndex(({ isOptional }) => !isOptional);
  return fields
    .map(({ source, isOptional }, i) => {
      if (!isOptional) return i === first ? source : `,${source}`;
      // Where none is required, one that ends the object has no comma.
      const after = first < 0 ? String.raw`(?:,(?=")|(?=\}))` : ',';
      return first >= 0 && i > first ? `(?:,${source})?` : `(?:${source}${after})?`;
    })
    .join('');
}

const literally = (text: string): string => text.replace(/[\\^$.*+?()[\]{}|]/g, String.raw`\$&`);

/** What a pipe does beyond its schema. */
const actionsOf = ({ pipe = [] }: SchemaPart): readonly SchemaPart[] =>
  pipe.flatMap((item, i) => (i === 0 ? actionsOf(item) : item.kind === 'metadata' ? [] : item));

/** Whether nothing is added to the schema itself: no condition, no change, no default. */
const isPlain = (part: SchemaPart): boolean =>
  actionsOf(part).length === 0 &&
  part.default === undefined &&
  part.fallback === undefined &&
  part.async !== true;

const holdsForIntegers = ({ type }: SchemaPart): boolean =>
  type === 'integer' || type === 'safe_integer';

/** Whether its tests say the same of a text's bytes as of the text, or refuse what they could take. */
const holdsForBytes = (part: SchemaPart): boolean =>
  part.type === 'string' &&
  actionsOf(part).every(({ type }) => ['non_empty', 'max_length', 'starts_with'].includes(type));

/** Valibot's own way through a pipe costs a fiftieth of all speed. */
function testsOf(part: SchemaPart): readonly Test[] {
  const tests = part.type === 'string' ? actionsOf(part).map(testOf) : [undefined];
  if (tests.every((test) => test !== undefined)) return tests;
  return [(text) => isLeftAlone(part, part.type === 'number' ? Number(text) : text)];
}

function testOf({ type, requirement }: SchemaPart): Test | undefined {
  switch (type) {
    case 'check':
      return requirement as Test;
    case 'regex':
      return (text) => (requirement as RegExp).test(text);
    case 'non_empty':
      return (text) => text.length > 0;
    case 'max_length':
      return (text) => text.length <= (requirement as number);
    case 'starts_with': {
      const start = bytewise(Buffer.from(requirement as string));
      return (text) => text.startsWith(start);
    }
    default:
      return undefined;
  }
}

function isLeftAlone(part: SchemaPart, value: string | number | readonly []): boolean {
  const schema = part as unknown as v.GenericSchema;
  const { success, output } = v.safeParse(schema, value, { abortEarly: true });
  return success && (output === value || (Array.isArray(output) && output.length === 0));
}
