/** A message that was read, by the id of its view; 0, without one, is where a stream begins. */
export interface Place {
  readonly sequence: number;
  readonly id?: string | undefined;
}

/** The servers have lost the messages after a place, to `to`, that had been read. */
export interface Loss {
  /** The last message that they still have as it was read. */
  readonly place: Place;
  readonly to: number;
  /** Of the views among the lost. */
  readonly ids: readonly string[];
}

/** Servers lose what they had not synced: of the last seconds, or minutes at a lower rate. */
export const RECENT_MAX = 20_000;

/** The last messages that were read, to find where a stream has become another. */
export class Recent {
  #places: Place[] = [];

  get last(): Place | undefined {
    return this.#places.at(-1);
  }

  add(place: Place): void {
    this.#places.push(place);
    if (this.#places.length >= 2 * RECENT_MAX) this.#places = this.#places.slice(-RECENT_MAX);
  }

  /**
   * The last place, not after `until`, where the stream is as it was, supposing that it is another
   * from some message on. Halves what is in question, so it asks a few times.
   */
  async lastSame(
    until: Place,
    isSame: (place: Place) => Promise<boolean>,
  ): Promise<Place | undefined> {
    let same = -1;
    let other = this.#places.indexOf(until) + 1;
    while (other - same > 1) {
      const middle = Math.floor((same + other) / 2);
      if (await isSame(this.#places[middle]!)) same = middle;
      else other = middle;
    }
    return this.#places[same];
  }

  /** Forgets what was read after the place, and returns the ids of that. */
  goBack(place: Place): string[] {
    const lost = this.#places.splice(this.#places.indexOf(place) + 1);
    return lost.map(({ id }) => id).filter((id) => id !== undefined);
  }
}
