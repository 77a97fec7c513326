/** An item and which it was since the start; 0 and below are those of before. */
export interface Numbered<T> {
  readonly number: number;
  readonly item: T;
}

/** The last few of what may come by the thousand: a sample to show, never a record. */
export class LastFew<T> {
  readonly #items: T[] = [];
  readonly #earlier: T[] = [];
  readonly #lengthMax: number;
  #added = 0;

  constructor(lengthMax: number) {
    this.#lengthMax = lengthMax;
  }

  add(item: T): void {
    this.#items[this.#added % this.#lengthMax] = item;
    this.#added += 1;
  }

  /** One of before all that were added; the newest of those first. */
  addEarlier(item: T): void {
    if (this.hasRoom) this.#earlier.push(item);
  }

  /** Whether one of before would be in the list. */
  get hasRoom(): boolean {
    return this.#items.length + this.#earlier.length < this.#lengthMax;
  }

  /** Newest first. */
  list(): Numbered<T>[] {
    const added = Array.from(this.#items, (_, i) => {
      const number = this.#added - i;
      return { number, item: this.#items[(number - 1) % this.#lengthMax]! };
    });
    const earlier = this.#earlier.map((item, i) => ({ number: -i, item }));
    return [...added, ...earlier].slice(0, this.#lengthMax);
  }
}
