// Controls, line separators, and the marks that reorder or hide text. A terminal or a log must show
// untrusted text, not obey it.
const UNPRINTABLE =
  // oxlint-disable-next-line no-control-regex
  /[\u0000-\u001f\u007f-\u009f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ufff9-\ufffb]|\p{Surrogate}/gu;

/**
 * Returns untrusted text as a terminal and a log line can show it: unprintable characters as `\u…`
 * escapes, cut with a `…` after `lengthMax` UTF-16 units.
 */
export function printable(text: string, lengthMax = 200): string {
  return clip(text, lengthMax).replace(
    UNPRINTABLE,
    (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

export const capitalised = (text: string): string => text[0]!.toUpperCase() + text.slice(1);

/** Ends a text with a full stop, unless the text ends in one, or in a colon or a question mark. */
export const sentence = (text: string): string => text.replace(/[^.:?]$/, '$&.');

/**
 * Returns typed text as a message can quote it: `printable`, and without the part before an `@`,
 * which may be a password (`nats://user:password@host`).
 */
export const echo = (text: string): string =>
  printable(text.replace(/^([a-z][\w+.-]*:\/\/)?.*@/is, '$1…@'));

/** Returns at most `lengthMax` UTF-16 units of `text`, never half a surrogate pair, `…` if cut. */
export function clip(text: string, lengthMax: number): string {
  if (text.length <= lengthMax) return text;
  const cut = text.slice(0, lengthMax - 1);
  const last = cut.charCodeAt(cut.length - 1);
  return `${last >= 0xd800 && last <= 0xdbff ? cut.slice(0, -1) : cut}…`;
}

/**
 * Returns the known name that `word` was probably meant to be, ignoring letter case: the nearest
 * one with at most this many typos. `undefined` if none is near.
 */
export function nearest(
  word: string,
  names: Iterable<string>,
  typosMax = word.length <= 4 ? 1 : 2,
): string | undefined {
  if (word.length > 64) return undefined;
  const known = [...names];
  for (let typos = 0; typos <= typosMax; typos++) {
    // If every letter differs ("ab" for "p"), it isn't a typo.
    const near = known.find((name) => {
      const isWhole = typos >= Math.max(word.length, name.length);
      return !isWhole && isWithin(typos, word.toLowerCase(), name.toLowerCase());
    });
    if (near !== undefined) return near;
  }
  return undefined;
}

/**
 * Returns whether this many typos can turn `a` into `b`: a letter too many, too few or wrong, or
 * two swapped.
 */
function isWithin(typos: number, a: string, b: string): boolean {
  if (Math.abs(a.length - b.length) > typos) return false;
  let same = 0;
  while (same < a.length && a[same] === b[same]) same++;
  const [x, y] = [a.slice(same), b.slice(same)];
  if (x === y || typos === 0) return x === y;
  const left = typos - 1;
  return (
    isWithin(left, x.slice(1), y) ||
    isWithin(left, x, y.slice(1)) ||
    isWithin(left, x.slice(1), y.slice(1)) ||
    (x[0] === y[1] && x[1] === y[0] && isWithin(left, x.slice(2), y.slice(2)))
  );
}

/** Returns one word of a shell's command line, on one line, quoted if needed. */
export function shellQuoted(text: string): string {
  if (/^[\w@%+=:,./-]+$/.test(text)) return text;
  if (text.search(UNPRINTABLE) < 0) return `'${text.replaceAll("'", String.raw`'\''`)}'`;
  // Bash, zsh and ksh read escapes in this kind of quotes.
  const escaped = text.replace(/[\\']/g, String.raw`\$&`).replace(UNPRINTABLE, (c) =>
    Buffer.from(c)
      .toString('hex')
      .replace(/../g, String.raw`\x$&`),
  );
  return `$'${escaped}'`;
}

/** The byte of a newline, in UTF-8 and in Latin-1. */
export const NEWLINE = 0x0a;

/** Returns the texts padded to the widest, on their left or on their right. */
export function columnOf(texts: readonly string[], isRight = true): string[] {
  const width = Math.max(...texts.map(({ length }) => length));
  return texts.map((text) => (isRight ? text.padStart(width) : text.padEnd(width)));
}

/** Returns a text with a character for each byte, U+0000 to U+00FF. */
export const bytewise = (bytes: Uint8Array): string =>
  Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('latin1');

/** Decodes a text with a character for each byte as UTF-8. */
export const textOfBytewise = (text: string): string => Buffer.from(text, 'latin1').toString();

/**
 * Copies a text with a character for each byte. Without the copy, a part of a string would keep the
 * whole string, such as a block of a file, in memory.
 */
export const copyOf = (text: string): string => Buffer.from(text, 'latin1').toString('latin1');
