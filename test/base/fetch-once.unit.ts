import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, it } from 'vitest';
import { fetchOnce } from '../../src/base/fetch-once.ts';

const MiB = 2 ** 20;

/** Returns the reply of a server whose answer has this many bytes, or doesn't end. */
async function replyOf(bytes: number) {
  const server = createServer((_, response) => {
    const write = (left: number): void => {
      if (left <= 0) return void response.end();
      response.write('x'.repeat(Math.min(left, MiB)), (error) => error ?? write(left - MiB));
    };
    write(bytes);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const reply = await fetchOnce(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`);
  server.closeAllConnections();
  server.close();
  return reply;
}

it('an answer of 16 MiB is read to its end', async () => {
  const reply = await replyOf(16 * MiB);
  expect('body' in reply && reply.body.length).toBe(16 * MiB);
});

it.each([
  ['of 16 MiB and one byte', 16 * MiB + 1],
  ["that doesn't end", Infinity],
])('an answer %s counts as a failure', async (_, bytes) => {
  expect(await replyOf(bytes)).toMatchObject({ failure: 'the answer has more than 16 MiB' });
});
