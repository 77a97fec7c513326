import { request } from 'node:http';
import { connect } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import { BUN, DENO, isPresent, NODE, type Runtime } from '../support/runtimes.ts';
import { startViewlog, until } from '../support/viewlog.ts';
import { MINIMAL_VIEW } from '../support/views.ts';

const DESCRIPTORS = 80;

/** The runtime, allowed that few file descriptors. */
const limited = (runtime: Runtime): Runtime => ({
  ...runtime,
  command: (path, file) => [
    'sh',
    '-c',
    `ulimit -n ${DESCRIPTORS}; exec "$0" "$@"`,
    ...runtime.command(path, file),
  ],
});

describe.each([NODE, DENO, BUN].filter(isPresent))('on $name', (runtime) => {
  it('running out of file descriptors ends nothing, and views are accepted afterwards', async () => {
    const viewlog = await startViewlog({ runtime: limited(runtime) });
    // On a connection of its own each time.
    const accepted = (): Promise<boolean> =>
      new Promise((resolve) => {
        const headers = { 'content-type': 'application/json' };
        const options = { method: 'POST', headers, agent: false, timeout: 2_000 };
        const sent = request(`${viewlog.url}/view`, options, ({ statusCode }) => {
          sent.destroy();
          resolve(statusCode === 201);
        });
        sent.on('timeout', () => sent.destroy());
        sent.on('close', () => resolve(false));
        sent.on('error', () => resolve(false));
        sent.end(JSON.stringify(MINIMAL_VIEW));
      });
    const connections = Array.from({ length: 2 * DESCRIPTORS }, () =>
      connect(viewlog.port, '127.0.0.1').on('error', () => {}),
    );
    const letGo = (): void => connections.forEach((connection) => connection.destroy());
    onTestFinished(letGo);
    // No other connection gets through.
    await until(async () => !(await accepted()));
    letGo();
    await until(accepted);
    expect((await viewlog.signal('SIGTERM')).code).toBe(0);
  });
});
