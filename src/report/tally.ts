import { copyOf } from '../base/text.ts';

/** Counts are exact up to this many different texts. Memory holds no more. */
export const TEXTS_MAX = 100_000;
export const TEXT_LENGTH_MAX = 800;

interface Entry {
  readonly text: string;
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
  readonly #lengthMax: number;

  /** @param lengthMax longer texts count as one if they are equal up to this length. */
  constructor(lengthMax = TEXT_LENGTH_MAX) {
    this.#lengthMax = lengthMax;
  }

  /** @param text has a character for each byte. */
  add(text: string, isBefore = false): void {
    const key = text.length <= this.#lengthMax ? text : text.slice(0, this.#lengthMax);
    if (!this.#entries.has(key) && this.#entries.size >= TEXTS_MAX) this.#forgetRarerHalf();
    const entry = getOrCreate(this.#entries, key, (copy) => ({ text: copy, count: 0, before: 0 }));
    const period = isBefore ? 'before' : 'count';
    entry[period] += 1;
    this[period] += 1;
  }

  /**
   * Returns a tally in which texts that get the same name are one.
   * @param nameOf returns `undefined` for a text that does not count.
   */
  renamed(nameOf: (text: string) => string | undefined): Tally {
    const tally = new Tally();
    tally.isExact = this.isExact;
    tally.count = this.count;
    tally.before = this.before;
    for (const { text, count, before } of this.#entries.values()) {
      const name = nameOf(text);
      if (name === undefined) {
        tally.count -= count;
        tally.before -= before;
        continue;
      }
      const entry = tally.#entries.get(name) ?? { text: name, count: 0, before: 0 };
      entry.count += count;
      entry.before += before;
      tally.#entries.set(name, entry);
    }
    return tally;
  }

  /** Returns how many different texts there are, without those of the previous period only. */
  get distinct(): number {
    return this.#counted().length;
  }

  has(text: string): boolean {
    return this.#entries.has(text);
  }

  countOf(text: string): number {
    return this.#entries.get(text)?.count ?? 0;
  }

  /** Returns the most frequent texts, at most `length` of them, by default all. */
  top(length?: number): readonly Readonly<Entry>[] {
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

/**
 * Returns the value of a key; adds a new value if the key is missing.
 * @param key has a character for each byte. The map gets a copy, because a part of a string would
 *   hold the whole string in memory.
 * @param make gets the copy.
 */
export function getOrCreate<V>(map: Map<string, V>, key: string, make: (copy: string) => V): V {
  let value = map.get(key);
  if (value === undefined) {
    const copy = copyOf(key);
    value = make(copy);
    map.set(copy, value);
  }
  return value;
}
