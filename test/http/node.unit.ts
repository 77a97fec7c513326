import { connect } from 'node:net';
import { expect, it, onTestFinished } from 'vitest';
import { LIMITS } from '../../src/base/limits.ts';
import type { Answer, Handler } from '../../src/http/exchange.ts';
import { MemoryBudget } from '../../src/http/memory-budget.ts';
import { listenOnNode } from '../../src/http/node.ts';
import { chunk, CHUNKED, post, speak } from '../support/raw.ts';
import { until } from '../support/viewlog.ts';

interface Options {
  readonly limits?: Partial<Record<keyof typeof LIMITS, number>>;
  readonly bytesMax?: number;
}

async function listen(handler: Handler, { limits, bytesMax = 64 * 1024 }: Options = {}) {
  const budget = new MemoryBudget(bytesMax);
  const address = { host: '127.0.0.1', port: 0 };
  const all = { ...LIMITS, ...limits };
  const listener = await listenOnNode({ ...address, budget, handler }, undefined, all);
  onTestFinished(() => listener.stop(0));
  return { budget, listener, port: listener.address.port };
}

/**
 * Opens a connection and sends the text. Adds the name to `closed` when the server closes the
 * connection.
 */
async function open(port: number, name: string, text: string, closed: string[] = []) {
  const socket = connect({ port, host: '127.0.0.1' });
  let received = '';
  socket.on('data', (piece) => (received += piece.toString()));
  const ended = new Promise<void>((resolve) => {
    socket
      .on('error', () => {})
      .on('close', () => {
        closed.push(name);
        resolve();
      });
  });
  onTestFinished(() => void socket.destroy());
  await new Promise((sent) => socket.write(text, sent));
  return { socket, ended, received: () => received };
}

const nothing: Handler = () => ({ status: 204, headers: {}, body: null });

const HEAD = 'GET / HTTP/1.1\r\nHost: x\r\n';
const REQUEST = `${HEAD}\r\n`;
/** The most that Node reads at once. */
const READ_BYTES = 64 * 1024;

it('the server closes the connection of a client that never reads its answer and frees the memory', async () => {
  // More than the buffers of a socket hold.
  const body = 'x'.repeat(32 * 1024 * 1024);
  const { budget, port } = await listen(() => ({ status: 200, headers: {}, body }), {
    limits: { unreadTimeoutMs: 500 },
  });
  const client = connect(port, '127.0.0.1');
  client.on('error', () => {});
  client.pause();
  client.write(REQUEST);
  await until(() => budget.bytes > 0);
  await until(() => budget.bytes === 0);
  // Reads the bytes that were sent before the server closed the connection.
  let read = 0;
  client.on('data', (piece) => (read += piece.length)).resume();
  await new Promise((resolve) => client.on('close', resolve));
  expect(read).toBeLessThan(body.length);
});

it('the server answers 100 requests on a keep-alive connection and frees their memory', async () => {
  const { budget, port } = await listen(nothing, { bytesMax: 1024 * 1024 });
  const { answers } = await speak(port, { pieces: [post('{}').repeat(100)] }, 300);
  expect(answers).toHaveLength(100);
  await until(() => budget.bytes === 0);
});

it.each([
  ['with its length', post('x'.repeat(100))],
  ['in chunks', `${post('', CHUNKED)}${chunk('x'.repeat(100))}0\r\n\r\n`],
])('while the memory budget is full, the server refuses a body sent %s', async (_, request) => {
  const waiting: (() => void)[] = [];
  const handler: Handler = async (exchange) => {
    const body = await exchange.read(1024);
    if (typeof body === 'string') return { status: 503, headers: {}, body };
    await new Promise<void>((resolve) => waiting.push(resolve));
    return { status: 201, headers: {}, body: null };
  };
  const { budget, port } = await listen(handler, { bytesMax: 2 * (8 * 1024 + 100) });
  const send = () => speak(port, { pieces: [request] }, 100);
  const held = [send(), send()];
  await until(() => waiting.length === 2);
  expect(budget.bytes).toBe(2 * (8 * 1024 + 100));
  // The connection stays open, because a new connection would have to wait behind an attacker's.
  const answer = { status: 503, body: 'over-budget', headers: { connection: 'keep-alive' } };
  expect((await send()).answers).toMatchObject([answer]);
  for (const answer of waiting) answer();
  for (const one of held) expect((await one).answers).toMatchObject([{ status: 201 }]);
  await until(() => budget.bytes === 0);
});

