/** Remembers at least the last `count` ids and at most twice as many. */
export class RecentIds {
  readonly #count: number;
  #newer = new Set<string>();
  #older = new Set<string>();

  constructor(count: number) {
    this.#count = count;
  }

  /** Adds an id; returns whether it was new. */
  add(id: string): boolean {
    const isNew = !this.#newer.has(id) && !this.#older.has(id);
    if (this.#newer.size >= this.#count) {
      this.#older = this.#newer;
      this.#newer = new Set();
    }
    this.#newer.add(id);
    return isNew;
  }

  clear(): void {
    this.#newer.clear();
    this.#older.clear();
  }
}
