import { describe, expect, it } from 'vitest';
import { randomFrom } from '../../support/faults.ts';
import { canRunNats, startNatsCluster } from '../../support/nats-server.ts';
import { BUN, DENO, isPresent, NODE } from '../../support/runtimes.ts';
import { startWatched } from '../../support/status.ts';
import { chaos, expectStored, goOn, startLoaded } from '../../support/stream-faults.ts';
import { until } from '../../support/viewlog.ts';
import { MINIMAL_VIEW } from '../../support/views.ts';

// Views in a stream that three real servers keep. An election takes these 4 to 9 seconds.

const RUNTIMES = [NODE, DENO, BUN].filter(isPresent);

describe.skipIf(!canRunNats())('a stream that three servers keep', () => {
  it('is created with three replicas, and loses nothing when its leader or a follower is killed', async () => {
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

  it('accepts no views without a quorum, and accepts them again by itself', async () => {
    const nats = await startNatsCluster();
    const viewlog = await startWatched({ args: ['--store', nats.url] });
    const accepts = async (): Promise<boolean> => (await viewlog.post(MINIMAL_VIEW)).status === 201;
    const reasons = async (): Promise<string[]> => {
      const answer = await fetch(`${viewlog.statusUrl}/readyz`);
      return ((await answer.json()) as { reasons: string[] }).reasons;
    };
    expect(await accepts()).toBe(true);
    const [last, ...others] = nats.nodes;
    await Promise.all(others.map((node) => node.stop('SIGKILL')));
    const answers = await Promise.all(Array.from({ length: 20 }, accepts));
    expect(answers).not.toContain(true);
    // Also if nobody sends a view, so that a balancer in front notices.
    await until(async () => (await reasons()).length > 0);
    // The quorum may come back, so another collector starts all the same.
    const second = await startWatched({ args: ['--store', `nats://127.0.0.1:${last!.port}`] });
    expect((await second.post(MINIMAL_VIEW)).status).toBe(503);
    await Promise.all(others.map((node) => node.start()));
    await until(async () => (await reasons()).length === 0);
    expect(await accepts()).toBe(true);
  }, 60_000);

  const seed = Number(process.env['VIEWLOG_TEST_SEED'] ?? Math.floor(Math.random() * 1e9));

  it(`loses nothing when anything is killed, from seed ${seed}`, async () => {
    console.log(await chaos(RUNTIMES, randomFrom(seed), 4));
  }, 150_000);
});
