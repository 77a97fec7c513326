import { once } from 'node:events';
import * as http from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, it } from 'vitest';
import { fetchFailure } from '../../src/base/exit.ts';

it('says in plain words that https was asked of a port that speaks http', async () => {
  const server = http.createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const error: unknown = await fetch(`https://127.0.0.1:${port}/`).catch((e: unknown) => e);
  server.close();
  expect(fetchFailure(error)).toBe('it speaks http there, not https');
});
