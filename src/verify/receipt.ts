import { copyOf } from '../base/text.ts';
import { readBlocks } from '../disk/lines.ts';
import { HEAD_BYTES, HEAD_PATTERN, readHead } from '../view/line.ts';
import { patternOf } from '../view/pattern.ts';
import { ViewSchema } from '../view/view-schema.ts';

/** The views of one UTC day of `ts`. */
interface DayReceipt {
  /** `YYYY-MM-DD` */
  readonly day: string;
  views: number;
  /** The sum of the last 12 hex digits of the ids, without the carries: exact in a number. */
  sum: number;
  carries: number;
}

const CARRY_BITS = 52n;
const CARRY = 2 ** Number(CARRY_BITS);
/** Where a line has its day, and the last 12 hex digits of its id. */
const DAY = { from: '{"ts":"'.length, length: 'YYYY-MM-DD'.length };
const DIGITS = { from: HEAD_BYTES - '",'.length - 12, to: HEAD_BYTES - '",'.length };

/** Adds up views so that a warehouse that has each of them exactly once has the same sums. */
export class Receipt {
  /** Lines that are not views, such as fragments. */
  otherLines = 0;
  readonly #days = new Map<string, DayReceipt>();
  #last: DayReceipt | undefined;

  /** @throws {Fatal} exit 74 or 65 if the file can't be read to its end. */
  async addFile(path: string): Promise<void> {
    for await (const { lines, damaged } of readBlocks(path, 'latin1')) {
      for (let i = 0; i < lines.length; i++) {
        const line = lines[i]!;
        if (isView(line) && !damaged.has(i)) this.#add(line);
        else this.otherLines += 1;
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
      return [day, views, BigInt.asUintN(64, (BigInt(carries) << CARRY_BITS) + BigInt(sum))];
    });
  }

  #add(line: string): void {
    const day = this.#dayOf(line);
    day.views += 1;
    day.sum += Number.parseInt(line.slice(DIGITS.from, DIGITS.to), 16);
    if (day.sum < CARRY) return;
    day.sum -= CARRY;
    day.carries += 1;
  }

  /** Lines come in the order of time, so most have the day of the line before. */
  #dayOf(line: string): DayReceipt {
    if (this.#last !== undefined && line.startsWith(this.#last.day, DAY.from)) return this.#last;
    const day = copyOf(line.slice(DAY.from, DAY.from + DAY.length));
    this.#last = this.#days.get(day) ?? { day, views: 0, sum: 0, carries: 0 };
    this.#days.set(day, this.#last);
    return this.#last;
  }
}

/** Matches nothing if no pattern can be made of the schema. */
const { source } = patternOf(ViewSchema, new Set()) ?? { source: String.raw`\{(?!)` };
const USUAL = new RegExp(`^${HEAD_PATTERN}${source.slice(String.raw`\{`.length)}$`, 'u');

/**
 * Returns whether a line with a character for each byte is a whole JSON object that begins with `ts`
 * and `id`. The pattern takes a sixth of the time of parsing.
 */
const isView = (line: string): boolean =>
  USUAL.test(line) || (readHead(line) !== undefined && isJson(line));

function isJson(line: string): boolean {
  try {
    JSON.parse(line);
    return true;
  } catch {
    return false;
  }
}