it("in one turn of the event loop, the server starts at most 32 of a connection's requests", async () => {
  let [starts, most, all] = [0, 0, 0];
  const { port } = await listen(
    async (exchange) => {
      if (starts === 0) setImmediate(() => (starts = 0));
      most = Math.max(most, ++starts);
      all += 1;
      await exchange.read(10);
      return nothing(exchange);
    },
    { bytesMax: 32 * 1024 * 1024 },
  );
  const { answers } = await speak(port, { pieces: [post('{}').repeat(500)] }, 500);
  expect([answers.length, all]).toStrictEqual([500, 500]);
  expect(most).toBeLessThanOrEqual(32);
});

it("the server doesn't read on while it works on 32 requests of a connection", async () => {
  const paths: string[] = [];
  const { budget, port } = await listen(
    ({ path }) => {
      paths.push(path);
      return new Promise(() => {});
    },
    { bytesMax: 256 * 1024 * 1024 },
  );
  const one = post('{}');
  const client = connect(port, '127.0.0.1');
  onTestFinished(() => void client.destroy());
  client.write(one.repeat(20_000));
  await until(() => paths.length === 32);
  // Each of these needs at least one more turn of the event loop.
  for (const path of ['/1', '/2', '/3', '/4', '/5']) {
    await open(port, path, REQUEST.replace('/', path));
    await until(() => paths.at(-1) === path);
  }
  expect(paths).toHaveLength(32 + 5);
  expect(budget.bytes / (8 * 1024)).toBeLessThanOrEqual(5 + (2 * READ_BYTES) / one.length);
});

it('the server starts 32 requests of a connection and frees the memory of the others once an answer finds that the client has left', async () => {
  const started: ((answer: Answer) => void)[] = [];
  const handler: Handler = () => new Promise((resolve) => started.push(resolve));
  const { budget, port } = await listen(handler, { bytesMax: 1024 * 1024 });
  const client = connect(port, '127.0.0.1');
  client.write(REQUEST.repeat(40));
  await until(() => budget.bytes === 40 * 8 * 1024);
  expect(started).toHaveLength(32);
  client.resetAndDestroy();
  const answer = () => started.shift()?.({ status: 204, headers: {}, body: null });
  answer();
  await until(() => budget.bytes <= 32 * 8 * 1024);
  // The server may have started one more before it found that the client has left.
  expect(started.length).toBeLessThanOrEqual(32);
  while (started.length > 0) answer();
  await until(() => budget.bytes === 0);
  expect(started).toHaveLength(0);
});

it('the server frees the memory of requests that exceed the budget before it reads from other connections', async () => {
  const { budget, port } = await listen(nothing);
  // Node emits the connection's `close` only after it has read from all other connections.
  const bytesAfterRefusal = new Promise((resolve) => {
    const reserve = budget.tryReserve.bind(budget);
    budget.tryReserve = (bytes) => {
      const isReserved = reserve(bytes);
      if (!isReserved) queueMicrotask(() => resolve(budget.bytes));
      return isReserved;
    };
  });
  await open(port, '', REQUEST.repeat(20));
  expect(await bytesAfterRefusal).toBe(0);
  await until(() => budget.bytes === 0);
});

it('the server frees the memory of a body whose client leaves before its end', async () => {
  const read: unknown[] = [];
  const { budget, port } = await listen(async (exchange) => {
    read.push(await exchange.read(1024), exchange.bytesRead);
    return { status: 204, headers: {}, body: null };
  });
  const client = connect(port, '127.0.0.1');
  client.write(post('half', { 'Content-Length': '8' }));
  await until(() => budget.bytes === 8 * 1024 + 4);
  client.resetAndDestroy();
  await until(() => budget.bytes === 0);
  expect(read).toStrictEqual(['incomplete', 4]);
});

it('the server answers a body whose sender ends its side too soon', async () => {
  const { budget, port } = await listen(async (exchange) => ({
    status: 408,
    headers: {},
    body: String(await exchange.read(1024)),
  }));
  const { socket, ended, received } = await open(
    port,
    'half',
    post('half', { 'Content-Length': '8' }),
  );
  socket.end();
  await ended;
  expect(received()).toMatch(/^HTTP\/1\.1 408 .*\r\nincomplete$/s);
  await until(() => budget.bytes === 0);
});

