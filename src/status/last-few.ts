/** An item and which it was since the start. */
export interface Numbered<T> {
  readonly number: number;
  readonly item: T;
}

/** The last few of what may come by the thousand: a sample to show, never a record. */
export class LastFew<T> {
  readonly #items: T[] = [];
  readonly #lengthMax: number;
  #added = 0;

  constructor(lengthMax: number) {
    this.#lengthMax = lengthMax;
  }

  add(item: T): void {
    this.#items[this.#added % this.#lengthMax] = item;
    this.#added += 1;
  }

  /** Newest first. */
  list(): Numbered<T>[] {
    return Array.from(this.#items, (_, i) => {
      const number = this.#added - i;
      return { number, item: this.#items[(number - 1) % this.#lengthMax]! };
    });
  }
}
