/** A message that was read, by the id of its view; 0, without one, is where a stream begins. */
export interface Position {
  readonly sequence: number;
  readonly id?: string | undefined;
}

/** The servers have lost the messages after a position, to `to`, that had been read. */
export interface Loss {
  /** The last message that they still have as it was read. */
  readonly position: Position;
  readonly to: number;
  /** Of the views among the lost. */
  readonly ids: readonly string[];
}

/** Servers lose what they had not synced: of the last seconds, or minutes at a lower rate. */
export const RECENT_MAX = 20_000;

/** The last messages that were read, to find where a stream has become another. */
export class RecentMessages {
  #positions: Position[] = [];

  get last(): Position | undefined {
    return this.#positions.at(-1);
  }

  add(position: Position): void {
    this.#positions.push(position);
    if (this.#positions.length < 2 * RECENT_MAX) return;
    this.#positions = this.#positions.slice(-RECENT_MAX);
  }

  /**
   * The last position, not after `until`, where the stream is as it was, supposing that it is
   * another from some message on. Halves what is in question, so it asks a few times.
   */
  async lastSame(
    until: Position,
    isSame: (position: Position) => Promise<boolean>,
  ): Promise<Position | undefined> {
    let same = -1;
    let other = this.#positions.indexOf(until) + 1;
    while (other - same > 1) {
      const middle = Math.floor((same + other) / 2);
      if (await isSame(this.#positions[middle]!)) same = middle;
      else other = middle;
    }
    return this.#positions[same];
  }

  /** Forgets what was read after the position, and returns the ids of that. */
  goBack(position: Position): string[] {
    const lost = this.#positions.splice(this.#positions.indexOf(position) + 1);
    return lost.map(({ id }) => id).filter((id) => id !== undefined);
  }
}
