import { plural } from '../base/format.ts';
import type { Refusal } from '../view/refusal.ts';
import { printable } from '../base/text.ts';

const KINDS_MAX = 20;
const PLACES_MAX = 20;

/** What became of one file's lines. */
export class Outcome {
  lines = 0;
  sent = 0;
  sentBefore = 0;
  stillRefused = 0;
  invalid = 0;
  notAsked = 0;
  readonly #kinds = new Map<string, number>();
  readonly #uncertain: string[] = [];
  #uncertainCount = 0;

  get uncertain(): number {
    return this.#uncertainCount;
  }

  addRefusal({ code, detail }: Refusal): void {
    this.stillRefused += 1;
    // The same reason in the same words, which name the project.
    const kind = `${code}: ${printable(detail)}`;
    const known = this.#kinds.has(kind) || this.#kinds.size < KINDS_MAX;
    const key = known ? kind : 'and for other reasons';
    this.#kinds.set(key, (this.#kinds.get(key) ?? 0) + 1);
  }

  addUncertain(line: number, id: string): void {
    this.#uncertainCount += 1;
    if (this.#uncertain.length < PLACES_MAX) this.#uncertain.push(`line ${line + 1} (${id})`);
  }

  /** @param recordPath where an operator can settle what is uncertain. */
  describe(path: string, recordPath: string): string[] {
    const counts: [number, string][] = [
      [this.sent, 'sent'],
      [this.sentBefore, 'sent before'],
      [this.stillRefused, 'still refused'],
      [this.#uncertainCount, 'uncertain'],
      [this.notAsked, 'of other projects'],
      [this.invalid, 'invalid'],
    ];
    const shown = counts.filter(([count], i) => i === 0 || count > 0);
    const told = shown.map(([count, what]) => `${count} ${what}`).join(', ');
    const kinds = [...this.#kinds].sort(([, a], [, b]) => b - a);
    const more = this.#uncertainCount > this.#uncertain.length ? ', …' : '';
    const uncertain = `${this.#uncertain.join(', ')}${more}`;
    return [
      `${printable(path, Infinity)}: ${plural(this.lines, 'line')}: ${told}`,
      ...kinds.map(([kind, count]) => `  still refused, ${count}: ${kind}`),
      ...(this.#uncertainCount === 0
        ? []
        : [
            `  uncertain, not sent again: ${uncertain}`,
            `    was it stored? In ${printable(recordPath, Infinity)} put + for yes, - for no`,
          ]),
    ];
  }
}
