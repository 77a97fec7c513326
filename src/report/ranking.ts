export interface Counted<T> {
  readonly key: T;
  readonly count: number;
}

/** Distinct keys held at once: exact up to here. */
export const KEYS_MAX = 100_000;

interface Entry<T> {
  readonly key: T;
  count: number;
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

  /** @param key made for an id that is new. */
  add(id: string, key: (id: string) => T): void {
    const entry = this.#entries.get(id);
    if (entry !== undefined) {
      entry.count += 1;
      return;
    }
    if (this.#entries.size >= this.#keysMax) this.#forget();
    this.#entries.set(copyOf(id), { key: key(id), count: 1 });
  }

  /** The largest, at most `length` of them. */
  top(length: number): Counted<T>[] {
    return [...this.#entries.values()]
      .sort(byCount)
      .slice(0, length)
      .map(({ key, count }) => ({ key, count }));
  }

  #forget(): void {
    this.isExact = false;
    const byCount = [...this.#entries].sort(([, a], [, b]) => a.count - b.count);
    for (const [id] of byCount.slice(0, Math.ceil(byCount.length / 2))) this.#entries.delete(id);
  }
}

export const byCount = (a: Counted<unknown>, b: Counted<unknown>): number => b.count - a.count;

/** Of a string of bytes: a part of a line keeps all that was read with it in memory. */
export const copyOf = (id: string): string => Buffer.from(id, 'latin1').toString('latin1');
