import { createServer, IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { LIMITS } from '../base/limits.ts';
import { type Connection, type NodeServer, watchConnections } from './connection.ts';
import {
  type Answer,
  type BodyFault,
  type Exchange,
  type HeaderName,
  pathOf,
  piecesMaxOf,
} from './exchange.ts';
import { FewHeaders } from './few-headers.ts';
import {
  type DirectOptions,
  type FetchOptions,
  type Listener,
  type ListenOptions,
  QUEUE_BYTES,
  TIMING,
  urlOf,
} from './listener.ts';
import { OneWriteResponse } from './one-write-response.ts';
import { Queue, type Room } from './room.ts';

/** @throws the system's error where the address cannot be listened on. */
export async function listenOnNode(options: ListenOptions): Promise<Listener> {
  const { host, port, queue = new Queue(QUEUE_BYTES), unreadMs = TIMING.unreadMs } = options;
  const answer = options.isFetch ? throughFetchApi(options) : directly(options);
  let isStopping = false;
  const server = createServer(
    {
      headersTimeout: TIMING.headersTimeoutMs,
      requestTimeout: TIMING.requestTimeoutMs,
      keepAliveTimeout: TIMING.keepAliveMs,
      connectionsCheckingInterval: 5_000,
      ServerResponse: OneWriteResponse,
      // Hono's server looks at them all.
      IncomingMessage: options.isFetch ? IncomingMessage : FewHeaders,
    },
    (incoming, outgoing) => {
      if (isStopping) outgoing.shouldKeepAlive = false;
      const connection = connections.get(incoming.socket)!;
      const room = queue.open();
      // Its refusal would have to wait behind the answers that this connection is owed already.
      if (!room.isOpen && connection.owed > 0) {
        incoming.socket.destroy();
        return;
      }
      connection.owe(room, () =>
        answer(new NodeExchange(incoming, outgoing, connection, room), incoming, outgoing),
      );
    },
  );
  // A client may end its side once it has sent its views, and still wait for the answers.
  (server as { httpAllowHalfOpen?: boolean }).httpAllowHalfOpen = true;
  const connections = watchConnections(server, unreadMs);
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, resolve);
  });
  return {
    url: urlOf(host, (server.address() as AddressInfo).port),
    stop(timeoutMs) {
      isStopping = true;
      return stopNode(server, timeoutMs);
    },
  };
}

type AnswerIt = (
  exchange: NodeExchange,
  incoming: IncomingMessage,
  outgoing: OneWriteResponse,
) => void;

/** Past the Fetch API: its objects cost a view 3 % of all speed, and nobody looks at them. */
const directly =
  ({ handler, unreadable }: DirectOptions): AnswerIt =>
  (exchange) => {
    const fail = (): void => void unreadable(exchange);
    try {
      const answered = handler(exchange);
      if (answered instanceof Promise) answered.catch(fail);
    } catch {
      fail();
    }
  };

/**
 * Hono's server makes the `Request`, and writes the `Response`. With it comes Node's Fetch API, a
 * tenth of a start and 5 MiB: no collector pays that before somebody looks at it.
 */
function throughFetchApi({ handler, unreadable }: FetchOptions): AnswerIt {
  let current!: NodeExchange;
  const load = async () => {
    const { getRequestListener } = await import('@hono/node-server');
    return getRequestListener((request) => handler(current, request), {
      overrideGlobalObjects: true,
      // It reads up to 64 MiB.
      autoCleanupIncoming: false,
      errorHandler: () => unreadable(current),
      hostname: 'localhost', // stands in for HTTP/1.0's absent Host
    });
  };
  let loaded: ReturnType<typeof load> | undefined;
  return (exchange, incoming, outgoing) =>
    void (loaded ??= load()).then((listener) => {
      current = exchange;
      void listener(incoming, outgoing);
      // Its answer is Hono's server's to write, whenever that is.
      exchange.give();
    });
}

async function stopNode(server: NodeServer, timeoutMs: number): Promise<void> {
  const closed = new Promise<void>((resolve) => server.close(() => resolve()));
  // A connection goes idle when its answer is out; Node closes only those idle at `close()`.
  const sweep = setInterval(() => server.closeIdleConnections(), 20);
  const cutOff = setTimeout(() => server.closeAllConnections(), timeoutMs);
  await closed;
  clearInterval(sweep);
  clearTimeout(cutOff);
}

/** What `respond` returns, which nobody looks at. */
const RESPONSE = {} as Response;

/** A request as Node's HTTP server has it; answers are written past the Fetch API's objects. */
class NodeExchange implements Exchange {
  readonly #incoming: IncomingMessage;
  readonly #outgoing: OneWriteResponse;
  readonly #connection: Connection;
  readonly #room: Room;

