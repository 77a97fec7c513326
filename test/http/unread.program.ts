import { connect } from 'node:net';
import { expect, it, onTestFinished } from 'vitest';
import { listenOnNode } from '../../src/http/node.ts';
import { Queue } from '../../src/http/room.ts';
import { until } from '../support/viewlog.ts';

/** More than a socket's buffers take. */
const LARGE = 'x'.repeat(32 * 1024 * 1024);

it('a client that never reads its answer loses its connection, and the room that it took', async () => {
  const queue = new Queue(64 * 1024);
  const listener = await listenOnNode({
    host: '127.0.0.1',
    port: 0,
    flag: '--port',
    queue,
    unreadMs: 500,
    handler: (exchange) => exchange.respond({ status: 200, headers: {}, body: LARGE }),
    unreadable: (exchange) => exchange.respond({ status: 404, headers: {}, body: '' }),
  });
  onTestFinished(() => listener.stop(0));
  const client = connect(Number(new URL(listener.url).port), '127.0.0.1');
  client.on('error', () => {});
  client.pause();
  client.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
  await until(() => queue.bytes > 0);
  await until(() => queue.bytes === 0);
  // What it reads now is what was on its way.
  let read = 0;
  client.on('data', (piece) => (read += piece.length)).resume();
  await new Promise((resolve) => client.on('close', resolve));
  expect(read).toBeLessThan(LARGE.length);
});
