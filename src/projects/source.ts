/** A text, and where in it an offset is. */
export class Source {
  readonly text: string;
  #lineStarts: readonly number[] | undefined;

  constructor(text: string) {
    this.text = text;
  }

  /** Line and column as editors count them: from 1, columns in UTF-16 units. */
  place(offset: number): { line: number; column: number } {
    this.#lineStarts ??= [0, ...Array.from(this.text.matchAll(/\r\n|\r|\n/g), endOf)];
    // A file can be faulty on every line, so the line is searched for, not counted out.
    let low = 0;
    let high = this.#lineStarts.length;
    while (high - low > 1) {
      const middle = (low + high) >> 1;
      if (this.#lineStarts[middle]! <= offset) low = middle;
      else high = middle;
    }
    return { line: low + 1, column: offset - this.#lineStarts[low]! + 1 };
  }
}

const endOf = (match: RegExpExecArray): number => match.index + match[0].length;
