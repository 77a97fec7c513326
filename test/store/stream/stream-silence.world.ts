import { describe, expect, it } from 'vitest';
import { startNatsProxy } from '../../support/nats-proxy.ts';
import { canRunNats, startNats } from '../../support/nats-server.ts';
import { startWatched } from '../../support/status.ts';
import { until } from '../../support/viewlog.ts';
import { MINIMAL_VIEW } from '../../support/views.ts';

// A stream that takes views and acknowledges none, while all that it tells of itself looks sound: a
// real server, of whose answers some are lost on the way.

const TIMEOUTS = 'viewlog_publish_failures_total{reason="timeout"}';
const AGAIN = '\nStream VIEWS takes views again\n';
const REASON = 'the cluster acknowledges nothing';

async function scene() {
  const nats = await startNats();
  const proxy = await startNatsProxy(nats.nodes[0]!.port);
  const viewlog = await startWatched({ args: ['--store', proxy.url] });
  const send = async (): Promise<number> => (await viewlog.post(MINIMAL_VIEW)).status;
  const readiness = async () => {
    const answer = await fetch(`${viewlog.statusUrl}/readyz`);
    return { code: answer.status, ...((await answer.json()) as { reasons: string[] }) };
  };
  const isReady = async (): Promise<boolean> => (await readiness()).code === 200;
  expect(await send()).toBe(201);
  return { nats, proxy, viewlog, send, readiness, isReady };
}

describe.skipIf(!canRunNats())('a stream that acknowledges nothing', () => {
  it('makes views fail after five seconds, then at once, until a probe is answered', async () => {
    const { nats, proxy, viewlog, send, readiness, isReady } = await scene();
    let probes = 0;
    (await nats.connect()).subscribe('views.probe', { callback: () => void (probes += 1) });
    proxy.drops = 'answers';
    expect(await send()).toBe(503);
    expect(await readiness()).toMatchObject({ code: 503, reasons: [REASON] });
    for (let i = 0; i < 20; i++) {
      const answer = await viewlog.post(MINIMAL_VIEW);
      expect(answer.status).toBe(503);
      expect(((await answer.json()) as { detail: string }).detail).toContain(REASON);
    }
    // None of them was published.
    expect((await viewlog.metrics())[TIMEOUTS]).toBe(1);
    await until(() => probes >= 2);
    expect(await isReady()).toBe(false);
    proxy.drops = 'nothing';
    // Nobody has to send a view for that.
    await until(isReady);
    expect(await send()).toBe(201);
    expect(await nats.messages('VIEWS')).toHaveLength(3);
    expect(viewlog.stderr()).toBe(`error: Refusing views: ${REASON} (VIEWS)\n`);
    expect(viewlog.stdout().split(AGAIN)).toHaveLength(2);
  });
});
