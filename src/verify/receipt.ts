import { copyOf } from '../base/text.ts';
import { readBlocks } from '../disk/lines.ts';
import { HEAD_PATTERN, readHead } from '../view/line.ts';
import { patternOf } from '../view/pattern.ts';
import { ViewSchema } from '../view/view-schema.ts';

/** The views of one UTC day of `ts`. */
interface DayReceipt {
  views: number;
  // The two halves of the last 12 hex digits of the ids, added up apart: exact for 500 million views.
  highSum: number;
  lowSum: number;
}

/** Adds up views so that a warehouse that has each of them exactly once has the same sums. */
export class Receipt {
  /** Lines that are not views, such as fragments. */
  otherLines = 0;
  readonly #days = new Map<string, DayReceipt>();

  /** @throws {Fatal} exit 74 or 65 if the file can't be read to its end. */
  async addFile(path: string): Promise<void> {
    for await (const { lines, damaged } of readBlocks(path, 'latin1')) {
      for (const [i, line] of lines.entries()) {
        const head = damaged.has(i) ? undefined : headOfView(line);
        if (head === undefined) this.otherLines += 1;
        else this.#add(head.ts.slice(0, 10), head.id);
      }
    }
  }

  /**
   * Returns for each day, ascending, the day, the number of views, and the sum of the last 12 hex
   * digits of their ids modulo 2^64.
   */
  days(): [day: string, views: number, sum: bigint][] {
    const days = [...this.#days].sort(([a], [b]) => (a < b ? -1 : 1));
    return days.map(([day, { views, highSum, lowSum }]) => {
      return [day, views, BigInt.asUintN(64, (BigInt(highSum) << 24n) + BigInt(lowSum))];
    });
  }

  #add(day: string, id: string): void {
    let sums = this.#days.get(day);
    if (sums === undefined) {
      sums = { views: 0, highSum: 0, lowSum: 0 };
      this.#days.set(copyOf(day), sums);
    }
    sums.views += 1;
    sums.highSum += Number.parseInt(id.slice(-12, -6), 16);
    sums.lowSum += Number.parseInt(id.slice(-6), 16);
  }
}

/** Matches nothing if no pattern can be made of the schema. */
const { source } = patternOf(ViewSchema, new Set()) ?? { source: String.raw`\{(?!)` };
const USUAL = new RegExp(`^${HEAD_PATTERN}${source.slice(String.raw`\{`.length)}$`, 'u');

/**
 * Returns `ts` and `id` of a line with a character for each byte; `undefined` if it is not a whole
 * JSON object that begins with them. The pattern takes a third of the time of parsing.
 */
function headOfView(line: string): ReturnType<typeof readHead> {
  const [, ts, id] = USUAL.exec(line) ?? [];
  if (ts !== undefined && id !== undefined) return { ts, id };
  const head = readHead(line);
  return head !== undefined && isJson(line) ? head : undefined;
}

function isJson(line: string): boolean {
  try {
    JSON.parse(line);
    return true;
  } catch {
    return false;
  }
}
