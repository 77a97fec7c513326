/** What is under way, in bytes: from a body's first byte until its answer. */
export interface Queue {
  /** The place of one request. */
  place(): Place;
  readonly bytes: number;
}

export interface Place {
  /** Whether there is room for `bytes` more; if so they are taken. */
  take(bytes: number): boolean;
  /** Gives back what was taken. */
  leave(): void;
}

export function createQueue(bytesMax: number): Queue {
  return new ByteQueue(bytesMax);
}

class ByteQueue implements Queue {
  readonly #bytesMax: number;
  bytes = 0;

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  place(): Place {
    return new QueuePlace(this, this.#bytesMax);
  }
}

class QueuePlace implements Place {
  readonly #queue: ByteQueue;
  readonly #bytesMax: number;
  #taken = 0;

  constructor(queue: ByteQueue, bytesMax: number) {
    this.#queue = queue;
    this.#bytesMax = bytesMax;
  }

  take(bytes: number): boolean {
    if (this.#queue.bytes + bytes > this.#bytesMax) return false;
    this.#queue.bytes += bytes;
    this.#taken += bytes;
    return true;
  }

  leave(): void {
    this.#queue.bytes -= this.#taken;
    this.#taken = 0;
  }
}
