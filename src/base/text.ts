// Controls, line separators, and the marks that reorder or hide text: a terminal or a log must
// show what a stranger sent, not obey it.
const UNPRINTABLE =
  // oxlint-disable-next-line no-control-regex
  /[\u0000-\u001f\u007f-\u009f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ufff9-\ufffb]|\p{Surrogate}/gu;

/**
 * A stranger's text, safe on a terminal and in a log line: unprintable characters become `\u…`
 * escapes, and what is over `lengthMax` UTF-16 units is cut off with a `…`.
 */
export function printable(text: string, lengthMax = 200): string {
  return clip(text, lengthMax).replace(
    UNPRINTABLE,
    (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

/**
 * What was typed, for a message about it: `printable`, and without what stands before an `@`, which
 * may be a password (`nats://user:password@host`).
 */
export const echo = (text: string): string =>
  printable(text.replace(/^([a-z][\w+.-]*:\/\/)?.*@/is, '$1…@'));

/** At most `lengthMax` UTF-16 units of `text`, never half a surrogate pair, `…` where cut. */
export function clip(text: string, lengthMax: number): string {
  if (text.length <= lengthMax) return text;
  const cut = text.slice(0, lengthMax - 1);
  const last = cut.charCodeAt(cut.length - 1);
  return `${last >= 0xd800 && last <= 0xdbff ? cut.slice(0, -1) : cut}…`;
}

/**
 * The name that `word` was probably meant to be: the same but for letter case, or at most so many
 * typing slips away (two; one for short words). `undefined` where nothing is near.
 */
export function nearest(
  word: string,
  names: Iterable<string>,
  slipsMax = word.length <= 4 ? 1 : 2,
): string | undefined {
  if (word.length > 64) return undefined;
  let best: string | undefined;
  let bestSlips = slipsMax + 1;
  for (const name of names) {
    const slips = slipsBetween(word.toLowerCase(), name.toLowerCase(), bestSlips);
    // A word replaced as a whole ("ab" for "p") is no typing slip.
    if (slips < bestSlips && slips < Math.max(word.length, name.length)) {
      best = name;
      bestSlips = slips;
    }
  }
  return best;
}

/** Optimal string alignment distance (swaps count once); `slipsMax` or more ends it early. */
function slipsBetween(a: string, b: string, slipsMax: number): number {
  if (Math.abs(a.length - b.length) >= slipsMax) return slipsMax;
  let beforePrevious: number[] = [];
  let previous = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i++) {
    const current = [i];
    for (let j = 1; j <= b.length; j++) {
      const same = a[i - 1] === b[j - 1] ? 0 : 1;
      let slips = Math.min(previous[j]! + 1, current[j - 1]! + 1, previous[j - 1]! + same);
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) {
        slips = Math.min(slips, beforePrevious[j - 2]! + 1);
      }
      current.push(slips);
    }
    beforePrevious = previous;
    previous = current;
  }
  return previous[b.length]!;
}

/** One word of a shell's command line, in quotes where it needs them. */
export const shellQuoted = (text: string): string =>
  /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`;

/** As a byte, of UTF-8 and of Latin-1. */
export const NEWLINE = 0x0a;
