import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { LIMITS } from '../base/limits.ts';
import { Body, EMPTY } from './body.ts';
import { type Answer, type BodyFault, type Exchange, type Handler, pathOf } from './exchange.ts';
import type { HeaderName } from './few-headers.ts';
import { type MemoryBudget, Reservation } from './memory-budget.ts';
import type { OneWriteResponse } from './one-write-response.ts';

/**
 * Requests of one connection that are handled at the same time. As many form a row, after which the
 * other connections get their turn: a single read can contain hundreds of requests.
 */
const STARTED_MAX = 32;
/**
 * Reading resumes when only this many are left. Resuming sooner would override the pause that Node
 * applies while answers are unread.
 */
const RESUME_AT = 8;

/**
 * A connection's state. `silent`: its client hasn't sent a byte. `waiting`: no request is in
 * flight; part of the next head may have arrived. `arriving`: the body of its last request isn't
 * complete. `answering`: the handler works on its requests. `unread`: its client doesn't read the
 * answers.
 */
export type State = 'silent' | 'waiting' | 'arriving' | 'answering' | 'unread';

/** How long a connection may stay in a state without a request or an answer, in milliseconds. */
export type StateLimits = Readonly<Record<State, number>>;

/**
 * One connection of Node's server, from its start to its end: its state and its requests.
 *
 * Node's own server reads on and holds every request until those before it are answered. This
 * class bounds what a client can pipeline and ends bodies and connections that take too long. A
 * timer for each connection would cost 3% of throughput, so the server sweeps all of them.
 */
export class NodeConnection {
  readonly #socket: Socket;
  readonly #limits: StateLimits;
  /** Requests whose answer the system hasn't yet received, in the order of their answers. */
  readonly #pending: NodeExchange[] = [];
  /** The pending requests that aren't started yet. */
  readonly #waiting: NodeExchange[] = [];
  /** Requests started in the present row. */
  #inRow = 0;
  #isPaused = false;
  /** True once the rest of what was read is ignored. */
  #isDropped = false;
  /** The state at the last sweep and the sweeps since it began. */
  #swept: State = 'silent';
  #sweeps = 0;

