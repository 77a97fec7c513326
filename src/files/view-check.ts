import { isRefusal } from '../refusal.ts';
import { plural, printable } from '../text.ts';
import { parseView } from '../view.ts';
import type { Block } from './lines.ts';
import { isFragment } from './fragment.ts';
import { dayOfName } from './names.ts';

// What the collector puts before a view's fields.
const HEAD =
  /^\{"ts":"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z)","id":"([0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12})",/;
const NUMBERS_MAX = 10;

/** Counts lines of one kind, and remembers where the first of them are. */
class Places {
  count = 0;
  readonly #numbers: string[] = [];

  add(line: number, why = ''): void {
    this.count += 1;
    if (this.count <= NUMBERS_MAX) this.#numbers.push(`${line}${why && ` (${why})`}`);
  }

  /** `3 invalid lines: 17 (is blank), 18 (is blank), 40 (is not UTF-8)` */
  describe(noun: string, which = ''): string {
    const more = this.count > NUMBERS_MAX ? ', …' : '';
    return `${plural(this.count, noun)}${which && ` ${which}`}: ${this.#numbers.join(', ')}${more}`;
  }
}

/** What is in one view file, and what is wrong with it. */
export class FileCheck {
  lines = 0;
  bytes = 0;
  firstTs: string | undefined;
  lastTs: string | undefined;
  readonly #day: string | undefined;
  readonly #invalid = new Places();
  readonly #duplicate = new Places();
  readonly #descending = new Places();
  readonly #otherDay = new Places();
  readonly #fragments = new Places();
  #isUnended = false;
  #lastId = '';

  /** @param name the file's; where it is a view file's, its lines must be of that day. */
  constructor(name: string) {
    this.#day = dayOfName('views', name);
  }

  add(block: Block): void {
    this.bytes += block.bytes;
    this.#isUnended = block.isUnended;
    const whole = block.lines.length - (block.isUnended ? 1 : 0);
    for (let i = 0; i < whole; i++) {
      this.lines += 1;
      this.#addLine(block.lines[i]!, block.damaged.has(i));
    }
  }

  #addLine(line: string, isDamaged: boolean): void {
    const why = isDamaged ? 'is not UTF-8' : this.#checkLine(line);
    if (why === undefined) return;
    if (isFragment(line)) this.#fragments.add(this.lines);
    else this.#invalid.add(this.lines, why);
  }

  /** @returns why the line is none of the collector's. */
  #checkLine(line: string): string | undefined {
    const head = HEAD.exec(line);
    if (head === null) return line === '' ? 'is blank' : 'does not start with ts and id';
    if (!line.endsWith('}')) return 'does not end with its object';
    const view = parseView(`{${line.slice(head[0].length)}`);
    if (isRefusal(view)) return printable(view.detail, 120);
    const [, ts, id] = head as unknown as [string, string, string];
    if (id === this.#lastId) this.#duplicate.add(this.lines);
    else if (id < this.#lastId) this.#descending.add(this.lines);
    if (this.#day !== undefined && !ts.startsWith(this.#day)) this.#otherDay.add(this.lines);
    this.#lastId = id;
    this.firstTs ??= ts;
    this.lastTs = ts;
    return undefined;
  }

  /** Each kind of fault that was found, in one line. */
  faults(): string[] {
    return [
      this.#invalid.count > 0 && this.#invalid.describe('invalid line'),
      this.#duplicate.count > 0 && this.#duplicate.describe('duplicate id'),
      this.#descending.count > 0 && this.#descending.describe('descending id'),
      this.#otherDay.count > 0 && this.#otherDay.describe('misplaced line', 'of another day'),
    ].filter((text) => text !== false);
  }

  /** What is worth knowing and no fault. */
  remarks(): string[] {
    return [
      this.#fragments.count > 0 &&
        `${this.#fragments.describe('sealed fragment')}; no fault: never acknowledged`,
      this.#isUnended &&
        'the last line has no newline; no fault: being written, or sealed at the next start',
    ].filter((text) => text !== false);
  }
}
