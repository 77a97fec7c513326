import { connect } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import { post, speak } from '../support/raw.ts';
import { BUN, DENO, isPresent, NODE, type Runtime } from '../support/runtimes.ts';
import { startViewlog, until } from '../support/viewlog.ts';
import { MINIMAL_VIEW } from '../support/views.ts';

const DESCRIPTORS = 80;

/** The runtime, limited to this many file descriptors. */
const limited = (runtime: Runtime): Runtime => ({
  ...runtime,
  command: (path, file) => [
    'sh',
    '-c',
    `ulimit -n ${DESCRIPTORS}; exec "$0" "$@"`,
    ...runtime.command(path, file),
  ],
});

describe.each([NODE, DENO, BUN].filter(isPresent))('viewlog on %s', (runtime) => {
  it('accepts views again after it ran out of file descriptors', async () => {
    const viewlog = await startViewlog({ runtime: limited(runtime) });
    /** Returns whether viewlog accepts a view on a new connection. */
    const accepted = async (): Promise<boolean> => {
      const pieces = [post(JSON.stringify(MINIMAL_VIEW))];
      const { answers } = await speak(viewlog.port, { pieces, abortMs: 2_000 }, 100);
      return answers[0]?.status === 201;
    };
    const connections = Array.from({ length: 2 * DESCRIPTORS }, () =>
      connect(viewlog.port, '127.0.0.1').on('error', () => {}),
    );
    const letGo = (): void => connections.forEach((connection) => connection.destroy());
    onTestFinished(letGo);
    await until(async () => !(await accepted()));
    letGo();
    await until(accepted);
    expect((await viewlog.signal('SIGTERM')).code).toBe(0);
  });
});