  constructor(socket: Socket, limits: StateLimits) {
    this.#socket = socket;
    this.#limits = limits;
    socket.on('close', () => this.#disconnected());
    // Node resumes a socket at the end of each request that has arrived.
    socket.on('resume', () => this.#isPaused && socket.pause());
  }

  get state(): State {
    if (this.#socket.writableLength > 0) return 'unread';
    const last = this.#pending.at(-1);
    if (last !== undefined) return last.isArriving ? 'arriving' : 'answering';
    return this.#socket.bytesRead === 0 ? 'silent' : 'waiting';
  }

  /** True if no request is in flight; part of a head may have arrived. */
  get isIdle(): boolean {
    return this.#pending.length === 0;
  }

  /** Starts the request immediately or after others of this connection. */
  enqueue(request: NodeExchange): void {
    if (this.#isDropped) return request.reservation.release();
    const isNext = this.#waiting.length === 0 && this.#mayStart();
    this.#pending.push(request);
    this.#sweeps = 0;
    if (isNext) return this.#start(request);
    this.#waiting.push(request);
    if (this.#isPaused) return;
    this.#isPaused = true;
    this.#socket.pause();
  }

  #mayStart(): boolean {
    const started = this.#pending.length - this.#waiting.length;
    return started < STARTED_MAX && this.#inRow < STARTED_MAX;
  }

  #start(request: NodeExchange): void {
    // The next row begins after the other connections have had their turn.
    if (++this.#inRow === STARTED_MAX) setImmediate(() => this.#beginRow());
    request.start();
  }

  #beginRow(): void {
    this.#inRow = 0;
    this.#startWaiting();
  }

  #startWaiting(): void {
    while (this.#waiting.length > 0 && this.#mayStart()) this.#start(this.#waiting.shift()!);
  }

  isLast(request: NodeExchange): boolean {
    return this.#pending.at(-1) === request;
  }

  /** Marks the request as answered. Its memory stays reserved until the system has the answer. */
  answered(request: NodeExchange): void {
    request.isAnswered = true;
    if (this.#socket.destroyed) request.reservation.release();
  }

  /** Called when the system has received the next answer. */
  flushed(): void {
    this.#sweeps = 0;
    this.#pending.shift()?.reservation.release();
    this.#startWaiting();
    if (!this.#isPaused || this.#pending.length > RESUME_AT) return;
    this.#isPaused = false;
    this.#socket.resume();
  }

  /** Stops waiting for the rest of a body. Returns whether there is one. */
  endBody(): boolean {
    const last = this.#pending.at(-1);
    if (last?.isArriving !== true) return false;
    last.giveUp();
    return true;
  }

  /** Ends a body or a connection that takes too long. Called every `LIMITS.sweepMs`. */
  sweep(): void {
    const { state } = this;
    if (state !== this.#swept) this.#sweeps = 0;
    this.#swept = state;
    if (++this.#sweeps * LIMITS.sweepMs <= this.#limits[state]) return;
    if (state === 'arriving') this.endBody();
    else this.#socket.destroy();
  }

  /**
   * Ends the connection and frees its memory immediately. Node emits `close` only after it has read
   * from all other connections, whose views would find no memory.
   */
  drop(): void {
    this.#isDropped = true;
    this.#socket.destroy();
    this.#disconnected();
  }

  #disconnected(): void {
    this.#pending.at(-1)?.giveUp();
    for (const { reservation } of this.#waiting.splice(0)) reservation.release();
    for (const { isAnswered, reservation } of this.#pending) if (isAnswered) reservation.release();
  }
}

/** The parts that all requests of a server share. */
export interface NodeService {
  readonly handler: Handler;
  readonly budget: MemoryBudget;
  /** True if each connection is to end with its next answer. */
  isStopping: boolean;
}

/** A request on Node's HTTP server. The Fetch API's objects would cost 40% of throughput. */
export class NodeExchange implements Exchange {
  readonly reservation: Reservation;
  /** True once the answer is written, but perhaps not yet sent. */
  isAnswered = false;
  readonly #incoming: IncomingMessage;
  readonly #outgoing: OneWriteResponse;
  readonly #connection: NodeConnection;
  readonly #service: NodeService;
  /** The body, if it arrives in several pieces. */
  #body: Body | undefined;
  /** Set by the first `read` that waits for the body. */
  #finish: ((result: Uint8Array | BodyFault) => void) | undefined;

  constructor(
    incoming: IncomingMessage,
    outgoing: OneWriteResponse,
    connection: NodeConnection,
    service: NodeService,
  ) {
    this.#incoming = incoming;
    this.#outgoing = outgoing;
    this.#connection = connection;
    this.#service = service;
    this.reservation = new Reservation(service.budget);
    outgoing.owner = connection;
  }

  get method(): string {
    return this.#incoming.method!;
  }

  get path(): string {
    return pathOf(this.#incoming.url!);
  }

  /** True until the end of the request has arrived. */
  get isArriving(): boolean {
    return !this.#incoming.complete;
  }

  get bytesRead(): number {
    return this.#body?.bytes ?? 0;
  }

  header(name: HeaderName): string | undefined {
    return this.#incoming.headers[name] as string | undefined; // `FewHeaders` has no lists
  }

  start(): void {
    const answer = this.#service.handler(this);
    if (answer instanceof Promise) void answer.then((ready) => this.#answer(ready));
    else this.#answer(answer);
  }

  read(bytesMax: number): Promise<Uint8Array | BodyFault> {
    const incoming = this.#incoming;
    const length = Number(incoming.headers['content-length']);
    if (length > bytesMax) return Promise.resolve('too-large');
    return new Promise((resolve) => {
      this.#finish = resolve;
      const { reservation } = this;
      let whole: Buffer | undefined;
      incoming.on('data', (piece: Buffer) => {
        // Most views arrive in one piece, which Node has already copied out of its read buffer.
        if (piece.length === length && reservation.tryReserve(length)) {
          whole = piece;
          return;
        }
        this.#body ??= new Body(bytesMax, reservation);
        const fault = this.#body.add(piece);
        if (fault !== undefined) resolve(fault);
      });
      incoming.on('end', () => resolve(whole ?? this.#body?.whole ?? EMPTY));
    });
  }

  /** Stops waiting for the rest of the body. */
  giveUp(): void {
    this.#finish?.('incomplete');
  }

  #answer(answer: Answer): void {
    const incoming = this.#incoming;
    if (incoming.complete || !hasBody(incoming)) this.#write(answer, true);
    else void this.#discardRest().then((isWhole) => this.#write(answer, isWhole));
  }

  /** Reads a body that isn't needed. Resolves to whether it ended within the limits. */
  async #discardRest(): Promise<boolean> {
    const timer = setTimeout(() => this.giveUp(), LIMITS.drainMs);
    if (this.#finish === undefined) await this.read(LIMITS.drainBytesMax);
    // The rest of the body may have arrived with the piece that was refused.
    else await new Promise((next) => setImmediate(next));
    clearTimeout(timer);
    const { complete } = this.#incoming;
    if (!complete) stopReading(this.#incoming);
    return complete;
  }

  /** @param isWhole whether the request was read to its end. */
  #write({ status, headers, body }: Answer, isWhole: boolean): void {
    const outgoing = this.#outgoing;
    const connection = this.#connection;
    // Otherwise the client could send its next request while the connection is being closed.
    if (this.#service.isStopping && connection.isLast(this)) outgoing.shouldKeepAlive = false;
    outgoing.writeHead(status, rawHeadersOf(headers, body, isWhole));
    if (isWhole) {
      outgoing.end(body ?? '');
    } else {
      outgoing.write(body ?? '');
      setTimeout(() => outgoing.end(), LIMITS.lingerMs);
    }
    connection.answered(this);
  }
}

/** An answer's headers as a flat list: adding to an object costs Node a tenth of its speed. */
function rawHeadersOf(headers: Answer['headers'], body: string | null, isWhole: boolean): string[] {
  const fields: string[] = [];
  for (const name in headers) fields.push(name, headers[name]!);
  if (body !== null) fields.push('Content-Length', String(Buffer.byteLength(body)));
  if (!isWhole) fields.push('Connection', 'close');
  return fields;
}

const hasBody = ({ headers }: IncomingMessage): boolean =>
  headers['content-length'] !== undefined || headers['transfer-encoding'] !== undefined;

/**
 * Pauses the socket, not the request: the rest of the current read still goes to the listeners,
 * which drop it. A paused request would hold that rest in memory, as 11,000 objects if its chunks
 * are single bytes.
 */
function stopReading(incoming: IncomingMessage): void {
  // Node's own function would start the socket again.
  // oxlint-disable-next-line no-underscore-dangle -- the documented hook of a stream
  incoming._read = () => {};
  incoming.socket.pause();
}
