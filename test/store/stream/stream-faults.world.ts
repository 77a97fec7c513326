import * as fs from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { sleep } from '../../../src/base/time.ts';
import { Random } from '../../simulation/random.ts';
import { makeStream } from '../../support/archive.ts';
import { startLoad } from '../../support/load.ts';
import {
  canRunNats,
  type NatsCluster,
  startNats,
  startNatsCluster,
} from '../../support/nats-server.ts';
import { BUN, DENO, isPresent, NODE } from '../../support/runtimes.ts';
import { sumOf, startWatched, type Watched } from '../../support/status.ts';
import {
  chaos,
  expectStored,
  goOn,
  pauseLeader,
  startLoaded,
} from '../../support/stream-faults.ts';
import { until } from '../../support/viewlog.ts';
import { MINIMAL_VIEW } from '../../support/views.ts';

// Tests how a collector answers while its stream accepts no views, and how it recovers.

interface Refusal {
  readonly code: string;
  readonly detail: string;
}

async function refusal(viewlog: Watched): Promise<Refusal> {
  const answer = await viewlog.post(MINIMAL_VIEW);
  expect(answer.status).toBe(503);
  expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0);
  return (await answer.json()) as Refusal;
}

async function readiness({ statusUrl }: Watched): Promise<{ code: number; reasons: string[] }> {
  const answer = await fetch(`${statusUrl}/readyz`);
  const { reasons } = (await answer.json()) as { reasons: string[] };
  return { code: answer.status, reasons };
}

const textOf = async (answer: Response) => ({ status: answer.status, body: await answer.text() });

const accepts = async (viewlog: Watched): Promise<boolean> =>
  (await viewlog.post(MINIMAL_VIEW)).status === 201;

const start = ({ url }: Pick<NatsCluster, 'url'>, ...args: string[]): Promise<Watched> =>
  startWatched({ args: ['--store', url, ...args] });

/** Starts a collector whose only server then hangs. */
async function hanging(...args: string[]) {
  const nats = await startNats();
  const viewlog = await start(nats, ...args);
  expect(await accepts(viewlog)).toBe(true);
  await nats.nodes[0]!.pause();
  return { nats, node: nats.nodes[0]!, viewlog };
}

