import { readFileSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import { canRunNats, startNats } from '../support/nats-server.ts';
import { BUN, DENO, isPresent, NODE, type Runtime } from '../support/runtimes.ts';
import { dataDirectory, type Started, start, until } from '../support/viewlog.ts';

// Signals that arrive while a service starts, before the service can act on them.

const RUNTIMES = [NODE, DENO, BUN].filter(isPresent);

/** Starts a forwarder to a port; returns its own port and a check for whether it is in use. */
async function startForwarder(port: number) {
  let clients = 0;
  const server = createServer((client) => {
    clients += 1;
    const upstream = connect(port, '127.0.0.1', () => client.pipe(upstream).pipe(client));
    upstream.on('error', () => client.destroy()).on('close', () => client.destroy());
    client.on('error', () => upstream.destroy()).on('close', () => upstream.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  return { port: (server.address() as { port: number }).port, isUsed: () => clients > 0 };
}

/** Starts a collector that waits for a paused NATS server. */
async function waitingForServer(runtime: Runtime) {
  const nats = await startNats();
  const server = nats.nodes[0]!;
  server.signal('SIGSTOP');
  const forwarder = await startForwarder(server.port);
  const data = dataDirectory();
  const address = `nats://127.0.0.1:${forwarder.port}`;
  const args = ['serve', '--port=0', '--status=127.0.0.1:0', '--store', address];
  const viewlog = start([...args, '--projects', `${data}/projects.json`], data, { runtime });
  await until(() => forwarder.isUsed() || hasEnded(viewlog));
  return { server, viewlog };
}

const hasEnded = ({ child }: Started): boolean =>
  child.exitCode !== null || child.signalCode !== null;

describe.skipIf(!canRunNats())('a service that is starting', () => {
  it.each(RUNTIMES)('acts on SIGHUP and SIGUSR2 as soon as it can, on %s', async (runtime) => {
    const { server, viewlog } = await waitingForServer(runtime);
    // Two signals of the same kind that arrive together count as one.
    for (const signal of ['SIGHUP', 'SIGUSR2', 'SIGHUP'] as const) await viewlog.deliver(signal);
    server.signal('SIGCONT');
    const [, status] = await viewlog.says(/^Status page on (\S+)\/$/m);
    expect((await fetch(`${status}/readyz`)).status).toBe(503);
    expect(viewlog.stdout()).toContain('viewlog is about to stop but accepts views until then');
    await viewlog.says(/Projects file unchanged/);
    viewlog.child.kill('SIGTERM');
    expect(await viewlog.ended).toMatchObject({ code: 0 });
  });

  it.each(RUNTIMES)('exits with code 0 as soon as a signal stops it, on %s', async (runtime) => {
    for (const signal of ['SIGTERM', 'SIGINT'] as const) {
      const { viewlog } = await waitingForServer(runtime);
      viewlog.child.kill(signal);
      // A start that isn't stopped waits 5 seconds for the servers and then exits with code 69.
      expect(await viewlog.ended).toMatchObject({ code: 0, signal: null, stderr: '' });
    }
  });
});

it('the program installs its signal handlers before it does anything else', () => {
  const main = readFileSync(new URL('../../src/main.ts', import.meta.url), 'utf8');
  expect(main).toMatch(/^import .* from '.\/base\/install-signals.ts';\n/);
});
