import { writeFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { isHere } from './runtimes.ts';
import { tempDir } from './temp-dir.ts';
import { startProgram } from './viewlog.ts';

// Debian's Firefox, driven by its own protocol, Marionette: Playwright's way needs another build.

const FIREFOX = '/usr/bin/firefox-esr';

export const hasFirefox = (): boolean => isHere(FIREFOX);

/** Sends a command; resolves with its result. */
type Send = (name: string, parameters?: object) => Promise<{ value?: unknown; handle?: string }>;

/**
 * Starts Firefox until the test is over.
 * @param hosts names that lead to this machine.
 * @returns opens a window of a visitor.
 */
export async function startFirefox(hosts: readonly string[]) {
  const profile = tempDir();
  const prefs = {
    'marionette.port': 0,
    'network.dns.localDomains': hosts.join(','),
    'services.settings.server': 'data:,#remote-settings-dummy/v1',
    'network.captive-portal-service.enabled': false,
    'browser.startup.page': 0,
  };
  const line = ([name, value]: [string, unknown]): string =>
    `user_pref("${name}", ${JSON.stringify(value)});\n`;
  writeFileSync(join(profile, 'user.js'), Object.entries(prefs).map(line).join(''));
  const args = ['--headless', '--no-remote', '--profile', profile, '--marionette', 'about:blank'];
  const env = { ...process.env, HOME: profile };
  const [, port] = await startProgram([FIREFOX, ...args], { env }).says(/on port (\d+)/);
  const send = commands(connect(Number(port), '127.0.0.1'));
  const alwaysMatch = { pageLoadStrategy: 'none' };
  await send('WebDriver:NewSession', { capabilities: { alwaysMatch } });
  const { value: home } = await send('WebDriver:GetWindowHandle');
  // Each command is for the window that was switched to last.
  let last: Promise<unknown> = Promise.resolve();
  const oneByOne = <T>(run: () => Promise<T>): Promise<T> => {
    const result = last.then(run, run);
    last = result;
    return result;
  };
  return async () => {
    const { handle } = await oneByOne(async () => {
      await send('WebDriver:SwitchToWindow', { handle: home, focus: false });
      return send('WebDriver:NewWindow', { type: 'window' });
    });
    const inWindow: Send = (name, parameters) =>
      oneByOne(async () => {
        await send('WebDriver:SwitchToWindow', { handle, focus: false });
        return send(name, parameters);
      });
    return {
      goto: (url: string) => inWindow('WebDriver:Navigate', { url }),
      back: () => inWindow('WebDriver:Back'),
      close: () => inWindow('WebDriver:CloseWindow'),
      run: async (code: string) => {
        const script = `return (${code})`;
        return (await inWindow('WebDriver:ExecuteScript', { script, args: [] })).value;
      },
    };
  };
}

/** Speaks Marionette: each message is its length, a colon, and JSON. */
function commands(socket: Socket): Send {
  const waiting = new Map<number, (error: unknown, result: object) => void>();
  let received = Buffer.alloc(0);
  let count = 0;
  socket.on('error', () => {});
  socket.on('data', (part) => {
    received = Buffer.concat([received, part]);
    for (;;) {
      const colon = received.indexOf(':');
      const end = colon + 1 + Number(received.subarray(0, colon));
      if (colon < 0 || received.length < end) return;
      const message = JSON.parse(received.subarray(colon + 1, end).toString()) as unknown;
      received = received.subarray(end);
      // The first message is a greeting.
      if (Array.isArray(message)) waiting.get(message[1] as number)?.(message[2], message[3]);
    }
  });
  return async (name, parameters = {}) => {
    const id = ++count;
    const text = JSON.stringify([0, id, name, parameters]);
    socket.write(`${Buffer.byteLength(text)}:${text}`);
    return new Promise((resolve, reject) => {
      waiting.set(id, (error, result) => {
        if (error) reject(new Error(`${name}: ${JSON.stringify(error).slice(0, 300)}`));
        else resolve(result);
      });
    });
  };
}
