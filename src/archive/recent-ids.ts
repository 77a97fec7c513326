/** Remembers at least the last `count` ids, and at most twice as many. */
export class RecentIds {
  readonly #count: number;
  #newer = new Set<string>();
  #older = new Set<string>();

  constructor(count: number) {
    this.#count = count;
  }

  /** Adds an id; returns whether it was new. */
  add(id: string): boolean {
    if (this.#newer.has(id) || this.#older.has(id)) return false;
    if (this.#newer.size >= this.#count) {
      this.#older = this.#newer;
      this.#newer = new Set();
    }
    this.#newer.add(id);
    return true;
  }

  clear(): void {
    this.#newer.clear();
    this.#older.clear();
  }
}
