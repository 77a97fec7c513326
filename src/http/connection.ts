import type { Socket } from 'node:net';
import { LIMITS } from '../base/limits.ts';
import type { NodeExchange } from './node-exchange.ts';

/**
 * Requests of one connection that are handled at the same time. A single read can contain hundreds,
 * and no other connection is served while they are handled.
 */
const PENDING_MAX = 32;
/** Reading resumes when this few are left. Earlier would undo Node's pause for unread answers. */
const RESUME_AT = 8;

/** The interval at which `sweep` must be called. */
export const SWEEP_MS = 500;

/**
 * Bounds what a client can pipeline, which Node's own server does not: it reads on, and keeps
 * every request until those before it are answered. Also ends bodies that are not complete in time,
 * and connections if their client reads no answers. A timer for each of them would cost 3% of the
 * speed.
 */
export class Connection {
  readonly #socket: Socket;
  /** Those whose answer the system has not yet received, in the order of their answers. */
  readonly #pending: NodeExchange[] = [];
  /** The pending requests that are not started yet. */
  readonly #waiting: NodeExchange[] = [];
  #isPaused = false;
  /** Since the last request, whose body is the only one that can be incomplete. */
  #bodySweeps = 0;
  readonly #unreadMs: number;
  #unreadSweeps = 0;

  /** @param unreadMs the time for which the client may leave its answers unread. */
  constructor(socket: Socket, unreadMs: number) {
    this.#socket = socket;
    this.#unreadMs = unreadMs;
    socket.on('close', () => this.#disconnected());
  }

  get isIdle(): boolean {
    return this.#pending.length === 0;
  }

  /** Starts the request at once, or after others of this connection. */
  enqueue(request: NodeExchange): void {
    this.#pending.push(request);
    this.#bodySweeps = 0;
    if (this.#pending.length <= PENDING_MAX) return request.start();
    this.#waiting.push(request);
    if (this.#isPaused) return;
    this.#isPaused = true;
    this.#socket.pause();
  }

  /** Marks the request as answered. Its memory stays reserved until the system has the answer. */
  answered(request: NodeExchange): void {
    request.isAnswered = true;
    if (this.#socket.destroyed) request.reservation.release();
  }

  /** Called when the system has received the next answer. */
  flushed(): void {
    this.#unreadSweeps = 0;
    this.#pending.shift()?.reservation.release();
    if (this.#waiting.length > 0) setImmediate(() => this.#waiting.shift()?.start());
    if (!this.#isPaused || this.#pending.length > RESUME_AT) return;
    this.#isPaused = false;
    this.#socket.resume();
  }

  /** Ends requests and connections that are too slow. Called every `SWEEP_MS`. */
  sweep(): void {
    if (++this.#bodySweeps > LIMITS.bodyTimeoutMs / SWEEP_MS) this.#pending.at(-1)?.giveUp();
    if (this.#socket.writableLength === 0) this.#unreadSweeps = 0;
    else if (++this.#unreadSweeps > this.#unreadMs / SWEEP_MS) this.#socket.destroy();
  }

  #disconnected(): void {
    this.#pending.at(-1)?.giveUp();
    for (const { reservation } of this.#waiting.splice(0)) reservation.release();
    for (const { isAnswered, reservation } of this.#pending) if (isAnswered) reservation.release();
  }
}
