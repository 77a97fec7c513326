import { copyOf } from '../base/text.ts';

/** A tally holds at most this many different texts. Until it is full, its counts are exact. */
export const TEXTS_MAX = 100_000;
export const TEXT_LENGTH_MAX = 800;

export interface Entry {
  readonly text: string;
  count: number;
  /** The count of the previous period. */
  before: number;
  /** For a page: its latest title, and its views with that title since the title last changed. */
  title: string;
  titled: number;
}

/**
 * Counts texts in bounded memory. If there are too many different texts, the rarer half is
 * dropped. Counts then become approximate: too low by the count that a text had when it was
 * dropped.
 */
export class Tally {
  isExact = true;
  /** The sums of all counts, including those of dropped texts. */
  count = 0;
  before = 0;
  readonly #entries = new Map<string, Entry>();
  readonly #lengthMax: number;

  /** @param lengthMax longer texts count as one if they are equal up to this length. */
  constructor(lengthMax = TEXT_LENGTH_MAX) {
    this.#lengthMax = lengthMax;
  }

  /**
   * @param text has a character for each byte.
   * @param views how many views have it.
   */
  add(text: string, isBefore = false, views = 1): Entry {
    const key = text.length <= this.#lengthMax ? text : text.slice(0, this.#lengthMax);
    let entry = this.#entries.get(key);
    if (entry === undefined) {
      if (this.#entries.size >= TEXTS_MAX) this.#forgetRarerHalf();
      entry = entryOf(copyOf(key));
      this.#entries.set(entry.text, entry);
    }
    const period = isBefore ? 'before' : 'count';
    entry[period] += views;
    this[period] += views;
    return entry;
  }

  /** Returns a tally that merges texts with the same name. */
  renamed(nameOf: (text: string) => string): Tally {
    const tally = new Tally();
    const { isExact, count, before } = this;
    Object.assign(tally, { isExact, count, before });
    for (const one of this.#entries.values()) {
      const name = nameOf(one.text);
      const entry = tally.#entries.get(name) ?? entryOf(name);
      entry.count += one.count;
      entry.before += one.before;
      tally.#entries.set(name, entry);
    }
    return tally;
  }

  all(): Iterable<Entry> {
    return this.#entries.values();
  }

  /** Returns the number of different texts, except those seen only in the previous period. */
  get distinct(): number {
    return this.#counted().length;
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

const entryOf = (text: string): Entry => ({ text, count: 0, before: 0, title: '', titled: 0 });

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
