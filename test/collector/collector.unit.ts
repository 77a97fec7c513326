import { describe, expect, it, onTestFinished } from 'vitest';
import { createCollector } from '../../src/collector/routes.ts';
import type { CollectorParts } from '../../src/collector/take-view.ts';
import { ProjectList } from '../../src/projects/project-list.ts';
import { listen } from '../../src/http/listen.ts';
import { Queue } from '../../src/http/room.ts';
import type { Appended, ViewStore } from '../../src/store/store.ts';
import { chunk, post, speak } from '../support/raw.ts';
import { MINIMAL_VIEW } from '../support/views.ts';

// What the collector makes of its store and its queue; the rest is tested from outside.

const body = JSON.stringify({ ...MINIMAL_VIEW, pn: 'x'.repeat(100) });

/** What a request takes of the queue beside its body: its objects, and its piece. */
const OVERHEAD = 8 * 1024 + 256;

const partsWith = (append: ViewStore['append']): CollectorParts => ({
  projects: new ProjectList({ projects: [{ id: '1000001' }] }),
  store: { append },
  refused: { keep: () => {} },
  counts: { accepted: () => {}, refused: () => {} },
  viewBytesMax: 16 * 1024,
  now: () => 0,
  log: { info: () => {}, warn: () => {}, error: () => {} },
});

async function collector(append: ViewStore['append'], queueBytesMax = 1024 * 1024) {
  const queue = new Queue(queueBytesMax);
  const { handler, unreadable } = createCollector(partsWith(append));
  const address = { host: '127.0.0.1', port: 0, flag: '--port' };
  const listener = await listen({ ...address, queue, handler, unreadable });
  onTestFinished(() => listener.stop(0));
  const post = async (text = body, chunked = false): Promise<Response> =>
    fetch(`${listener.url}/view`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      ...(chunked ? { body: new Blob([text]).stream(), duplex: 'half' } : { body: text }),
    });
  return { post, queue, port: Number(new URL(listener.url).port) };
}

describe('a view that cannot be stored', () => {
  it('gets 503 with the reason, and when to come back', async () => {
    const { post } = await collector(async () => ({ unavailable: 'the disk is full' }));
    const answer = await post();
    expect(answer.status).toBe(503);
    expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0);
    expect(await answer.json()).toMatchObject({
      code: 'storage-unavailable',
      detail:
        'The view may not be stored: the disk is full. Try again later; that may store it twice.',
    });
  });

  it('gets 503, not 500, also where the store has a fault of its own', async () => {
    const { post, queue } = await collector(async () => {
      throw new Error('a fault');
    });
    const answer = await post();
    expect(answer.status).toBe(503);
    expect(await answer.json()).toMatchObject({ code: 'storage-unavailable' });
    expect(queue.bytes).toBe(0);
  });
});

describe.each([
  ['with its length declared', false],
  ['in chunks', true],
])('a full queue, the body sent %s', (_, chunked) => {
  it('refuses at once what does not fit, and takes it when there is room', async () => {
    const waiting: ((appended: Appended) => void)[] = [];
    const { post, queue } = await collector(
      () => new Promise((resolve) => waiting.push(resolve)),
      2 * (body.length + OVERHEAD),
    );
    const first = post(body, chunked);
    const second = post(body, chunked);
    while (waiting.length < 2) await new Promise((resolve) => setTimeout(resolve, 1));
    expect(queue.bytes).toBe(2 * (body.length + OVERHEAD));
    const third = await post(body, chunked);
    expect(third.status).toBe(503);
    expect(third.headers.get('retry-after')).toBe('1');
    expect(await third.json()).toMatchObject({ code: 'overloaded' });
    waiting.shift()!({ id: 'first' });
    expect((await first).status).toBe(201);
    const fourth = post(body, chunked);
    while (waiting.length < 2) await new Promise((resolve) => setTimeout(resolve, 1));
    for (const resolve of waiting) resolve({ id: 'later' });
    expect([(await second).status, (await fourth).status]).toStrictEqual([201, 201]);
    expect(queue.bytes).toBe(0);
  });

  it('is left by every view that is refused', async () => {
    const { post, queue } = await collector(async () => ({ id: 'never' }));
    for (const text of ['{', '{}', 'x'.repeat(17_000), body.replace('1000001', '9')]) {
      expect((await post(text, chunked)).status).toBeGreaterThanOrEqual(400);
      expect(queue.bytes).toBe(0);
    }
  });
});

it.each([
  [64 + 32, 201],
  [64 + 32 + 1, 413],
])('a body in %i pieces, of at most 16 KiB, gets %i', async (pieces, status) => {
  const { port, queue } = await collector(async () => ({ id: 'x' }));
  const rest = body.slice(pieces - 1);
  const single = Array.from({ length: pieces - 1 }, (_, i) => body.charAt(i));
  const sent = [...single, rest].map(chunk).join('');
  const head = post('', { 'Content-Length': '', 'Transfer-Encoding': 'chunked' });
  const { answers } = await speak(port, { pieces: [`${head}${sent}0\r\n\r\n`] }, 100);
  expect(answers.map((answer) => answer.status)).toStrictEqual([status]);
  if (status === 413) expect(answers[0]!.body).toContain('more than 96 pieces');
  expect(queue.bytes).toBe(0);
});
