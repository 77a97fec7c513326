// Texts as a terminal lays them out.

const WIDE =
  /[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff01-\uff60\uffe0-\uffe6\u{20000}-\u{3fffd}]|\p{Emoji_Presentation}/gu;
/** Marks that stand on the character before them. */
const COMBINING = /[\p{Mn}\p{Me}]/gu;

const countOf = (text: string, kind: RegExp): number => text.match(kind)?.length ?? 0;

/** Columns on a terminal: East Asian characters and pictures take two, combining marks none. */
export const widthOf = (text: string): number =>
  Array.from(text).length + countOf(text, WIDE) - countOf(text, COMBINING);

/** The texts, filled up to the widest: on their left, or on their right. */
export function columnOf(texts: readonly string[], isRight = true): string[] {
  const width = Math.max(...texts.map(widthOf));
  return texts.map((text) => {
    const space = ' '.repeat(width - widthOf(text));
    return isRight ? space + text : text + space;
  });
}
