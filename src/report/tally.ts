import { copyOf } from '../base/text.ts';

/** Counts are exact up to this many different texts. Memory holds no more. */
export const TEXTS_MAX = 100_000;
/** Longer texts count as one if they are equal up to this length. */
const TEXT_LENGTH_MAX = 800;

interface Entry {
  readonly text: string;
  readonly name: string;
  count: number;
  /** The count of the previous period. */
  before: number;
}

/**
 * Counts texts in bounded memory. If there are too many different texts, the rarer half is
 * forgotten. Counts then become approximate: too low by the count that a text had when it was
 * forgotten.
 */
export class Tally {
  isExact = true;
  /** The sums of all counts, also of texts that were forgotten. */
  count = 0;
  before = 0;
  readonly #entries = new Map<string, Entry>();

  /** @param name ignored after the text's first time. */
  add(text: string, isBefore = false, name = ''): void {
    const key = text.length <= TEXT_LENGTH_MAX ? text : text.slice(0, TEXT_LENGTH_MAX);
    let entry = this.#entries.get(key);
    if (entry === undefined) {
      if (this.#entries.size >= TEXTS_MAX) this.#forgetRarerHalf();
      const cut = name.slice(0, TEXT_LENGTH_MAX);
      entry = { text: copyOf(key), name: copyOf(cut), count: 0, before: 0 };
      this.#entries.set(entry.text, entry);
    }
    const period = isBefore ? 'before' : 'count';
    entry[period] += 1;
    this[period] += 1;
  }

  /** Returns how many different texts there are, without those of the previous period only. */
  get distinct(): number {
    return this.#counted().length;
  }

  countOf(text: string): number {
    return this.#entries.get(text)?.count ?? 0;
  }

  /** Returns the most frequent texts, at most `length` of them. */
  top(length: number): readonly Readonly<Entry>[] {
    return this.#counted()
      .sort((a, b) => b.count - a.count)
      .slice(0, length);
  }

  #counted(): Entry[] {
    return [...this.#entries.values()].filter(({ count }) => count > 0);
  }

  #forgetRarerHalf(): void {
    this.isExact = false;
    const byFrequency = [...this.#entries.values()].sort(
      (a, b) => a.count + a.before - b.count - b.before,
    );
    for (const { text } of byFrequency.slice(0, Math.ceil(byFrequency.length / 2))) {
      this.#entries.delete(text);
    }
  }
}
