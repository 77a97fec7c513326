// Most pages spell a view as JSON.stringify does, with its fields in the schema's order, and then
// its text is stored as it came. One regular expression, made from the schema, tells such a view
// from any other in a fifth of the time that parsing, checking and spelling it anew takes. It pays
// 20 % of all speed on Node and Deno, 10 % on Bun.

/** What is read of valibot's schemas and of the actions in their pipes. */
interface SchemaPart {
  readonly type: string;
  readonly pipe?: readonly SchemaPart[];
  readonly wrapped?: SchemaPart;
  readonly item?: SchemaPart;
  readonly entries?: Readonly<Record<string, SchemaPart>>;
  readonly requirement?: unknown;
}

/** A string with conditions that are not in the pattern. */
interface Captured {
  readonly path: string;
  readonly tests: readonly ((text: string) => boolean)[];
}

// What JSON.stringify leaves as it is; other escapes, fractions, exponents and numbers of more than
// 15 digits are left to JSON.parse. No two parts of it match the same text, or an attacker could
// have it tried in all the ways there are.
const CHARACTERS = String.raw`[^"\\\x00-\x1f\u2028\u2029\ud800-\udfff]*`;
const STRING = String.raw`"${CHARACTERS}(?:\\["\\bfnrt]${CHARACTERS})*"`;
const INTEGER = '(?:0|-?[1-9][0-9]{0,14})';

/** Longer texts are rare, and the regular expressions of some runtimes slow with them. */
const LENGTH_MAX = 16 * 1024;

/**
 * Finds the objects that need not be parsed: valid, and spelt just as `JSON.stringify` would spell
 * what the schema makes of them.
 * @param schema an object's, of the kinds that the view has: another one is a TypeError, at once.
 * @param key a required field of it, a string with conditions.
 * @returns gives the field's value for a text that is such an object. `undefined` says nothing of
 *   the text: it may be valid and spelt otherwise.
 */
export function verbatim(schema: object, key: string): (text: string) => string | undefined {
  const captured: Captured[] = [];
  const pattern = new RegExp(`^${patternOf(schema as SchemaPart, '', captured)}$`, 'u');
  const index = captured.findIndex(({ path }) => path === `.${key}`);
  if (index < 0) throw new TypeError(`"${key}" is no string with conditions`);
  return (text) => {
    if (text.length > LENGTH_MAX) return undefined;
    const match = pattern.exec(text);
    if (match === null) return undefined;
    for (let i = 0; i < captured.length; i++) {
      const value = match[i + 1];
      if (value === undefined) continue; // an absent field
      for (const test of captured[i]!.tests) if (!test(value)) return undefined;
    }
    return match[index + 1];
  };
}

function patternOf(part: SchemaPart, path: string, captured: Captured[]): string {
  const { type, item, entries } = part;
  // A pipe's first item is the schema itself.
  const actions = part.pipe?.slice(1) ?? [];
  const kinds = actions.map((action) => action.type).join();
  if (type === 'string' && kinds === '') return STRING;
  if (type === 'string') {
    captured.push({ path, tests: actions.map(testOf) });
    return `"(${CHARACTERS})"`;
  }
  if (type === 'number' && kinds === 'integer,safe_integer') return INTEGER;
  if (type === 'boolean' && kinds === '') return '(?:true|false)';
  if (type === 'array' && item!.type === 'unknown' && actions.every(takesNone)) return '\\[\\]';
  if (type === 'array' && kinds === '') {
    const before = captured.length;
    const one = patternOf(item!, `${path}[]`, captured);
    // Of what is repeated only the last is captured.
    if (captured.length > before) throw new TypeError(`No pattern for "${path}", with conditions`);
    return `\\[(?:${one}(?:,${one})*)?\\]`;
  }
  if (type === 'strict_object' && kinds === '') return objectPattern(entries!, path, captured);
  throw new TypeError(`No pattern for "${path}", ${[type, ...actions.map((a) => a.type)].join()}`);
}

function objectPattern(
  entries: Readonly<Record<string, SchemaPart>>,
  path: string,
  captured: Captured[],
): string {
  let pattern = '';
  // A comma follows each field before the first required one, and precedes each after it.
  let isAfterRequired = false;
  for (const [key, part] of Object.entries(entries)) {
    const field = `"${key}":${patternOf(part.wrapped ?? part, `${path}.${key}`, captured)}`;
    const withComma = isAfterRequired ? `,${field}` : `${field},`;
    if (part.type === 'optional') pattern += `(?:${withComma})?`;
    else pattern += isAfterRequired ? withComma : field;
    isAfterRequired ||= part.type !== 'optional';
  }
  return `\\{${pattern}\\}`;
}

/** Whether an array's condition takes an empty array. */
const takesNone = ({ type, requirement }: SchemaPart): boolean =>
  type === 'check' && (requirement as (array: unknown[]) => boolean)([]);

function testOf({ type, requirement }: SchemaPart): Captured['tests'][number] {
  switch (type) {
    case 'check':
      return requirement as (text: string) => boolean;
    case 'regex':
      return (text) => (requirement as RegExp).test(text);
    case 'non_empty':
      return (text) => text.length > 0;
    case 'max_length':
      return (text) => text.length <= (requirement as number);
    case 'starts_with':
      return (text) => text.startsWith(requirement as string);
    default:
      throw new TypeError(`No pattern for a string's ${type}`);
  }
}
