import { spawnSync } from 'node:child_process';
import { expect, it } from 'vitest';
import { ENV, holdSocket, PASS, restartUnderLoad } from '../support/held-socket.ts';
import { BUN, DENO, isPresent } from '../support/runtimes.ts';
import { dataDirectory, run, until } from '../support/viewlog.ts';

it('with a passed socket, ten restarts under load refuse no connection and lose no answer', async () => {
  await restartUnderLoad(async (port) => `http://127.0.0.1:${port}`);
});

it('viewlog shows the address of the passed socket', async () => {
  const data = dataDirectory();
  const { port, starts } = await holdSocket(data, '127.0.0.5');
  const url = `http://127.0.0.5:${port}`;
  expect((await until(() => starts()[0]))[2]).toBe(`viewlog listening on ${url}`);
  const { stdout } = await run(['activate', '1000009', '--port=1'], { data });
  expect(stdout).toContain(`${url}/view`);
  // The proxy's file must lead to the socket, not to the port that the command line names.
  const site = await run(['example', 'caddy'], { data });
  expect([site.stdout, site.stderr]).toStrictEqual([
    expect.stringContaining(`reverse_proxy /view 127.0.0.5:${port} {`),
    '',
  ]);
});

it.each([
  { ...DENO, flags: ['--allow-env'] },
  { ...BUN, flags: [] },
])('viewlog on %s refuses to start with a passed socket', (runtime) => {
  if (!isPresent(runtime)) return;
  const data = dataDirectory();
  const [program, ...before] = runtime.command(data);
  const args = [...before.slice(0, -1), ...runtime.flags, before.at(-1)!, 'serve', '--data', data];
  const { status, stderr } = spawnSync('sh', ['-c', PASS, 'sh', program, ...args, '--status=off'], {
    encoding: 'utf8',
    env: ENV,
  });
  expect(status).toBe(78);
  expect(stderr).toContain("error: Can't listen on the service manager's socket: ");
});
