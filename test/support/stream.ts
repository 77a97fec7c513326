import type { StreamEnds, StreamMessage, StreamSource } from '../../src/archive/stream-source.ts';
import { storedLines } from './stored-lines.ts';

/** A stream in memory, on servers that may lose messages. */
export class SimulatedStream implements StreamSource {
  readonly name = 'VIEWS';
  created = '2026-01-01T00:00:00Z';
  /** Messages per read. */
  batch = 7;
  /** A function that each answer awaits, and that may fail. */
  answering: (isIdle: boolean) => Promise<void> = () =>
    new Promise((resolve) => setImmediate(resolve));
  /** Returns whether a reader skips a message, as happens on a server that is behind. */
  omits: (isLast: boolean) => boolean = () => false;
  /** Messages that a deposed leader, which answers everything now, doesn't have. */
  readonly hidden = new Set<number>();
  first = 1;
  last = 0;
  readonly #messages = new Map<number, { subject: string; data: Uint8Array }>();
  #connections = 0;

  publish(lines: readonly string[], subject = 'views.1'): void {
    for (const line of lines) {
      this.#messages.set(++this.last, { subject, data: Buffer.from(line) });
    }
  }

  /** Removes the messages before this one, as a limit of the stream does. */
  expire(first: number): void {
    for (let sequence = this.first; sequence < first; sequence++) this.#messages.delete(sequence);
    this.first = first;
  }

  remove(sequence: number): void {
    this.#messages.delete(sequence);
  }

  /**
   * Loses the messages after this one, as servers that restart may do, and publishes others in
   * their place.
   */
  lose(last: number, others: readonly string[] = []): string[] {
    const lost: string[] = [];
    for (let sequence = last + 1; sequence <= this.last; sequence++) {
      const message = this.#messages.get(sequence);
      if (message !== undefined) lost.push(Buffer.from(message.data).toString());
      this.#messages.delete(sequence);
    }
    this.last = last;
    this.publish(others);
    this.disconnect();
    return lost;
  }

  /** Deletes the stream and creates it again. */
  recreate(): void {
    this.lose(0);
    this.first = 1;
    this.created = `${this.created}, again`;
  }

  disconnect(): void {
    this.#connections += 1;
  }

  /** Returns the lines of the stream up to a message, in the stream's order. */
  lines(to = this.last): string[] {
    const messages = [...this.#messages].filter(([sequence]) => sequence <= to);
    return messages.map(([, { data }]) => Buffer.from(data).toString());
  }

  has(sequence: number): boolean {
    return this.#messages.has(sequence);
  }

  #found(sequence: number): StreamMessage | undefined {
    const message = this.hidden.has(sequence) ? undefined : this.#messages.get(sequence);
    return message && { sequence, ...message };
  }

  async ends(): Promise<StreamEnds> {
    await this.answering(false);
    return { created: this.created, first: this.first, last: this.last };
  }

  async next(sequence: number): Promise<StreamMessage | undefined> {
    await this.answering(false);
    for (let at = sequence; at <= this.last; at++) {
      const found = this.#found(at);
      if (found?.subject.startsWith('views.')) return found;
    }
    return undefined;
  }

  async *read(after: number): AsyncGenerator<readonly StreamMessage[]> {
    const connection = this.#connections;
    for (let read = after; ;) {
      await this.answering(read >= this.last);
      if (this.#connections !== connection) return;
      const messages: StreamMessage[] = [];
      while (read < this.last && messages.length < this.batch) {
        const found = this.#found(++read);
        if (found !== undefined && !this.omits(read === this.last)) messages.push(found);
      }
      yield messages;
    }
  }
}

/** Returns lines of several days, in turn. */
export function linesOfDays(days: readonly string[], each: number): string[] {
  const all = days.map((day) => storedLines(day, each));
  return Array.from({ length: each }, (_, i) => all.map((lines) => lines[i]!)).flat();
}