  constructor(
    incoming: IncomingMessage,
    outgoing: OneWriteResponse,
    connection: Connection,
    room: Room,
  ) {
    this.#incoming = incoming;
    this.#outgoing = outgoing;
    this.#connection = connection;
    this.#room = room;
    outgoing.owner = connection;
  }

  get method(): string {
    return this.#incoming.method!;
  }

  get path(): string {
    return pathOf(this.#incoming.url!);
  }

  header(name: HeaderName): string | undefined {
    return this.#incoming.headers[name];
  }

  read(bytesMax: number): Promise<Uint8Array | BodyFault> {
    const incoming = this.#incoming;
    if (Number(incoming.headers['content-length']) > bytesMax) return Promise.resolve('too-large');
    return new Promise((resolve) => {
      const pieces: Buffer[] = [];
      let bytes = 0;
      let isDone = false;
      const onData = (piece: Buffer): void => {
        if (isDone) return;
        bytes += piece.length;
        if (bytes > bytesMax) fail('too-large');
        else if (pieces.length === piecesMaxOf(bytesMax)) fail('too-many-pieces');
        else if (this.#room.take(piece.length)) pieces.push(piece);
        else fail('no-room');
      };
      const fail = (fault: BodyFault): void => {
        if (isDone) return;
        isDone = true;
        pieces.length = 0;
        resolve(fault);
      };
      // It is late, or its client has gone.
      const expire = (): void => fail('incomplete');
      this.#connection.awaitBody(expire);
      incoming.on('data', onData);
      incoming.on('end', () => {
        isDone = true;
        this.#connection.hasBody(expire);
        resolve(pieces.length === 1 ? pieces[0]! : Buffer.concat(pieces));
      });
    });
  }

  respond(answer: Answer | Promise<Answer>): Response {
    if (answer instanceof Promise) void answer.then((given) => this.#answer(given));
    else this.#answer(answer);
    return RESPONSE;
  }

  breakOff(): void {
    this.#outgoing.destroy();
  }

  #answer(answer: Answer): void {
    const incoming = this.#incoming;
    if (incoming.complete || !hasBody(incoming)) this.#write(answer, true);
    else void drain(incoming).then((isWhole) => this.#write(answer, isWhole));
  }

  /** @param isWhole whether the request was read to its end. */
  #write({ status, headers, body }: Answer, isWhole: boolean): void {
    const outgoing = this.#outgoing;
    try {
      outgoing.writeHead(status, fieldsOf(headers, body, isWhole));
      if (isWhole) {
        outgoing.end(body ?? '');
      } else {
        outgoing.write(body ?? '');
        setTimeout(() => outgoing.end(), LIMITS.lingerMs);
      }
    } catch {
      outgoing.destroy();
    }
    this.give();
  }

  /** The answer is given, or somebody else gives it: from here on the room waits for the client. */
  give(): void {
    this.#connection.give(this.#room);
  }
}

/** An answer's header fields as a flat list: adding to an object costs Node a tenth of its speed. */
function fieldsOf(headers: Answer['headers'], body: string | null, isWhole: boolean): string[] {
  const fields: string[] = [];
  for (const name in headers) fields.push(name, headers[name]!);
  if (body !== null) fields.push('Content-Length', String(Buffer.byteLength(body)));
  if (!isWhole) fields.push('Connection', 'close');
  return fields;
}

const hasBody = ({ headers }: IncomingMessage): boolean =>
  headers['content-length'] !== undefined || headers['transfer-encoding'] !== undefined;

/** Reads on and forgets; resolves to whether the body came to its end within the limits. */
function drain(incoming: IncomingMessage): Promise<boolean> {
  if (incoming.readableEnded) return Promise.resolve(true);
  if (incoming.destroyed) return Promise.resolve(false);
  return new Promise((resolve) => {
    let bytes = 0;
    let pieces = 0;
    let isDone = false;
    const finish = (isWhole: boolean): void => {
      if (isDone) return;
      isDone = true;
      clearTimeout(timer);
      if (!isWhole) readNoMore(incoming);
      resolve(isWhole);
    };
    const onData = (piece: Buffer): void => {
      bytes += piece.length;
      if (bytes > LIMITS.drainBytesMax || ++pieces > LIMITS.drainPiecesMax) finish(false);
    };
    const timer = setTimeout(finish, LIMITS.drainMs, false);
    incoming.on('data', onData);
    incoming.on('end', () => finish(true));
    incoming.on('close', () => finish(false));
    incoming.resume();
  });
}

/**
 * Stops the socket, and not the request: what is left of the read at hand goes to its listeners,
 * which forget it. A paused request would keep that, and in chunks of a byte it is 11,000 objects.
 */
function readNoMore(incoming: IncomingMessage): void {
  // oxlint-disable-next-line no-underscore-dangle -- what a stream is made with; Node's own starts the socket again
  incoming._read = () => {};
  incoming.socket.pause();
}
