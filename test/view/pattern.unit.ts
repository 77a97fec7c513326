import * as fc from 'fast-check';
import * as v from 'valibot';
import { expect, it } from 'vitest';
import { verbatim } from '../../src/view/pattern.ts';

/** Calls it as the collector does: with a character for each byte. */
const bytewise = (schema: object, key: string): ((text: string) => string | undefined) => {
  const valueOf = verbatim(schema, key);
  return (text) => valueOf(Buffer.from(text).toString('latin1'));
};

const string = v.string();
const integer = v.pipe(v.number(), v.integer());
const pid = v.pipe(string, v.nonEmpty());
const middle = v.strictObject({ a: v.optional(string), b: string, c: v.optional(v.boolean()) });
const checked = v.pipe(
  v.strictObject({ a: string }),
  v.check(({ a }) => a > 'a'),
);

// Each as an optional field beside a required one.
const KINDS: [string, v.GenericSchema, matched: unknown[], parsed: unknown[]][] = [
  ['any string', string, ['', 'å家🎈', '"\\\b\f\n\r\t/'], ['\u2028', '\u2029', '\u0001']],
  ['a longest length', v.pipe(string, v.maxLength(4)), ['åå', '🎈'], ['ååååå']],
  ['a start beyond ASCII', v.pipe(string, v.startsWith('å')), ['å', 'å家'], ['a', 'Å']],
  ['a regex', v.pipe(string, v.regex(/^\S*$/)), ['abc'], ['a\u2003c', 'ab cd']],
  ['a regex for code points', v.pipe(string, v.regex(/^.{0,3}$/u)), ['abc'], ['家', 'abcd']],
  ['a pipe in a pipe', v.pipe(v.pipe(string, v.nonEmpty()), v.maxLength(2)), ['ab'], ['abc']],
  ['a shortest length', v.pipe(string, v.minLength(3)), [], ['abc', 'ab']],
  ['a change', v.pipe(string, v.trim()), [], ['ab', ' ab']],
  ['an integer', integer, [0, -999_999_999_999_999], [1.5, 1e15, 1e300]],
  ['any number', v.number(), [], [0, 1.5]],
  ['a smallest number', v.pipe(v.number(), v.integer(), v.minValue(1)), [], [0, 1]],
  ['a list of words', v.picklist(['light', 'dark']), [], ['light', 'Light']],
  ['null or a string', v.nullable(string), [], [null, 'x', 1]],
  ['an array of integers', v.array(integer), [[], [1, -2]], [['a'], [0.5]]],
  ['an array of conditions', v.array(pid), [[]], [['a'], ['']]],
  ['an array that is not empty', v.pipe(v.array(string), v.minLength(1)), [], [['a'], []]],
  ['a required field in the middle', middle, [{ b: '' }, { a: '', b: '', c: true }], [{ a: '' }]],
  ['an object of optional fields', v.strictObject({ a: v.optional(string) }), [], [{}, { a: '' }]],
  ['odd characters in a name', v.strictObject({ 'a.b"\\(c)': string }), [{ 'a.b"\\(c)': '' }], []],
  ['any object', v.object({ a: string }), [], [{ a: '' }, { a: '', b: 1 }]],
  ['a condition on an object', checked, [], [{ a: 'b' }, { a: 'a' }]],
  ['anything', v.unknown(), [], [1, null, 'a', {}]],
  ['a substitute for what is wrong', v.fallback(string, 'x'), [], ['a', 1]],
];

it.each(KINDS)('%s: takes what it knows, and leaves the rest to parsing', (_, field, ...values) => {
  const idOf = bytewise(v.strictObject({ pid, field: v.optional(field) }), 'pid');
  const valueOf = (value: unknown) => idOf(JSON.stringify({ pid: '1', field: value }));
  const [matched, parsed] = values;
  for (const value of matched) expect([value, valueOf(value)]).toStrictEqual([value, '1']);
  for (const value of parsed) expect([value, valueOf(value)]).toStrictEqual([value, undefined]);
  expect(idOf('{"pid":"1"}')).toBe('1');
  expect(idOf('{"pid":"1",}')).toBeUndefined();
});

it.each(KINDS)('%s: takes nothing that parsing would refuse or change', (_, field, ...values) => {
  const schema = v.strictObject({ field: v.optional(field), pid });
  const idOf = bytewise(schema, 'pid');
  const value = fc.oneof(fc.constantFrom(...values.flat()), fc.jsonValue({ depthSize: 'small' }));
  const piece = fc.constantFrom('', ',', ' ', '"pid":"2",', ',"field":""');
  fc.assert(
    fc.property(value, piece, (sent, between) => {
      const text = `{"field":${JSON.stringify(sent)},${between}"pid":"1"}`;
      if (idOf(text) === undefined) return;
      expect(JSON.stringify(v.parse(schema, JSON.parse(text)))).toBe(text);
    }),
  );
});

it('takes nothing if a required field is unknown to it, or an absent one has a default', () => {
  const defaults = [v.optional(string, 'x'), v.fallback(v.optional(string), 'x')];
  for (const q of [v.date(), ...defaults]) {
    const idOf = bytewise(v.strictObject({ pid, q }), 'pid');
    expect(idOf('{"pid":"1","q":"x"}')).toBeUndefined();
    expect(idOf('{"pid":"1"}')).toBeUndefined();
  }
  expect(bytewise(v.strictObject({ pid }), 'none')('{"pid":"1"}')).toBeUndefined();
  expect(bytewise(v.date(), 'pid')('{"pid":"1"}')).toBeUndefined();
});
