import { isJson } from '../base/json.ts';
import { copyOf } from '../base/text.ts';
import { readBlocks } from '../disk/lines.ts';
import { HEAD_BYTES, HEAD_PATTERN, readHead } from '../view/line.ts';

/** The views of one UTC day of `ts`. */
interface DayReceipt {
  /** `YYYY-MM-DD` */
  readonly day: string;
  views: number;
  /** The sum of the last 12 hex digits of the ids, without the carries: exact in a number. */
  sum: number;
  carries: number;
}

const CARRY = 2 ** 52;
/** The places of a line's day and of the last 12 hex digits of its id. */
const DAY = { from: '{"ts":"'.length, length: 'YYYY-MM-DD'.length };
const DIGITS = { from: HEAD_BYTES - '",'.length - 12, to: HEAD_BYTES - '",'.length };

/** Adds up views so that a warehouse that has each of them exactly once has the same sums. */
export class Receipt {
  /** Lines that aren't views, such as fragments. */
  otherLines = 0;
  readonly #days = new Map<string, DayReceipt>();
  #last: DayReceipt | undefined;

  /** @throws {Fatal} exit 74 or 65 if the file can't be read to its end. */
  async addFile(path: string): Promise<void> {
    for await (const { text, damaged } of readBlocks(path, 'latin1')) {
      let end: number;
      for (let start = 0, i = 0; start < text.length; start = end, i++) {
        USUAL.lastIndex = start;
        const isUsual = USUAL.test(text);
        end = isUsual ? USUAL.lastIndex : text.indexOf('\n', start) + 1;
        if (end === 0) break; // the last line may be unfinished
        if ((isUsual || isView(text.slice(start, end - 1))) && !damaged.has(i)) {
          this.#add(text, start);
        } else this.otherLines += 1;
      }
    }
  }

  /**
   * Returns for each day, ascending, the day, the number of views, and the sum of the last 12 hex
   * digits of their ids modulo 2^64.
   */
  days(): [day: string, views: number, sum: bigint][] {
    const days = [...this.#days.values()].sort((a, b) => (a.day < b.day ? -1 : 1));
    return days.map(({ day, views, sum, carries }) => {
      return [day, views, BigInt.asUintN(64, BigInt(carries) * BigInt(CARRY) + BigInt(sum))];
    });
  }

  /** @param start where the line begins in the text. */
  #add(text: string, start: number): void {
    const day = this.#dayOf(text, start + DAY.from);
    day.views += 1;
    day.sum += Number.parseInt(text.slice(start + DIGITS.from, start + DIGITS.to), 16);
    if (day.sum < CARRY) return;
    day.sum -= CARRY;
    day.carries += 1;
  }

  /** Lines come in the order of time, so most have the day of the line before. */
  #dayOf(text: string, at: number): DayReceipt {
    if (this.#last !== undefined && text.startsWith(this.#last.day, at)) return this.#last;
    const day = copyOf(text.slice(at, at + DAY.length));
    this.#last = this.#days.get(day) ?? { day, views: 0, sum: 0, carries: 0 };
    this.#days.set(day, this.#last);
    return this.#last;
  }
}

// A crash can cut a line off after an inner brace, so the brackets of a whole line must match. The
// expression finds the end of each value before the next, so it never backtracks.
const TEXT = String.raw`[^"\\\x00-\x1f]*`;
const STRING = String.raw`"${TEXT}(?:\\.${TEXT})*"`;
const fieldsOf = (value: string): string => String.raw`(?:"${TEXT}":${value}(?:,|(?=\})))*\}`;
let value = '(?!)';
// Lines with more levels of brackets are parsed.
for (let levels = 0; levels < 5; levels++) {
  value = String.raw`(?:${STRING}|[-+.\w]+|\[(?:${value}(?:,|(?=\])))*\]|\{${fieldsOf(value)})`;
}
/** A whole line, with its newline. The expression takes a tenth of the time of parsing. */
const USUAL = new RegExp(`${HEAD_PATTERN}${fieldsOf(value)}\n`, 'y');

/** Returns whether a line is a whole JSON object that begins with `ts` and `id`. */
const isView = (line: string): boolean => readHead(line) !== undefined && isJson(line);
