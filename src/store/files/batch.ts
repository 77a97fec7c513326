import { NEWLINE } from '../../base/text.ts';
import { MiB } from '../../base/size.ts';
import type { Appended } from '../store.ts';

/** Far below V8's longest string, however long the queue may be. */
const LENGTH_MAX = 8 * MiB;
const encoder = new TextEncoder();

/** Lines of one day that are written together, and those who wait for them. */
export class Batch {
  readonly day: string;
  #text = '';
  #ids: string[] = [];
  #resolvers: ((appended: Appended) => void)[] = [];

  constructor(day: string) {
    this.day = day;
  }

  get lines(): number {
    return this.#ids.length;
  }

  /** Who has had no answer yet. */
  get waiting(): number {
    return this.#resolvers.length;
  }

  bytes(): Uint8Array {
    return encoder.encode(this.#text);
  }

  waitingBytes(): number {
    return this.waiting === 0 ? 0 : Buffer.byteLength(this.#text);
  }

  takes(day: string): boolean {
    return day === this.day && this.#text.length < LENGTH_MAX;
  }

  add(id: string, line: string): Promise<Appended> {
    this.#text += line;
    this.#ids.push(id);
    return new Promise((resolve) => this.#resolvers.push(resolve));
  }

  /** Tells the first `lines` of those who wait their ids, the others why not. */
  answer(lines: number, reason: string): void {
    const resolvers = this.#resolvers;
    this.#resolvers = [];
    for (let i = 0; i < resolvers.length; i++) {
      resolvers[i]!(i < lines ? { id: this.#ids[i]! } : { unavailable: reason });
    }
  }
}

/** How many lines end in `bytes`. */
export function countLines(bytes: Uint8Array): number {
  let lines = 0;
  for (let at = bytes.indexOf(NEWLINE); at >= 0; at = bytes.indexOf(NEWLINE, at + 1)) lines++;
  return lines;
}