it('the server closes a connection with an incomplete head sooner than one that is silent or idle, or that sends empty lines', async () => {
  const limits = { headTimeoutMs: 500, idleTimeoutMs: 3_000 };
  const { port } = await listen(nothing, { limits });
  const closed: string[] = [];
  const silent = await open(port, 'silent', '', closed);
  const half = await open(port, 'half', HEAD, closed);
  const behind = await open(port, 'half behind a request', REQUEST + HEAD, closed);
  const idle = await open(port, 'idle', REQUEST, closed);
  const lines = await open(port, 'empty lines', REQUEST, closed);
  const keepOn = setInterval(() => lines.socket.write('\r\n'), 200);
  await Promise.all([half.ended, behind.ended]);
  expect(half.received()).toMatch(/^HTTP\/1.1 408 /);
  await until(() => closed.length === 5);
  clearInterval(keepOn);
  expect(closed.slice(0, 2).toSorted()).toStrictEqual(['half', 'half behind a request']);
  expect(closed.slice(2).toSorted()).toStrictEqual(['empty lines', 'idle', 'silent']);
  expect(silent.received()).toBe('');
  expect(idle.received()).toMatch(/^HTTP\/1.1 204 .*$/m);
});

it('the server answers the first request of a connection that was silent for longer than a head may take', async () => {
  const { port } = await listen(nothing, { limits: { headTimeoutMs: 200 } });
  const late = await open(port, 'late', '');
  const half = await open(port, 'half', HEAD);
  await half.ended;
  late.socket.write(HEAD);
  late.socket.write('\r\n');
  await until(() => late.received().startsWith('HTTP/1.1 204 '));
  // After its first request, the connection has only the usual time for a head.
  late.socket.write(HEAD);
  await late.ended;
});

it('beyond its limit of connections, the server closes the oldest unused one, or else the oldest idle one', async () => {
  const { port } = await listen((exchange) => (exchange.path === '/' ? nothing(exchange) : held), {
    limits: { connectionsMax: 3 },
  });
  const held = new Promise<Answer>(() => {});
  const closed: string[] = [];
  const next = async (name: string, text: string) => {
    const client = await open(port, name, text, closed);
    if (text === REQUEST) await until(() => client.received() !== '' || closed.includes(name));
    return client;
  };
  await next('idle', REQUEST);
  await next('silent', '');
  await next('silent, too', '');
  expect(closed).toStrictEqual([]);
  for (const [name, text, victim] of [
    ['a', REQUEST, 'silent'],
    ['b', REQUEST, 'silent, too'],
    ['busy 1', REQUEST.replace('/', '/held'), 'idle'],
    ['busy 2', REQUEST.replace('/', '/held'), 'a'],
    ['busy 3', REQUEST.replace('/', '/held'), 'b'],
    ['one more', REQUEST, 'one more'],
  ] as const) {
    await next(name, text);
    await until(() => closed.at(-1) === victim);
  }
  expect(closed).toHaveLength(6);
});

it('the server answers a request that was on its way on an idle connection when a stop began', async () => {
  const { port, listener } = await listen(nothing);
  const idle = await open(port, 'idle', REQUEST);
  await until(() => idle.received() !== '');
  const stopped = listener.stop(60_000);
  idle.socket.write(REQUEST);
  await Promise.all([stopped, idle.ended]);
  expect(idle.received().match(/^Connection: .*$/gm)).toStrictEqual([
    'Connection: keep-alive',
    'Connection: close',
  ]);
});

it('during a stop, the server answers the requests in flight after it has closed the other connections', async () => {
  let finish!: () => void;
  const finished = new Promise<void>((resolve) => (finish = resolve));
  const { port, listener } = await listen(async (exchange) => {
    await finished;
    return nothing(exchange);
  });
  const closed: string[] = [];
  const busy = await open(port, 'busy', REQUEST.repeat(3), closed);
  await open(port, 'silent', '', closed);
  await open(port, 'half', HEAD, closed);
  const stopped = listener.stop(60_000);
  await until(() => closed.length === 2);
  expect(closed.toSorted()).toStrictEqual(['half', 'silent']);
  finish();
  await stopped;
  await busy.ended;
  // The last answer says that the client needs another connection.
  expect(busy.received().match(/^Connection: .*$/gm)).toStrictEqual([
    'Connection: keep-alive',
    'Connection: keep-alive',
    'Connection: close',
  ]);
});
