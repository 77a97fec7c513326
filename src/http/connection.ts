import type { IncomingMessage, Server } from 'node:http';
import type { Socket } from 'node:net';
import { LIMITS } from '../base/limits.ts';
import type { OneWriteResponse } from './one-write-response.ts';
import type { Room } from './room.ts';

// Requests that a client sends without waiting for their answers are the one thing that Node's own
// server does not bound: it reads on, and keeps each until those before it are answered.
/** Of one connection as many are worked on at once, and no more are read … */
const OWED_MAX = 32;
/** … until it is owed no more answers than so many. */
const OWED_AGAIN = 8;
/** How often connections are looked over for what takes too long. */
const SWEEP_MS = 500;

export type NodeServer = Server<typeof IncomingMessage, typeof OneWriteResponse>;

/**
 * Keeps a `Connection` for each socket, and has none of them wait for ever.
 * @param unreadMs how long a client may leave its answers unread.
 */
export function watchConnections(server: NodeServer, unreadMs: number): Map<Socket, Connection> {
  const connections = new Map<Socket, Connection>();
  let sweep: ReturnType<typeof setInterval> | undefined;
  server.on('connection', (socket: Socket) => {
    connections.set(socket, new Connection(socket, unreadMs));
    socket.on('close', () => {
      connections.get(socket)!.leave();
      connections.delete(socket);
      if (connections.size === 0) clearInterval(sweep);
    });
    if (connections.size > 1) return;
    sweep = setInterval(() => {
      for (const connection of connections.values()) connection.expire();
    }, SWEEP_MS);
    sweep.unref();
  });
  return connections;
}

/** What a connection is owed and owes. */
export class Connection {
  readonly #socket: Socket;
  readonly #unreadMs: number;
  /** The rooms of requests whose answers it has not read yet, in the order it will read them. */
  readonly #owed: Room[] = [];
  #isHeld = false;
  /** Requests that are not worked on yet. */
  readonly #waiting: { readonly room: Room; readonly start: () => void }[] = [];
  /** Ends the body that is being read; of several, only the last can be incomplete. */
  #expireBody: (() => void) | undefined;
  #bodySweeps = 0;
  #unreadSweeps = 0;
  #isGone = false;

  constructor(socket: Socket, unreadMs: number) {
    this.#socket = socket;
    this.#unreadMs = unreadMs;
  }

  /** How many answers it is owed. */
  get owed(): number {
    return this.#owed.length;
  }

  /**
   * One more request, worked on by `start`: at once, or when others of the connection are answered.
   * What was read in one piece can be hundreds, and nobody else has a turn while they are worked on.
   */
  owe(room: Room, start: () => void): void {
    this.#owed.push(room);
    if (this.#owed.length <= OWED_MAX) return start();
    this.#waiting.push({ room, start });
    if (this.#isHeld) return;
    this.#isHeld = true;
    this.#socket.pause();
  }

  /** A body is being read; `expire` gives it up once it takes too long, or the client is gone. */
  awaitBody(expire: () => void): void {
    this.#expireBody = expire;
    this.#bodySweeps = 0;
  }

  /** It has come to its end. */
  hasBody(expire: () => void): void {
    if (this.#expireBody === expire) this.#expireBody = undefined;
  }

  /** An answer was given; its request's room stays taken until the client reads it. */
  give(room: Room): void {
    if (this.#isGone) room.close();
    else room.isAnswered = true;
  }

  /** The system has taken the next answer. */
  given(): void {
    this.#owed.shift()?.close();
    this.#unreadSweeps = 0;
    if (this.#waiting.length > 0) setImmediate(() => this.#waiting.shift()?.start());
    if (!this.#isHeld || this.owed > OWED_AGAIN) return;
    this.#isHeld = false;
    this.#socket.resume();
  }

  /** The client is gone. */
  leave(): void {
    this.#isGone = true;
    this.#expireBody?.();
    for (const room of this.#owed) if (room.isAnswered) room.close();
    for (const { room } of this.#waiting.splice(0)) room.close();
  }

  /** Ends what takes too long, looked at every `SWEEP_MS`. */
  expire(): void {
    if (this.#expireBody !== undefined && ++this.#bodySweeps > LIMITS.bodyTimeoutMs / SWEEP_MS) {
      this.#expireBody();
      this.#expireBody = undefined;
    }
    // A stream has no end for hours; what the system has taken of it is not unread.
    if (this.#socket.writableLength === 0) this.#unreadSweeps = 0;
    else if (++this.#unreadSweeps > this.#unreadMs / SWEEP_MS) this.#socket.destroy();
  }
}
