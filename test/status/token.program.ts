import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { BUN, DENO, isPresent, NODE } from '../support/runtimes.ts';
import { startWatched } from '../support/status.ts';
import { dataDirectory, run } from '../support/viewlog.ts';

const TOKEN = 'correct-horse-battery-staple';
const EVERYWHERE = '--status=0.0.0.0:0';

const basic = (password: string): string =>
  `Basic ${Buffer.from(`operator:${password}`).toString('base64')}`;

describe.each([NODE, DENO, BUN].filter(isPresent))('beyond loopback, on $name', (runtime) => {
  it('asks for the token, except for its health, whose reasons it then keeps', async () => {
    const data = dataDirectory();
    const file = join(data, 'status-token');
    writeFileSync(file, `${TOKEN}\n`);
    const args = [EVERYWHERE, `--status-token-file=${file}`];
    const { statusUrl } = await startWatched({ runtime, data, args });
    const url = statusUrl.replace('0.0.0.0', '127.0.0.1');
    const get = (path: string, authorization?: string): Promise<Response> =>
      fetch(url + path, authorization === undefined ? {} : { headers: { authorization } });
    for (const path of ['/', '/metrics', '/status.json', '/page.js', '/nowhere']) {
      const answer = await get(path);
      expect([path, answer.status]).toStrictEqual([path, 401]);
      expect(answer.headers.get('www-authenticate')).toMatch(/^Basic realm="viewlog"/);
    }
    for (const wrong of [
      `Bearer ${TOKEN}x`,
      'Bearer',
      basic('wrong'),
      basic(''),
      `Token ${TOKEN}`,
    ]) {
      expect([wrong, (await get('/metrics', wrong)).status]).toStrictEqual([wrong, 401]);
    }
    for (const right of [`Bearer ${TOKEN}`, `bearer ${TOKEN}`, basic(TOKEN)]) {
      expect([right, (await get('/metrics', right)).status]).toStrictEqual([right, 200]);
    }
    expect(await (await get('/healthz')).json()).toStrictEqual({ status: 'alive' });
    expect(await (await get('/readyz')).json()).toStrictEqual({ status: 'ready' });
    expect(await (await get('/readyz', basic(TOKEN))).json()).toStrictEqual({
      status: 'ready',
      reasons: [],
      warnings: [],
    });
    // The token is what protects it: it has any name there, but other sites are still refused.
    const named = { authorization: `Bearer ${TOKEN}`, origin: 'https://evil.example' };
    expect((await fetch(`${url}/metrics`, { headers: named })).status).toBe(403);
  });
});

describe('a token', () => {
  const start = (args: string[], env: NodeJS.ProcessEnv = {}) =>
    run(['serve', '--port=0', ...args], { env });

  it.each([
    ['none beyond loopback', [EVERYWHERE], {}, /is not loopback, so it needs a token/],
    ['none for a name', ['--status=status.example:0'], {}, /so it needs a token/],
    ['a short one', [EVERYWHERE], { VIEWLOG_STATUS_TOKEN: 'short' }, /at least 16 characters/],
    ['spaces', [], { VIEWLOG_STATUS_TOKEN: 'correct horse battery staple' }, /printable ASCII/],
    ['no file', ['--status-token-file=nowhere'], {}, /Cannot read --status-token-file "nowhere"/],
  ])('that is %s keeps viewlog from starting, in one line', async (_, args, env, message) => {
    const { code, stderr, stdout } = await start(args, env);
    expect(stderr).toMatch(message);
    expect([code, stderr.split('\n').length, stdout]).toStrictEqual([78, 2, '']);
    expect(stderr).not.toContain('horse');
  });

  it('of the environment is asked for, on loopback too', async () => {
    const { statusUrl } = await startWatched({ env: { VIEWLOG_STATUS_TOKEN: TOKEN } });
    expect((await fetch(`${statusUrl}/metrics`)).status).toBe(401);
    const headers = { authorization: `Bearer ${TOKEN}` };
    expect((await fetch(`${statusUrl}/metrics`, { headers })).status).toBe(200);
  });
});

it('an address in use is said, with the flag that chooses another', async () => {
  const { statusPort } = await startWatched();
  const { code, stderr } = await run(['serve', '--port=0', `--status=127.0.0.1:${statusPort}`]);
  expect([code, stderr]).toStrictEqual([
    69,
    `error: Cannot listen on 127.0.0.1:${statusPort}: it is in use. ` +
      'Stop what listens there, or choose another with --status\n',
  ]);
});
