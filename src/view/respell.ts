// A view that is valid but spelt otherwise than it is stored, as by a page that has its fields in
// another order, or by a program that writes spaces: its values are cut out and put together as
// they are stored. Nothing is made of it but texts, which gives such views a fourth more speed than
// parsing, checking and spelling them anew: on Node 1.26, with spaces 1.07, on Deno 1.15, on Bun 1.2.
//
// All that is looked at here is where values begin and end. What comes out has to match the pattern
// of a stored view, and no value does that was cut out wrongly. So what is not understood here
// costs speed and nothing else.

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const COLON = 0x3a;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;

/**
 * @param fields of an object, in the order in which they are stored.
 * @returns makes of an object's text, a character for each byte of UTF-8, the one that is stored,
 *   but for numbers and for what is in arrays and objects, which keep their spelling; of what is no
 *   object any text. `undefined` where it has another field, one twice, or is not so easily cut. It
 *   takes time that is linear in the text's length.
 */
export function respeller(fields: readonly string[]): (text: string) => string | undefined {
  const keys = fields.map((field) => `${JSON.stringify(field)}:`);
  const letters = keys.map((key) => key.charCodeAt(1));
  /** Of the field whose key stands there, its colon right behind it. */
  const placeAt = (text: string, at: number): number => {
    const letter = text.charCodeAt(at + 1);
    for (let place = 0; place < keys.length; place++) {
      if (letters[place] === letter && text.startsWith(keys[place]!, at)) return place;
    }
    return -1;
  };

  return (text) => {
    // To spell these as JSON.stringify does takes as long as parsing all.
    if (text.includes('\\u') || text.includes('\\/')) return undefined;
    const members = keys.map(() => '');
    let at = afterSpace(text, 0);
    if (text.charCodeAt(at) !== OPEN_BRACE) return undefined;
    do {
      const from = afterSpace(text, at + 1);
      const place = placeAt(text, from);
      if (place < 0 || members[place] !== '') return undefined;
      const key = keys[place]!;
      const start = afterSpace(text, from + key.length);
      const end = endOfValue(text, start);
      if (isOpening(text.charCodeAt(start))) {
        const value = withoutSpace(text.slice(start, end));
        if (value === undefined) return undefined;
        members[place] = key + value;
      } else if (start === from + key.length) members[place] = text.slice(from, end);
      else members[place] = key + text.slice(start, end);
      at = afterSpace(text, end);
    } while (text.charCodeAt(at) === COMMA);
    const isWhole = text.charCodeAt(at) === CLOSE_BRACE && afterSpace(text, at + 1) === text.length;
    return isWhole ? `{${members.filter((member) => member !== '').join(',')}}` : undefined;
  };
}

function afterSpace(text: string, from: number): number {
  let at = from;
  while (isSpace(text.charCodeAt(at))) at += 1;
  return at;
}

const isSpace = (code: number): boolean =>
  code === 0x20 || code === 0x0a || code === 0x0d || code === 0x09;

/** @param at where its quote is. */
function endOfString(text: string, at: number): number {
  let end = at;
  do end = text.indexOf('"', end + 1);
  while (end > 0 && isEscaped(text, end));
  return end < 0 ? text.length : end + 1;
}

function isEscaped(text: string, at: number): boolean {
  let before = at;
  while (text.charCodeAt(before - 1) === BACKSLASH) before -= 1;
  return (at - before) % 2 === 1;
}

function endOfValue(text: string, from: number): number {
  const first = text.charCodeAt(from);
  if (first === QUOTE) return endOfString(text, from);
  if (isOpening(first)) return endOfNested(text, from);
  let at = from;
  while (at < text.length && !endsScalar(text.charCodeAt(at))) at += 1;
  return at;
}

/** @param from where an array or object begins. */
export function endOfNested(text: string, from: number): number {
  let depth = 0;
  for (let at = from; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) at = endOfString(text, at) - 1;
    else if (isOpening(code)) depth += 1;
    else if (isClosing(code)) depth -= 1;
    if (depth === 0) return at + 1;
  }
  return text.length;
}

/** Space beside brackets, colons and commas can go; elsewhere it parts what would become one. */
function withoutSpace(value: string): string | undefined {
  let kept = '';
  let from = 0;
  for (let at = 0; at < value.length; at++) {
    const code = value.charCodeAt(at);
    if (code === QUOTE) at = endOfString(value, at) - 1;
    if (!isSpace(code)) continue;
    const end = afterSpace(value, at);
    const isBeside = isStructural(value.charCodeAt(at - 1)) || isStructural(value.charCodeAt(end));
    if (!isBeside) return undefined;
    kept += value.slice(from, at);
    from = end;
    at = end - 1;
  }
  return kept + value.slice(from);
}

const isOpening = (code: number): boolean => code === 0x5b || code === OPEN_BRACE;

const isClosing = (code: number): boolean => code === 0x5d || code === CLOSE_BRACE;

const isStructural = (code: number): boolean =>
  isOpening(code) || isClosing(code) || code === COMMA || code === COLON;

const endsScalar = (code: number): boolean => code === COMMA || isClosing(code) || isSpace(code);
