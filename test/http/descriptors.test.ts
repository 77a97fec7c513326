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
  it('running out of file descriptors ends nothing, and views are taken afterwards', async () => {
    const viewlog = await startViewlog({ runtime: limited(runtime) });
    const taken = async (): Promise<boolean> => {
      const signal = AbortSignal.timeout(2_000);
      const headers = { 'content-type': 'application/json' };
      const request = { method: 'POST', headers, body: JSON.stringify(MINIMAL_VIEW), signal };
      return fetch(`${viewlog.url}/view`, request).then(
        ({ status }) => status === 201,
        () => false,
      );
    };
    const connections = Array.from({ length: 2 * DESCRIPTORS }, () =>
      connect(viewlog.port, '127.0.0.1').on('error', () => {}),
    );
    await Promise.all(
      connections.map((socket) => new Promise((resolve) => void socket.on('connect', resolve))),
    );
    const letGo = (): void => connections.forEach((connection) => connection.destroy());
    onTestFinished(letGo);
    // Nobody else gets through.
    await until(async () => !(await taken()));
    letGo();
    await until(taken);
    expect((await viewlog.signal('SIGTERM')).code).toBe(0);
  });
});
