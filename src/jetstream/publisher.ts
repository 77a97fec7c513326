import { randomUUID } from 'node:crypto';
import type { Msg } from '@nats-io/transport-node';
import { errorText } from '../base/exit.ts';
import { LIMITS } from '../base/limits.ts';
import { every } from '../base/time.ts';
import type { Cluster } from './connect.ts';

/** Why a message wasn't acknowledged. It may have been stored nevertheless. */
export const FAILURES = {
  disconnected: 'the connection to the cluster was lost',
  timeout: "the cluster didn't acknowledge the view in time",
  /** No stream accepts the subject: there is no such stream, or it has no leader. */
  'no-leader': 'the stream has no leader',
  refused: "the stream doesn't accept the view",
};

export interface Failure {
  readonly kind: keyof typeof FAILURES;
  /** For the operator, if the kind doesn't say it all. */
  readonly detail?: string;
  /**
   * `view`: this message is refused because of its size or its project, which says nothing about
   * others. `space`: a limit of the stream is reached.
   */
  readonly scope?: 'view' | 'space';
}

interface Pending {
  readonly subject: string;
  readonly payload: Uint8Array;
  readonly id: string;
  readonly deadlineMs: number;
  readonly settle: (failure: Failure | undefined) => void;
}

const ACK_TIMEOUT_MS = 5_000;

/**
 * Publishes messages to a stream, many at a time, and awaits each one's acknowledgement.
 *
 * The client's own `js.publish` costs twice the CPU: a promise race, a timer and a random inbox for
 * each message. Here one inbox receives all answers, each with its message's number, and one timer
 * finds late ones. Messages published in one turn of the event loop are sent in one write.
 */
export class Publisher {
  readonly #cluster: Cluster;
  readonly #inbox = `_INBOX.${randomUUID().replaceAll('-', '')}`;
  /** By number, oldest first, because all wait equally long. */
  readonly #pending = new Map<string, Pending>();
  readonly #endSweep: () => void;
  #count = 0;
  /** The numbers of messages that aren't sent yet. */
  #unsent: string[] = [];
  /** The bytes of messages that aren't answered yet. */
  bytes = 0;

  constructor(cluster: Cluster, stream: string) {
    this.#cluster = cluster;
    cluster.connection.subscribe(`${this.#inbox}.*`, {
      callback: (error, message) => {
        if (error !== null) return;
        const number = message.subject.slice(this.#inbox.length + 1);
        this.#settle(number, readAnswer(message, stream));
      },
    });
    cluster.onChange(() => {
      // Answers of a server that is gone don't arrive. It may have stored some of the messages.
      if (cluster.server === undefined) this.#failAll();
    });
    this.#endSweep = every(LIMITS.sweepMs, () => this.#failLate());
  }

  /** Messages that aren't answered yet. */
  get waiting(): number {
    return this.#pending.size;
  }

  /**
   * Publishes once, with `id` as the message's id. Ask the cluster first whether it is connected:
   * the client would keep the message and send it later.
   * @returns `undefined` once the stream has acknowledged the message. Never rejects.
   */
  publish(subject: string, payload: Uint8Array, id: string): Promise<Failure | undefined> {
    return new Promise((settle) => {
      const number = (++this.#count).toString(36);
      const deadlineMs = performance.now() + ACK_TIMEOUT_MS;
      this.#pending.set(number, { subject, payload, id, deadlineMs, settle });
      this.bytes += payload.length;
      if (this.#unsent.length === 0) setImmediate(() => this.#send());
      this.#unsent.push(number);
    });
  }

  /** Sends queued messages and answers every waiting caller. */
  close(): void {
    this.#endSweep();
    this.#send();
    this.#failAll();
  }

  #send(): void {
    const { client, connection } = this.#cluster;
    for (const number of this.#unsent.splice(0)) {
      const { subject, payload, id } = this.#pending.get(number)!;
      const headers = client.headers();
      headers.set('Nats-Msg-Id', id);
      try {
        connection.publish(subject, payload, { reply: `${this.#inbox}.${number}`, headers });
      } catch (error) {
        this.#settle(number, { kind: 'refused', detail: errorText(error), scope: 'view' });
      }
    }
  }

  #settle(number: string, failure: Failure | undefined): void {
    const pending = this.#pending.get(number);
    // The answer came too late.
    if (pending === undefined) return;
    this.#pending.delete(number);
    this.bytes -= pending.payload.length;
    pending.settle(failure);
  }

  #failLate(): void {
    const now = performance.now();
    for (const [number, { deadlineMs }] of this.#pending) {
      if (deadlineMs > now) return;
      this.#settle(number, { kind: 'timeout' });
    }
  }

  #failAll(): void {
    this.#unsent = [];
    for (const number of this.#pending.keys()) this.#settle(number, { kind: 'disconnected' });
  }
}

type Answer = { stream?: string; seq?: number; error?: { description?: string } };

/** Returns why the message wasn't stored; `undefined` if it was. */
function readAnswer(message: Msg, stream: string): Failure | undefined {
  if (message.data.length === 0) return { kind: 'no-leader' };
  let answer: Answer | undefined;
  try {
    answer = message.json<Answer>();
  } catch {
    // Another program answers messages of this subject, too.
  }
  if (answer?.stream === stream && answer.seq !== undefined && !answer.error) return undefined;
  const detail = answer?.error?.description ?? 'the answer came from another stream or program';
  const scope = scopeOf(detail);
  return { kind: 'refused', detail, ...(scope && { scope }) };
}

/** Reads the description, because the servers have the same code for most of these errors. */
function scopeOf(description: string): Failure['scope'] {
  if (/per subject|message size|payload/i.test(description)) return 'view';
  return /^maximum (messages|bytes) exceeded/i.test(description) ? 'space' : undefined;
}