describe.skipIf(!canRunNats())('a collector with a stream', () => {
  it('refuses views immediately while no server answers, and recovers afterwards', async () => {
    const { nats, node, viewlog } = await hanging();
    const waiting = refusal(viewlog);
    await until(async () => (await viewlog.metrics())['viewlog_queue_lines'] === 1);
    await node.stop('SIGKILL');
    expect((await waiting).detail).toContain('the connection to the cluster was lost');
    await until(async () => (await readiness(viewlog)).code === 503);
    for (let i = 0; i < 20; i++) {
      expect((await refusal(viewlog)).detail).toContain('there is no connection to the cluster');
    }
    expect((await readiness(viewlog)).reasons).toStrictEqual([
      'there is no connection to the cluster',
    ]);
    const metrics = await viewlog.metrics();
    expect(metrics).toMatchObject({ viewlog_nats_connected: 0, viewlog_ready: 0 });
    await node.start();
    await until(async () => (await readiness(viewlog)).code === 200);
    expect(await accepts(viewlog)).toBe(true);
    expect(await nats.messages('VIEWS')).toHaveLength(2);
    expect(viewlog.stderr().match(/^error: .*$/gm)).toStrictEqual([
      `error: Lost the connection to NATS server 127.0.0.1:${node.port}; refusing views and reconnecting`,
    ]);
    expect(viewlog.stdout()).toContain(`Connected to NATS server 127.0.0.1:${node.port}\n`);
    const after = await viewlog.metrics();
    expect(after).toMatchObject({
      viewlog_nats_connected: 1,
      viewlog_nats_connection_losses_total: 1,
      viewlog_ready: 1,
    });
  });

  it('while the server hangs, answers within seconds and keeps at most --max-queue in flight', async () => {
    const nats = await startNats();
    const viewlog = await start(nats, '--max-queue', '64KiB');
    const load = startLoad(viewlog.url, 300);
    // Later on, viewlog might already know that the server hangs, and publish nothing.
    await until(() => load.answers.acknowledged.length > 0);
    const node = nats.nodes[0]!;
    node.signal('SIGSTOP');
    try {
      await until(() => load.answers.refused.has('overloaded'));
      await until(() => load.answers.refused.has('storage-unavailable'));
      expect((await viewlog.metrics())['viewlog_queue_bytes']).toBeLessThanOrEqual(64 * 1024);
      const timeouts = 'viewlog_publish_failures_total{reason="timeout"}';
      await until(async () => (await viewlog.metrics())[timeouts]! > 0);
      // viewlog then publishes no views, and the NATS client abandons the server.
      await until(async () => (await readiness(viewlog)).code === 503);
      await until(() => viewlog.stderr().includes('; refusing views and reconnecting'));
    } finally {
      node.signal('SIGCONT');
    }
    await load.stop();
    await until(() => accepts(viewlog));
    expect([...load.answers.refused.keys()].toSorted()).toStrictEqual([
      'overloaded',
      'storage-unavailable',
    ]);
    const ids = new Set((await nats.messages('VIEWS')).map(({ id }) => id));
    expect(load.answers.acknowledged.filter((id) => !ids.has(id))).toStrictEqual([]);
    await until(async () => (await viewlog.metrics())['viewlog_queue_bytes'] === 0);
  });

  it("doesn't log that a stream accepts views again before the stream has answered", async () => {
    const nats = await startNats();
    const viewlog = await start(nats);
    expect(await accepts(viewlog)).toBe(true);
    const [node] = nats.nodes;
    await node!.stop('SIGTERM');
    await refusal(viewlog);
    fs.rmSync(join(node!.storeDir, 'jetstream'), { recursive: true });
    await node!.start();
    await viewlog.says(/^error: Refusing views, because .* the stream is gone; /m);
    expect(viewlog.stdout()).not.toContain('accepts views again');
    await makeStream(nats);
    await viewlog.says(/^Stream VIEWS accepts views again$/m);
  });

  it('refuses views while the stream is full, logs this only once, and accepts views when there is space again', async () => {
    const nats = await startNats();
    await makeStream(nats, { max_msgs: 3, discard: 'new' });
    const viewlog = await start(nats);
    for (let i = 0; i < 3; i++) expect(await accepts(viewlog)).toBe(true);
    expect((await refusal(viewlog)).detail).toContain("the stream doesn't accept the view");
    // viewlog publishes nothing and isn't ready, until the stream has space.
    const endMs = performance.now() + 7_000;
    while (performance.now() < endMs) {
      expect((await refusal(viewlog)).detail).toContain('the stream is full');
      expect(await readiness(viewlog)).toStrictEqual({
        code: 503,
        reasons: ['the stream is full'],
      });
      await sleep(250);
    }
    const metrics = await viewlog.metrics();
    expect(sumOf(metrics, 'viewlog_publish_failures_total')).toBe(1);
    await (await nats.manager()).streams.purge('VIEWS');
    await until(async () => (await readiness(viewlog)).code === 200);
    expect(await accepts(viewlog)).toBe(true);
    expect(viewlog.stderr()).toBe(
      "error: Refusing views, because stream VIEWS can't store them: the stream is full (maximum messages exceeded); raise its limits: nats stream edit VIEWS\n",
    );
    expect(viewlog.stdout().match(/^Stream VIEWS accepts views again$/gm)).toHaveLength(1);
  });

  it.each<[string, object, object]>([
    ["the view's size", { max_msg_size: 10_000 }, { ...MINIMAL_VIEW, pn: 'x'.repeat(10_000) }],
    [
      'the limit per project',
      { max_msgs_per_subject: 1, discard_new_per_subject: true },
      MINIMAL_VIEW,
    ],
  ])('stays ready when the stream refuses a view because of %s', async (_, limits, view) => {
    const nats = await startNats();
    const viewlog = await start(nats);
    await viewlog.post(MINIMAL_VIEW);
    const manager = await nats.manager();
    await manager.streams.update('VIEWS', limits);
    for (let i = 0; i < 20; i++) {
      const { status, body } = await textOf(await viewlog.post(view));
      expect([status, /VIEWS|views\./.exec(body)?.[0]]).toStrictEqual([503, undefined]);
      expect((await readiness(viewlog)).code).toBe(200);
    }
    expect((await viewlog.post({ ...MINIMAL_VIEW, p: '1000004' })).status).toBe(201);
    expect(viewlog.stderr().match(/^error: .*$/gm)).toHaveLength(1);
    const warnings = (await (await fetch(`${viewlog.statusUrl}/readyz`)).json()) as object;
    await until(() => viewlog.stderr().includes('warning: Stream VIEWS'));
    expect(warnings).toHaveProperty('warnings');
  });

  it('shows clients no names when its stream no longer accepts views', async () => {
    const nats = await startNats();
    const viewlog = await start(nats);
    const manager = await nats.manager();
    await manager.streams.update('VIEWS', { subjects: ['other.>'] });
    await until(async () => (await readiness(viewlog)).code === 503);
    expect((await refusal(viewlog)).detail).toContain("the stream isn't set up for views");
    expect((await readiness(viewlog)).reasons.join()).toContain('add "views.>"');
    await manager.streams.delete('VIEWS');
    await until(async () =>
      (await readiness(viewlog)).reasons.join().includes('start viewlog again'),
    );
  });

  it('stops within 10 s when the server hangs, and refuses the view that waits for it', async () => {
    const { node, viewlog } = await hanging();
    try {
      const asked = viewlog.post(MINIMAL_VIEW);
      await until(async () => (await viewlog.metrics())['viewlog_queue_lines'] === 1);
      const startMs = performance.now();
      const { code } = await viewlog.signal('SIGTERM');
      const stopMs = performance.now() - startMs;
      expect([code, stopMs < 10_000]).toStrictEqual([0, true]);
      expect((await asked).status).toBe(503);
    } finally {
      node.signal('SIGCONT');
    }
  });

  it('connects to a server that was down when viewlog started', async () => {
    // The two servers don't know each other, so neither sends the client the other's address.
    const [first, second] = [await startNats(), await startNats()];
    await makeStream(second);
    await first.nodes[0]!.stop('SIGTERM');
    const url = `${first.url},${second.url.replace('nats://', '')}`;
    const viewlog = await start({ url });
    expect(await accepts(viewlog)).toBe(true);
    await first.nodes[0]!.start();
    await makeStream(first);
    await second.nodes[0]!.stop('SIGKILL');
    await until(() => accepts(viewlog));
    expect(await first.messages('VIEWS')).toHaveLength(1);
  });
});

