import { basename } from 'node:path';
import { EXIT, Fatal } from '../base/exit.ts';
import { plural } from '../base/format.ts';
import { RecentIds } from '../base/recent-ids.ts';
import { copyOf, printable } from '../base/text.ts';
import { type Block, readBlocks } from '../disk/lines.ts';
import { dayOfName } from '../disk/names.ts';
import { lineFieldsOf, readHead } from '../view/line.ts';
import { readView } from '../view/read-view.ts';
import { isRefusal } from '../view/refusal.ts';
import { isFragment } from './fragment.ts';

/**
 * Checks a view file.
 * @returns whether a collector could have written the file, and lines of text with its summary,
 *   faults and remarks.
 * @throws {Fatal} exit 74 if the file can't be read.
 */
export async function verifyFile(file: string) {
  const check = new FileCheck(dayOfName('views', basename(file)));
  let broken: string | undefined;
  try {
    for await (const block of readBlocks(file)) check.add(block);
  } catch (error) {
    // A `.gz` file that is cut short or isn't compressed gives this error.
    if (!(error instanceof Fatal) || error.exitCode !== EXIT.badData) throw error;
    broken = error.message;
  }
  const rest = [...(broken === undefined ? [] : [broken]), ...check.findings()];
  const lines = [
    `${printable(file, Infinity)}: ${broken !== undefined && check.isEmpty ? 'not read' : check.summary()}`,
    ...rest.map((text) => `  ${text}`),
  ];
  return { isValid: broken === undefined && check.isValid, lines };
}

const FRAGMENT = 'sealed fragment';
type Kind = 'invalid line' | 'duplicate id' | 'misplaced line' | typeof FRAGMENT;

const NUMBERS_MAX = 10;
/**
 * `verify` always finds a duplicate id if the same id is at most this many lines above it, and
 * sometimes if the same id is further up.
 */
const RECENT_MIN = 100_000;

/** Collects the contents and the faults of one view file. */
class FileCheck {
  readonly #day: string | undefined;
  /** The lines of each kind: the first line numbers, as text, and how many there are. */
  readonly #found = new Map<Kind, { count: number; readonly places: string[] }>();
  readonly #recent = new RecentIds(RECENT_MIN);
  #lines = 0;
  #bytes = 0;
  #firstTs: string | undefined;
  #lastTs: string | undefined;
  #isUnended = false;

  /** @param day the day that all lines must have, if the file's name has one. */
  constructor(day: string | undefined) {
    this.#day = day;
  }

  add(block: Block): void {
    this.#bytes += block.bytes;
    this.#isUnended = block.isUnended;
    for (const [i, line] of block.lines().entries()) {
      this.#lines += 1;
      const why = block.damaged.has(i) ? "isn't UTF-8" : this.#checkLine(line);
      if (why === undefined) continue;
      if (isFragment(line)) this.#note(FRAGMENT);
      else this.#note('invalid line', why);
    }
  }

  /** Returns why a collector wouldn't have written the line. */
  #checkLine(line: string): string | undefined {
    const head = readHead(line);
    if (head === undefined) return line === '' ? 'is blank' : "doesn't start with ts and id";
    if (!line.endsWith('}')) return "doesn't end with a brace";
    const view = readView(lineFieldsOf(line));
    if (isRefusal(view)) return printable(view.detail.replace(/\.( The view has .*)?$/s, ''), 120);
    const { ts, id } = head;
    if (!this.#recent.add(copyOf(id))) this.#note('duplicate id');
    const day = ts.slice(0, 10);
    if (day !== (this.#day ?? day)) this.#note('misplaced line', day);
    if (this.#firstTs === undefined || ts < this.#firstTs) this.#firstTs = copyOf(ts);
    if (this.#lastTs === undefined || ts > this.#lastTs) this.#lastTs = ts;
    return undefined;
  }

  #note(kind: Kind, why?: string): void {
    const found = this.#found.get(kind) ?? { count: 0, places: [] };
    found.count += 1;
    if (found.count <= NUMBERS_MAX) found.places.push(`${this.#lines}${why ? ` (${why})` : ''}`);
    this.#found.set(kind, found);
  }

  get isValid(): boolean {
    return [...this.#found.keys()].every((kind) => kind === FRAGMENT);
  }

  /** Returns `3 invalid lines: 17 (is blank), 18 (is blank), 40 (isn't UTF-8)`, and remarks. */
  findings(): string[] {
    const findings = Array.from(this.#found, ([kind, { count, places }]) => {
      const more = count > NUMBERS_MAX ? ', …' : '';
      const lines = `${places.join(', ')}${more}`;
      if (kind === 'misplaced line') {
        return `${plural(count, 'line')} dated differently from the file name: ${lines}`;
      }
      if (kind === 'duplicate id') {
        return `${plural(count, kind)}: line${count === 1 ? '' : 's'} ${lines}`;
      }
      if (kind !== FRAGMENT) return `${plural(count, kind)}: ${lines}`;
      const [line, view] = count === 1 ? ['line', 'its view was'] : ['lines', 'their views were'];
      const cut = `if viewlog crashed or the disk was full, ${view} never acknowledged`;
      return `${plural(count, kind)}: ${line} ${lines}; ${cut}`;
    });
    const unended =
      'the last line has no newline: viewlog is still writing it, it crashed (the view was never acknowledged), or the file was cut later';
    return this.#isUnended ? [...findings, unended] : findings;
  }

  get isEmpty(): boolean {
    return this.#lines === 0;
  }

  /** Returns `40 lines, 10,240 bytes, 2026-03-01T00:00:00.000Z to 2026-03-01T00:00:39.000Z`. */
  summary(): string {
    const span = this.#firstTs === undefined ? '' : `, ${this.#firstTs} to ${this.#lastTs!}`;
    return `${plural(this.#lines, 'line')}, ${plural(this.#bytes, 'byte')}${span}`;
  }
}
