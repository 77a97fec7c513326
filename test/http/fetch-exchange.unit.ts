import { expect, it } from 'vitest';
import { FetchExchange } from '../../src/http/fetch-exchange.ts';
import { MemoryBudget, Reservation } from '../../src/http/memory-budget.ts';

it('an exchange knows how much of an incomplete body has arrived', async () => {
  const reads = new Map<() => void, number>();
  let isSent = false;
  const body = new ReadableStream({
    pull: (stream) => {
      // The first piece has been read, and no other piece arrives in time.
      if (isSent) for (const giveUp of reads.keys()) giveUp();
      else stream.enqueue(new Uint8Array(4));
      isSent = true;
    },
  });
  const request = new Request('http://x', { method: 'POST', body, duplex: 'half' } as RequestInit);
  const reservation = new Reservation(new MemoryBudget(2 ** 20));
  const runtime = { readBytes: 0, readerOf: (stream: ReadableStream) => stream.getReader() };
  const exchange = new FetchExchange(request, reads, reservation, runtime);
  expect(await exchange.read(1024)).toBe('incomplete');
  expect(exchange.bytesRead).toBe(4);
});
