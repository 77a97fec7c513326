import { createServer } from 'node:http';
import { expect, it } from 'vitest';
import { fetchFailure } from '../../src/base/exit.ts';
import { listening } from '../support/listening.ts';

it('says in plain words that https was asked of a port that speaks http', async () => {
  const port = await listening(createServer());
  const error: unknown = await fetch(`https://127.0.0.1:${port}/`).catch((e: unknown) => e);
  expect(fetchFailure(error)).toBe('it speaks http there, not https');
});
