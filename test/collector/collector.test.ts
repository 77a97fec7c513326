import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createCollector } from '../../src/collector/routes.ts';
import { ProjectList } from '../../src/projects/project-list.ts';
import { createQueue } from '../../src/http/room.ts';
import type { Appended, ViewStore } from '../../src/store/store.ts';
import { MINIMAL_VIEW } from '../support/views.ts';

// What the collector makes of its store and its queue; the rest is tested from outside.

const body = JSON.stringify(MINIMAL_VIEW);

function collector(append: ViewStore['append'], queueBytesMax = 1024 * 1024) {
  const queue = createQueue(queueBytesMax);
  const { app, takeFromNode } = createCollector({
    projects: new ProjectList({ projects: [{ id: '1000001' }] }),
    store: { append },
    refused: { keep: () => {} },
    queue,
    stats: { accepted: () => {}, refused: () => {} },
    viewBytesMax: 16 * 1024,
    now: () => 0,
    log: { info: () => {}, warn: () => {}, error: () => {} },
  });
  const post = async (text = body, chunked = false): Promise<Response> =>
    app.request('/view', {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        ...(!chunked && { 'content-length': String(text.length) }),
      },
      body: text,
    });
  return { post, queue, takeFromNode };
}

describe('a view that cannot be stored', () => {
  it('gets 503 with the reason, and when to come back', async () => {
    const { post } = collector(async () => ({ unavailable: 'the disk is full' }));
    const answer = await post();
    expect(answer.status).toBe(503);
    expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0);
    expect(await answer.json()).toMatchObject({
      code: 'storage-unavailable',
      detail: 'The view is not stored: the disk is full. Send it again later.',
    });
  });

  it('gets 503, not 500, also where the store has a fault of its own', async () => {
    const { post, queue } = collector(async () => {
      throw new Error('a fault');
    });
    const answer = await post();
    expect(answer.status).toBe(503);
    expect(await answer.json()).toMatchObject({ code: 'storage-unavailable' });
    expect(queue.bytes).toBe(0);
  });

  it('gets that 503 on Node as well, where the app is not asked', async () => {
    const { takeFromNode, queue } = collector(async () => {
      throw new Error('a fault');
    });
    const server = createServer((incoming, outgoing) => {
      void takeFromNode(incoming)!.then(
        ({ status, headers, body: text }) => outgoing.writeHead(status, headers).end(text),
        () => outgoing.destroy(),
      );
    });
    onTestFinished(() => void server.close());
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    const headers = { 'content-type': 'application/json' };
    const request = { method: 'POST', headers, body };
    const answer = await fetch(`http://127.0.0.1:${port}/view`, request);
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
    const { post, queue } = collector(
      () => new Promise((resolve) => waiting.push(resolve)),
      2 * body.length,
    );
    const first = post(body, chunked);
    const second = post(body, chunked);
    while (waiting.length < 2) await new Promise((resolve) => setTimeout(resolve, 1));
    expect(queue.bytes).toBe(2 * body.length);
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
    const { post, queue } = collector(async () => ({ id: 'never' }));
    for (const text of ['{', '{}', 'x'.repeat(17_000), body.replace('1000001', '9')]) {
      expect((await post(text, chunked)).status).toBeGreaterThanOrEqual(400);
      expect(queue.bytes).toBe(0);
    }
  });
});
