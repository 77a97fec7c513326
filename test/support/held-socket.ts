import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { type AddressInfo, createServer, type Server } from 'node:net';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { expect, onTestFinished } from 'vitest';
import { LIMITS } from '../../src/base/limits.ts';
import { startLoad } from './load.ts';
import { NODE } from './runtimes.ts';
import { dataDirectory, linesOf, until } from './viewlog.ts';

/** Runs its arguments as a service manager would, with a socket as descriptor 3. */
export const PASS = `LISTEN_FDS=1 sh -c 'echo "pid $$"; LISTEN_PID=$$ exec "$0" "$@"' "$@"`;
export const ENV = { PATH: process.env['PATH'] };

const fdOf = (server: Server): number =>
  // oxlint-disable-next-line no-underscore-dangle -- Node has no public way to the descriptor
  (server as unknown as { _handle: { fd: number } })._handle.fd;

/**
 * Starts a process that holds a listening socket and starts the collector again whenever it ends.
 */
export async function holdSocket(data: string, host = '127.0.0.1') {
  const socket = createServer();
  await once(socket.listen(0, host), 'listening');
  const { port } = socket.address() as AddressInfo;
  const args = [...NODE.command(data), 'serve', '--data', data, '--status=off', '--port=1'];
  const holder = spawn('sh', ['-c', `while ${PASS}; do :; done`, 'sh', ...args], {
    stdio: ['ignore', 'pipe', 'inherit', fdOf(socket)],
    detached: true,
    env: ENV,
  });
  socket.close();
  let output = '';
  holder.stdout!.setEncoding('utf8').on('data', (text: string) => (output += text));
  onTestFinished(() => void process.kill(-holder.pid!, 'SIGKILL'));
  const starts = () => Array.from(output.matchAll(/^pid (\d+)\n(viewlog listening .*)/gm));
  return { port, starts };
}

/**
 * Restarts the collector ten times while clients send views, directly or through a proxy. Expects
 * that no connection is refused, and that no answer is lost.
 *
 * During a stop, viewlog closes a connection that sends no request for 250 ms. A client that gets
 * no CPU time for that long sends its request on the closed connection and has to repeat it, as
 * browsers do. viewlog hasn't read such a request, so no line may be without an answer.
 * @param through starts a proxy in front of the collector at this port; returns its address.
 */
export async function restartUnderLoad(
  through: (port: number) => Promise<string>,
): Promise<number> {
  const data = dataDirectory();
  const { port, starts } = await holdSocket(data);
  const url = await through(port);
  const delay = monitorEventLoopDelay();
  delay.enable();
  const loads = [true, false].map((keepAlive) => startLoad(url, 4, keepAlive));
  const accepted = () => loads.flatMap(({ answers }) => answers.acknowledged);
  for (let restart = 1; restart <= 10; restart++) {
    const before = accepted().length;
    await until(() => starts().length === restart && accepted().length > before + 200);
    process.kill(Number(starts().at(-1)![1]), 'SIGTERM');
    await until(() => starts().length === restart + 1);
  }
  for (const load of loads) await load.stop();
  const isStarved = delay.max / 1e6 > LIMITS.stopIdleMs - 50;
  const allowed = isStarved ? ['unanswered'] : [];
  const refused = loads.flatMap(({ answers }) => [...answers.refused]);
  expect(refused.filter((code) => !allowed.includes(code))).toStrictEqual([]);
  const lines = starts().map(([, , line]) => line);
  expect(lines).toStrictEqual(Array(11).fill(`viewlog listening on http://127.0.0.1:${port}`));
  const stored = linesOf(data, 'views').map((line) => (JSON.parse(line) as { id: string }).id);
  expect(stored.toSorted()).toStrictEqual(accepted().toSorted());
  return stored.length;
}
