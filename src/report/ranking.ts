export interface Counted<T> {
  readonly key: T;
  readonly count: number;
  /** In the span before, where the report compares. */
  readonly before?: number | undefined;
}

/** Distinct keys held at once: exact up to here. */
export const KEYS_MAX = 100_000;

interface Entry<T> {
  readonly key: T;
  count: number;
  /** How many in the span before, beside `count`. */
  before: number;
  /** How many of `count` began a visit. */
  entries: number;
}

/**
 * Counts by key, in bounded memory: exact up to `keysMax` distinct keys. When there are more, the
 * rarer half is forgotten, so that a key's count can be too low by what it had when it was.
 */
export class Tally<T> {
  isExact = true;
  readonly #keysMax: number;
  readonly #entries = new Map<string, Entry<T>>();

  constructor(keysMax = KEYS_MAX) {
    this.#keysMax = keysMax;
  }

  get size(): number {
    return this.#entries.size;
  }

  /** Keys that have any of `field`. */
  distinct(field: 'count' | 'entries'): number {
    let distinct = 0;
    for (const entry of this.#entries.values()) if (entry[field] > 0) distinct += 1;
    return distinct;
  }

  /**
   * @param key made for an id that is new, which it may keep.
   * @param isBefore whether it is of the span before.
   */
  add(id: string, key: (id: string) => T, isBefore = false, isEntry = false): void {
    let entry = this.#entries.get(id);
    if (entry === undefined) {
      if (this.#entries.size >= this.#keysMax) this.#forget();
      const copy = copyOf(id);
      entry = { key: key(copy), count: 0, before: 0, entries: 0 };
      this.#entries.set(copy, entry);
    }
    if (isBefore) {
      entry.before += 1;
      return;
    }
    entry.count += 1;
    if (isEntry) entry.entries += 1;
  }

  /** The largest, at most `length` of them. */
  top(length: number, isCompared = false): Counted<T>[] {
    return this.#largest('count', length).map(({ key, count, before }) =>
      isCompared ? { key, count, before } : { key, count },
    );
  }

  /** Those that began most visits, at most `length` of them. */
  topEntries(length: number): Counted<T>[] {
    return this.#largest('entries', length).map(({ key, entries }) => ({ key, count: entries }));
  }

  #largest(field: 'count' | 'entries', length: number): Entry<T>[] {
    return [...this.#entries.values()]
      .filter((entry) => entry[field] > 0)
      .sort((a, b) => b[field] - a[field])
      .slice(0, length);
  }

  #forget(): void {
    this.isExact = false;
    const bySize = [...this.#entries].sort(([, a], [, b]) => sizeOf(a) - sizeOf(b));
    for (const [id] of bySize.slice(0, Math.ceil(bySize.length / 2))) this.#entries.delete(id);
  }
}

const sizeOf = ({ count, before }: Entry<unknown>): number => count + before;

export const byCount = (a: Counted<unknown>, b: Counted<unknown>): number => b.count - a.count;

/** Of a string of bytes: a part of a line keeps all that was read with it in memory. */
export const copyOf = (id: string): string => Buffer.from(id, 'latin1').toString('latin1');
