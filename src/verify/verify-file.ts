import { basename } from 'node:path';
import { EXIT, Fatal } from '../base/exit.ts';
import { plural } from '../base/format.ts';
import { printable } from '../base/text.ts';
import { type Block, readBlocks } from '../disk/lines.ts';
import { dayOfName } from '../disk/names.ts';
import { fieldsOf, readHead } from '../view/line.ts';
import { readView } from '../view/read-view.ts';
import { isRefusal } from '../view/refusal.ts';
import { isFragment } from './fragment.ts';

const NUMBERS_MAX = 10;
/** A duplicate id is found if the first one is at most this many lines before it, or more. */
const RECENT_MIN = 100_000;

/** The last ids, in bounded memory. */
class RecentIds {
  #ids = new Set<string>();
  #before = new Set<string>();

  /** Adds an id. Returns whether it is among the last `RECENT_MIN` or more. */
  isAgain(id: string): boolean {
    const isAgain = this.#ids.has(id) || this.#before.has(id);
    this.#ids.add(id);
    if (this.#ids.size >= RECENT_MIN) {
      this.#before = this.#ids;
      this.#ids = new Set();
    }
    return isAgain;
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

  /** Returns `3 invalid lines: 17 (is blank), 18 (is blank), 40 (is not UTF-8)`, or nothing. */
  describe(noun: string, which = ''): string[] {
    if (this.count === 0) return [];
    const more = this.count > NUMBERS_MAX ? ', …' : '';
    return [
      `${plural(this.count, noun)}${which && ` ${which}`}: ${this.#numbers.join(', ')}${more}`,
    ];
  }
}

/** What is in one view file, and what is wrong with it. */
class FileCheck {
  readonly #day: string | undefined;
  readonly #ids = new RecentIds();
  readonly #invalid = new Places();
  readonly #duplicate = new Places();
  readonly #otherDay = new Places();
  readonly #fragments = new Places();
  #lines = 0;
  #bytes = 0;
  #firstTs: string | undefined;
  #lastTs: string | undefined;
  #isUnended = false;

  /** @param name of the file; if it has a day, all lines must be of that day. */
  constructor(name: string) {
    this.#day = dayOfName('views', name);
  }

  add(block: Block): void {
    this.#bytes += block.bytes;
    this.#isUnended = block.isUnended;
    const whole = block.lines.length - (block.isUnended ? 1 : 0);
    for (let i = 0; i < whole; i++) {
      this.#lines += 1;
      const line = block.lines[i]!;
      const why = block.damaged.has(i) ? 'is not UTF-8' : this.#checkLine(line);
      if (why === undefined) continue;
      if (isFragment(line)) this.#fragments.add(this.#lines);
      else this.#invalid.add(this.#lines, why);
    }
  }

  /** Returns why the line is not one that a collector writes. */
  #checkLine(line: string): string | undefined {
    const head = readHead(line);
    if (head === undefined) return line === '' ? 'is blank' : 'does not start with ts and id';
    if (!line.endsWith('}')) return 'does not end with its object';
    const view = readView(fieldsOf(line));
    if (isRefusal(view)) return printable(view.detail, 120);
    const { ts, id } = head;
    if (this.#ids.isAgain(id)) this.#duplicate.add(this.#lines);
    if (this.#day !== undefined && !ts.startsWith(this.#day)) this.#otherDay.add(this.#lines);
    this.#firstTs ??= ts;
    this.#lastTs = ts;
    return undefined;
  }

  /** Returns `40 lines, 10,240 bytes, 2026-03-01T00:00:00.000Z to 2026-03-01T00:00:39.000Z`. */
  summary(): string {
    const span = this.#firstTs === undefined ? '' : `, ${this.#firstTs} to ${this.#lastTs!}`;
    return `${plural(this.#lines, 'line')}, ${plural(this.#bytes, 'byte')}${span}`;
  }

  /** Returns a line for each kind of fault. */
  faults(): string[] {
    return [
      ...this.#invalid.describe('invalid line'),
      ...this.#duplicate.describe('duplicate id'),
      ...this.#otherDay.describe('misplaced line', 'of another day'),
    ];
  }

  /** Returns what is worth knowing and not a fault. */
  remarks(): string[] {
    const fragments = this.#fragments.describe('sealed fragment');
    const unended = 'the last line has no newline: it is being written; not a fault';
    return [
      ...fragments.map((text) => `${text}; not a fault: a crash cut it off, never acknowledged`),
      ...(this.#isUnended ? [unended] : []),
    ];
  }
}

/** What `viewlog verify` finds in one file. */
interface Verdict {
  readonly isSound: boolean;
  /** The file's summary, then each kind of fault and remark. */
  readonly lines: readonly string[];
  /** What is wrong with a packed file that ends too early or is not one. */
  readonly broken: string | undefined;
}

/** @throws {Fatal} exit 74 if the file cannot be read. */
export async function verifyFile(file: string): Promise<Verdict> {
  const check = new FileCheck(basename(file));
  const broken = await read(file, check);
  const faults = check.faults();
  const rest = [...faults, ...check.remarks()].map((text) => `  ${text}`);
  return {
    isSound: broken === undefined && faults.length === 0,
    lines: [`${printable(file, Infinity)}: ${check.summary()}`, ...rest],
    broken,
  };
}

async function read(file: string, check: FileCheck): Promise<string | undefined> {
  try {
    for await (const block of readBlocks(file)) check.add(block);
    return undefined;
  } catch (error) {
    if (error instanceof Fatal && error.exitCode === EXIT.badData) return error.message;
    throw error;
  }
}
