import { createRequire } from 'node:module';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isHere, TOOLS } from './runtimes.ts';
import { tempDir } from './temp-dir.ts';
import { startProgram } from './viewlog.ts';

// Drives Debian's Firefox with WebDriver BiDi, because Playwright needs its own build of Firefox.

const FIREFOX = '/usr/bin/firefox-esr';
const WEBSOCKET = `${TOOLS}/ws`;

export const hasFirefox = (): boolean => isHere(FIREFOX) && isHere(WEBSOCKET);

/** The part of `ws` that the tests use; Node 20 has no WebSocket. */
interface Socket {
  on(event: 'open', listener: () => void): void;
  on(event: 'message', listener: (message: Buffer) => void): void;
  send(text: string): void;
}

interface Reply {
  readonly id?: number;
  readonly message?: string;
  readonly result: {
    readonly context?: string;
    readonly result?: { readonly value?: unknown };
    readonly exceptionDetails?: { readonly text: string };
  };
}

/**
 * Starts Firefox until the test ends.
 * @param hosts names that lead to this machine.
 * @returns a function that opens a visitor's window.
 */
export async function startFirefox(hosts: readonly string[]) {
  const profile = tempDir();
  const prefs = {
    'network.dns.localDomains': hosts.join(','),
    'services.settings.server': 'data:,#remote-settings-dummy/v1',
    'network.captive-portal-service.enabled': false,
    'browser.startup.page': 0,
    // How many pages Firefox keeps for the back button, in all windows together.
    'browser.sessionhistory.max_total_viewers': 100,
  };
  const line = ([name, value]: [string, unknown]): string =>
    `user_pref("${name}", ${JSON.stringify(value)});\n`;
  writeFileSync(join(profile, 'user.js'), Object.entries(prefs).map(line).join(''));
  const args = ['--headless', '--no-remote', '--profile', profile, '--remote-debugging-port=0'];
  const env = { ...process.env, HOME: profile };
  const [, address] = await startProgram([FIREFOX, ...args], { env }).says(/ (ws:\S+)/);
  const send = await commandsTo(`${address}/session`);
  await send('session.new', { capabilities: {} });
  return async () => {
    const { context } = await send('browsingContext.create', { type: 'window' });
    return {
      goto: (url: string) => send('browsingContext.navigate', { context, url, wait: 'none' }),
      back: () => send('browsingContext.traverseHistory', { context, delta: -1 }),
      close: () => send('browsingContext.close', { context }),
      hide: () => send('browsingContext.create', { type: 'tab', referenceContext: context }),
      show: () => send('browsingContext.activate', { context }),
      run: async (expression: string) => {
        const how = { expression, target: { context }, awaitPromise: true };
        const { result, exceptionDetails } = await send('script.evaluate', how);
        if (exceptionDetails !== undefined) throw new Error(exceptionDetails.text);
        return result?.value;
      },
    };
  };
}

/** @returns a function that sends a command and resolves with its result. */
async function commandsTo(address: string) {
  const WebSocket = createRequire(import.meta.url)(WEBSOCKET) as new (url: string) => Socket;
  const socket = new WebSocket(address);
  const waiting = new Map<number, (reply: Reply) => void>();
  socket.on('message', (message) => {
    const reply = JSON.parse(message.toString()) as Reply;
    waiting.get(reply.id ?? 0)?.(reply);
  });
  await new Promise<void>((resolve) => socket.on('open', resolve));
  let count = 0;
  return async (method: string, params: object): Promise<Reply['result']> => {
    const id = ++count;
    socket.send(JSON.stringify({ id, method, params }));
    const reply = await new Promise<Reply>((resolve) => waiting.set(id, resolve));
    if (reply.message !== undefined) throw new Error(`${method}: ${reply.message}`);
    return reply.result;
  };
}
