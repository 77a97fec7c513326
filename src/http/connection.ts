import type { Socket } from 'node:net';
import type { Reservation } from './memory-budget.ts';

/**
 * Requests of one connection that are handled at the same time. A single read can contain hundreds,
 * and nobody else has a turn while they are handled.
 */
const PENDING_MAX = 32;
/** Reading goes on when this few are left. Sooner would undo Node's own pause for unread answers. */
const RESUME_AT = 8;

/** A request whose answer the system has not taken yet. */
export interface Pending {
  readonly reservation: Reservation;
  isAnswered: boolean;
  start(): void;
}

/**
 * Bounds what a client can pipeline, which Node's own server does not: it reads on, and keeps every
 * request until those before it are answered.
 */
export class Connection {
  readonly #socket: Socket;
  /** In the order of their answers. */
  readonly #pending: Pending[] = [];
  /** Those of them that are not started yet. */
  readonly #waiting: Pending[] = [];
  #isPaused = false;
  #isGone = false;

  constructor(socket: Socket) {
    this.#socket = socket;
    socket.on('close', () => this.#disconnected());
  }

  get isIdle(): boolean {
    return this.#pending.length === 0;
  }

  /** Starts the request at once, or after others of this connection. */
  enqueue(request: Pending): void {
    this.#pending.push(request);
    if (this.#pending.length <= PENDING_MAX) return request.start();
    this.#waiting.push(request);
    if (this.#isPaused) return;
    this.#isPaused = true;
    this.#socket.pause();
  }

  /** The request is answered. Its memory stays reserved until the system has taken the answer. */
  answered(request: Pending): void {
    request.isAnswered = true;
    if (this.#isGone) request.reservation.release();
  }

  /** The system has taken the next answer. A function, so that one serves as every listener. */
  readonly flushed = (): void => {
    this.#pending.shift()?.reservation.release();
    if (this.#waiting.length > 0) setImmediate(() => this.#waiting.shift()?.start());
    if (!this.#isPaused || this.#pending.length > RESUME_AT) return;
    this.#isPaused = false;
    this.#socket.resume();
  };

  #disconnected(): void {
    this.#isGone = true;
    for (const { reservation } of this.#waiting.splice(0)) reservation.release();
    for (const { isAnswered, reservation } of this.#pending) if (isAnswered) reservation.release();
  }
}
