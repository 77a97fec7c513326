import { connect } from 'node:net';
import { expect, it, onTestFinished } from 'vitest';
import type { Answer, Handler } from '../../src/http/exchange.ts';
import { MemoryBudget } from '../../src/http/memory-budget.ts';
import { listenOnNode } from '../../src/http/node.ts';
import { chunk, post, speak } from '../support/raw.ts';
import { until } from '../support/viewlog.ts';

const CHUNKED = { 'Content-Length': '', 'Transfer-Encoding': 'chunked' };

async function listen(handler: Handler, unreadMs = 10_000, bytesMax = 64 * 1024) {
  const budget = new MemoryBudget(bytesMax);
  const address = { host: '127.0.0.1', port: 0 };
  const listener = await listenOnNode({ ...address, budget, handler }, undefined, unreadMs);
  onTestFinished(() => listener.stop(0));
  return { budget, port: Number(new URL(listener.url).port) };
}

it('a client that never reads its answer loses its connection, and frees its memory', async () => {
  // More than the buffers of a socket hold.
  const body = 'x'.repeat(32 * 1024 * 1024);
  const { budget, port } = await listen(() => ({ status: 200, headers: {}, body }), 500);
  const client = connect(port, '127.0.0.1');
  client.on('error', () => {});
  client.pause();
  client.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
  await until(() => budget.bytes > 0);
  await until(() => budget.bytes === 0);
  // Bytes that were already on their way.
  let read = 0;
  client.on('data', (piece) => (read += piece.length)).resume();
  await new Promise((resolve) => client.on('close', resolve));
  expect(read).toBeLessThan(body.length);
});

it('a keep-alive connection takes any number of requests, and frees their memory', async () => {
  const { budget, port } = await listen(() => ({ status: 204, headers: {}, body: null }));
  const { answers } = await speak(port, { pieces: [post('{}').repeat(100)] }, 300);
  expect(answers).toHaveLength(100);
  await until(() => budget.bytes === 0);
});

it.each([
  ['with its length', post('x'.repeat(100))],
  ['in chunks', `${post('', CHUNKED)}${chunk('x'.repeat(100))}0\r\n\r\n`],
])('a full budget refuses a body sent %s, until there is memory again', async (_, request) => {
  const waiting: (() => void)[] = [];
  const handler: Handler = async (exchange) => {
    const body = await exchange.read(1024);
    if (typeof body === 'string') return { status: 503, headers: {}, body };
    await new Promise<void>((resolve) => waiting.push(resolve));
    return { status: 201, headers: {}, body: null };
  };
  const { budget, port } = await listen(handler, 10_000, 2 * (8 * 1024 + 100));
  const send = () => speak(port, { pieces: [request] }, 100);
  const held = [send(), send()];
  await until(() => waiting.length === 2);
  expect(budget.bytes).toBe(2 * (8 * 1024 + 100));
  // The connection stays open: a new one would have to wait behind an attacker's.
  const answer = { status: 503, body: 'over-budget', headers: { connection: 'keep-alive' } };
  expect((await send()).answers).toMatchObject([answer]);
  for (const answer of waiting) answer();
  for (const one of held) expect((await one).answers).toMatchObject([{ status: 201 }]);
  await until(() => budget.bytes === 0);
});

it('starts 32 requests of a connection, and frees the rest as soon as its client leaves', async () => {
  const started: ((answer: Answer) => void)[] = [];
  const handler: Handler = () => new Promise((resolve) => started.push(resolve));
  const { budget, port } = await listen(handler, 10_000, 1024 * 1024);
  const client = connect(port, '127.0.0.1');
  client.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n'.repeat(40));
  await until(() => budget.bytes === 40 * 8 * 1024);
  expect(started).toHaveLength(32);
  client.resetAndDestroy();
  await until(() => budget.bytes === 32 * 8 * 1024);
  for (const answer of started) answer({ status: 204, headers: {}, body: null });
  await until(() => budget.bytes === 0);
  expect(started).toHaveLength(32);
});

it('frees the memory of a body whose client leaves before its end', async () => {
  const read: unknown[] = [];
  const { budget, port } = await listen(async (exchange) => {
    read.push(await exchange.read(1024));
    return { status: 204, headers: {}, body: null };
  });
  const client = connect(port, '127.0.0.1');
  client.write(post('half', { 'Content-Length': '8' }));
  await until(() => budget.bytes === 8 * 1024 + 4);
  client.resetAndDestroy();
  await until(() => budget.bytes === 0);
  expect(read).toStrictEqual(['incomplete']);
});
