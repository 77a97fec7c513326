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

/**
 * Returns typed text for a message about it: `printable`, and without what is before an `@`, which
 * may be a password (`nats://user:password@host`).
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
 * Returns the name that `word` was probably meant to be: at most so many typos away, letter case
 * aside. `undefined` if none is near.
 */
export function nearest(
  word: string,
  names: Iterable<string>,
  typosMax = word.length <= 4 ? 1 : 2,
): string | undefined {
  if (word.length > 64) return undefined;
  let best: string | undefined;
  let fewest = typosMax + 1;
  for (const name of names) {
    const typos = typosBetween(word.toLowerCase(), name.toLowerCase(), fewest);
    // A word replaced as a whole ("ab" for "p") is no typo.
    if (typos < fewest && typos < Math.max(word.length, name.length)) {
      best = name;
      fewest = typos;
    }
  }
  return best;
}

/** Optimal string alignment distance (swaps count once); `typosMax` or more ends it early. */
function typosBetween(a: string, b: string, typosMax: number): number {
  if (Math.abs(a.length - b.length) >= typosMax) return typosMax;
  let beforePrevious: number[] = [];
  let previous = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i++) {
    const current = [i];
    for (let j = 1; j <= b.length; j++) {
      const same = a[i - 1] === b[j - 1] ? 0 : 1;
      let typos = Math.min(previous[j]! + 1, current[j - 1]! + 1, previous[j - 1]! + same);
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) {
        typos = Math.min(typos, beforePrevious[j - 2]! + 1);
      }
      current.push(typos);
    }
    beforePrevious = previous;
    previous = current;
  }
  return previous[b.length]!;
}

/** Returns one word of a shell's command line, quoted if needed. */
export const shellQuoted = (text: string): string =>
  /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`;

/** As a byte, in UTF-8 and in Latin-1. */
export const NEWLINE = 0x0a;

const WIDE =
  /[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff01-\uff60\uffe0-\uffe6\u{20000}-\u{3fffd}]|\p{Emoji_Presentation}/gu;
/** Marks on the character before them. */
const COMBINING = /[\p{Mn}\p{Me}]/gu;

const countOf = (text: string, kind: RegExp): number => text.match(kind)?.length ?? 0;

/** Returns a text's columns on a terminal: wide characters take two, combining marks none. */
export const widthOf = (text: string): number =>
  Array.from(text).length + countOf(text, WIDE) - countOf(text, COMBINING);

/** Returns the texts padded to the widest, on their left or on their right. */
export function columnOf(texts: readonly string[], isRight = true): string[] {
  const width = Math.max(...texts.map(widthOf));
  return texts.map((text) => {
    const space = ' '.repeat(width - widthOf(text));
    return isRight ? space + text : text + space;
  });
}
