import { NEWLINE } from '../../base/text.ts';
import { MiB } from '../../base/format.ts';
import { lineHeadOf, lineBytesOf, linesOf } from '../../view/line.ts';
import type { Stamp } from '../stamp.ts';
import type { Appended } from '../store.ts';

/** A batch is written in one piece, however long the queue may be. */
const BYTES_MAX = 8 * MiB;

/** Lines of one day that are written together, and the answers that wait for them. */
export class Batch {
  readonly day: string;
  #bytes = 0;
  #heads = '';
  readonly #fields: Uint8Array[] = [];
  #ids: string[] = [];
  #resolvers: ((appended: Appended) => void)[] = [];

  constructor(day: string) {
    this.day = day;
  }

  get lines(): number {
    return this.#ids.length;
  }

  /** Returns how many lines have no answer yet. */
  get waiting(): number {
    return this.#resolvers.length;
  }

  bytes(): Uint8Array {
    return linesOf(this.#heads, this.#fields);
  }

  takes(day: string): boolean {
    return day === this.day && this.#bytes < BYTES_MAX;
  }

  /** @param fields the line's fields; the caller must not change them afterwards. */
  add({ ts, id }: Stamp, fields: Uint8Array): Promise<Appended> {
    this.#heads += lineHeadOf(ts, id);
    this.#fields.push(fields);
    this.#bytes += lineBytesOf(fields);
    this.#ids.push(id);
    return new Promise((resolve) => this.#resolvers.push(resolve));
  }

  /** Answers the first `lines` with their ids and the others with the reason. */
  answer(lines: number, reason: string): void {
    const resolvers = this.#resolvers;
    this.#resolvers = [];
    for (let i = 0; i < resolvers.length; i++) {
      resolvers[i]!(i < lines ? { id: this.#ids[i]! } : { unavailable: reason });
    }
  }
}

/** Returns the number of lines that end in `bytes`. */
export function countLines(bytes: Uint8Array): number {
  let lines = 0;
  for (let at = bytes.indexOf(NEWLINE); at >= 0; at = bytes.indexOf(NEWLINE, at + 1)) lines++;
  return lines;
}