const RUNTIMES = [NODE, DENO, BUN].filter(isPresent);

// An election takes the three servers 4 to 9 seconds.
describe.skipIf(!canRunNats())('a stream that three servers store', () => {
  it('is created with three replicas and loses nothing when its leader or a follower is killed', async () => {
    const loaded = await startLoaded(RUNTIMES);
    const { nats, collectors } = loaded;
    for (const stream of ['VIEWS', 'VIEWS_REFUSED']) {
      expect((await nats.stream(stream)).config.num_replicas).toBe(3);
    }
    const leader = await nats.leaderOf('VIEWS');
    const follower = nats.nodes.find((node) => node !== leader)!;
    await follower.stop('SIGKILL');
    await goOn(collectors);
    await follower.start();
    await leader.stop('SIGKILL');
    await goOn(collectors);
    await expectStored(loaded);
  });

  it('loses nothing when its leader is stopped for 7 seconds and then another server leads', async () => {
    const loaded = await startLoaded([NODE]);
    await pauseLeader(loaded, 7_000);
    await expectStored(loaded);
  });

  it('accepts no views while it has no quorum and accepts views again once it has one', async () => {
    const nats = await startNatsCluster();
    const viewlog = await start(nats);
    expect(await accepts(viewlog)).toBe(true);
    const [last, ...others] = nats.nodes;
    await Promise.all(others.map((node) => node.stop('SIGKILL')));
    const answers = await Promise.all(Array.from({ length: 20 }, () => accepts(viewlog)));
    expect(answers).not.toContain(true);
    // viewlog notices the lost quorum even without views, so that a load balancer does too.
    await until(async () => (await readiness(viewlog)).code === 503);
    // The quorum may come back, so another collector starts anyway, once the server knows of the loss:
    // until then, it doesn't answer.
    const url = `nats://127.0.0.1:${last!.port}`;
    const second = await until(() => start({ url }).catch(() => undefined));
    await refusal(second);
    await Promise.all(others.map((node) => node.start()));
    await until(async () => (await readiness(viewlog)).code === 200);
    expect(await accepts(viewlog)).toBe(true);
  }, 60_000);

  const seed = Number(process.env['VIEWLOG_TEST_SEED'] ?? Math.floor(Math.random() * 1e9));

  it(`loses nothing when servers, collectors or the archive are killed or paused, from seed ${seed}`, async () => {
    await chaos(RUNTIMES, new Random(seed), 4);
  }, 150_000);
});
