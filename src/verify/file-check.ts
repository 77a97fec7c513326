import { plural } from '../base/format.ts';
import { isRefusal } from '../view/refusal.ts';
import { printable } from '../base/text.ts';
import { fieldsOf, readHead } from '../view/line.ts';
import { readView } from '../view/read-view.ts';
import type { Block } from '../disk/lines.ts';
import { isFragment } from './fragment.ts';
import { dayOfName } from '../disk/names.ts';

const NUMBERS_MAX = 10;
/** What an archive writes twice, if it ever did, it would within a batch or two. */
const RECENT_MIN = 100_000;

/** The last of many texts, in bounded memory. */
class Recent {
  #texts = new Set<string>();
  #before = new Set<string>();

  /** Whether it is among the last `RECENT_MIN` or more that were added. */
  has(text: string): boolean {
    return this.#texts.has(text) || this.#before.has(text);
  }

  add(text: string): void {
    this.#texts.add(text);
    if (this.#texts.size < RECENT_MIN) return;
    this.#before = this.#texts;
    this.#texts = new Set();
  }
}

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
  readonly #recent: Recent | undefined;
  readonly #invalid = new Places();
  readonly #duplicate = new Places();
  readonly #descending = new Places();
  readonly #otherDay = new Places();
  readonly #fragments = new Places();
  #isUnended = false;
  #lastId = '';

  /**
   * @param name the file's; where it is a view file's, its lines must be of that day.
   * @param isArchived by several collectors, whose ids do not ascend together.
   */
  constructor(name: string, isArchived = false) {
    this.#day = dayOfName('views', name);
    this.#recent = isArchived ? new Recent() : undefined;
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
    const head = readHead(line);
    if (head === undefined) return line === '' ? 'is blank' : 'does not start with ts and id';
    if (!line.endsWith('}')) return 'does not end with its object';
    const view = readView(fieldsOf(line));
    if (isRefusal(view)) return printable(view.detail, 120);
    const { ts, id } = head;
    const isAgain = this.#recent?.has(id) ?? id === this.#lastId;
    this.#recent?.add(id);
    if (isAgain) this.#duplicate.add(this.lines);
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
      this.#recent === undefined &&
        this.#descending.count > 0 &&
        this.#descending.describe('descending id'),
      this.#otherDay.count > 0 && this.#otherDay.describe('misplaced line', 'of another day'),
    ].filter((text) => text !== false);
  }

  /** What is worth knowing and no fault. */
  remarks(): string[] {
    return [
      this.#recent !== undefined &&
        this.#descending.count > 0 &&
        `${plural(this.#descending.count, 'descending id')}; no fault: archived from a stream, ` +
          'whose collectors have clocks of their own',
      this.#fragments.count > 0 &&
        `${this.#fragments.describe('sealed fragment')}; no fault: never acknowledged`,
      this.#isUnended &&
        'the last line has no newline; no fault: being written, or sealed at the next start',
    ].filter((text) => text !== false);
  }
}
