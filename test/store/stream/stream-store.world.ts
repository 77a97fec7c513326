import { readdirSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { makeStream } from '../../support/archive.ts';
import { canRunNats, DEBIAN_NATS, type NatsOptions, startNats } from '../../support/nats-server.ts';
import { BUN, DENO, EXECUTABLE, isPresent, NODES, DENO_2_5 } from '../../support/runtimes.ts';
import { startWatched } from '../../support/status.ts';
import { dataDirectory, run, startViewlog } from '../../support/viewlog.ts';
import { FULL_VIEW, MINIMAL_VIEW } from '../../support/views.ts';

// Tests views in a stream of one real NATS server.

const RUNTIMES = [...NODES, DENO, DENO_2_5, BUN, EXECUTABLE].filter(isPresent);
const idOf = async (answer: Response): Promise<string> =>
  ((await answer.json()) as { id: string }).id;

describe.skipIf(!canRunNats())('with a stream,', () => {
  it.each(RUNTIMES)('views are stored before they are acknowledged, on %s', async (runtime) => {
    const nats = await startNats();
    const data = dataDirectory();
    const viewlog = await startViewlog({ runtime, data, args: ['--store', nats.url] });
    const ids = [];
    for (const view of [FULL_VIEW, { ...MINIMAL_VIEW, p: '1000003', pn: 'ü\u2028😀' }]) {
      const answer = await viewlog.post(view, { origin: 'https://www.example.com' });
      expect(answer.status).toBe(201);
      ids.push(await idOf(answer));
    }
    const refused = await viewlog.post(
      { ...MINIMAL_VIEW, p: '77', x: 1 },
      { origin: 'https://a.b' },
    );
    expect(refused.status).toBe(422);
    expect((await viewlog.post({ ...MINIMAL_VIEW, p: '1000002' })).status).toBe(403);
    const { code, stderr } = await viewlog.signal('SIGTERM');
    expect([code, stderr]).toStrictEqual([0, '']);

    const messages = await nats.messages('VIEWS');
    expect(messages.map(({ id }) => id)).toStrictEqual(ids);
    expect(messages.map(({ subject }) => subject)).toStrictEqual([
      'views.1000001',
      'views.1000003',
    ]);
    const [full, minimal] = messages.map(({ text }) => text);
    expect(full).toBe(JSON.stringify({ ts: tsOf(full!), id: ids[0], ...FULL_VIEW }));
    expect(minimal).toContain(String.raw`ü\u2028😀`);
    const stored = await nats.messages('VIEWS_REFUSED');
    expect(stored.map(({ subject }) => subject)).toStrictEqual([
      'refused.unlisted',
      'refused.1000002',
    ]);
    expect(JSON.parse(stored[0]!.text)).toMatchObject({
      id: stored[0]!.id,
      code: 'invalid-view',
      origin: 'https://a.b',
      view: { p: '77', x: 1 },
    });
    // viewlog creates, locks and writes nothing in the data directory.
    expect(readdirSync(data)).toStrictEqual(['projects.json']);
  });

  it('the first collector creates the streams and sets their limits', async () => {
    const nats = await startNats();
    const args = ['--store', nats.url, '--nats-stream', 'MINE', '--max-refused', '1MiB'];
    await startViewlog({ args: [...args, '--keep-refused-days', '3'] });
    expect((await nats.stream('MINE')).config).toMatchObject({
      subjects: ['views.>'],
      storage: 'file',
      retention: 'limits',
      discard: 'new',
      num_replicas: 1,
      max_bytes: -1,
      max_age: 0,
    });
    const refused = (await nats.stream('MINE_REFUSED')).config;
    const days3 = 3 * 24 * 3_600e9;
    const limits = { discard: 'old', storage: 'file', max_bytes: 1024 * 1024, max_age: days3 };
    expect(refused).toMatchObject(limits);
    // A second collector sets its own limits and leaves the stream's other settings.
    await startViewlog({ args: [...args, '--max-refused', '2MiB'] });
    expect((await nats.stream('MINE_REFUSED')).config.max_bytes).toBe(2 * 1024 * 1024);
    await startViewlog({ args: [...args, '--nats-stream', 'MINE', '--max-refused', '0'] });
    expect((await nats.stream('MINE_REFUSED')).config.max_bytes).toBe(2 * 1024 * 1024);
  });
});

const tsOf = (line: string): string => (JSON.parse(line) as { ts: string }).ts;

/** The permissions in the manual. */
const RIGHTS = ['views.>', 'refused.>', '$JS.API.STREAM.*.VIEWS', '$JS.API.STREAM.*.VIEWS_REFUSED'];

function usersWithout(denied: string, inbox = '_INBOX.>'): string {
  const allowed = RIGHTS.filter((one) => one !== denied);
  const permissions = `{ publish: ${JSON.stringify(allowed)}, subscribe: "${inbox}" }`;
  return `authorization { users: [ { user: viewlog, password: s3cret, permissions: ${permissions} } ] }`;
}

describe.skipIf(!canRunNats())('with a stream,', () => {
  const USERS = { config: 'authorization { users: [ { user: viewlog, password: s3cret } ] }' };
  const serve = (url: string, ...args: string[]) =>
    run(['serve', '--port=0', '--status=off', '--store', url, ...args]);

  it('viewlog prints one line if it reaches no server', async () => {
    const { code, stdout, stderr } = await serve('nats://127.0.0.1:9,localhost:9');
    expect([code, stdout]).toStrictEqual([69, '']);
    expect(stderr).toMatch(
      /^error: Can't reach the NATS cluster at 127\.0\.0\.1:9, localhost:9: .*\n$/,
    );
  });

  it.each<[string, RegExp, NatsOptions?, string?, ...string[]]>([
    [
      'no credentials',
      /Can't log in to .*; pass --nats-creds or user:password@HOST in the address$/,
      USERS,
    ],
    ['a wrong password', /Can't log in to .*; check the credentials$/, USERS, 'viewlog:wr0ng@'],
    ['a wrong token', /Can't log in to .*; check the credentials$/, USERS, 'wr0ng@'],
    [
      'replicas on a server that is not in a cluster',
      /: the server isn't part of a cluster, so it can't have 3 replicas; leave out --nats-replicas$/,
      {},
      '',
      '--nats-replicas=3',
    ],
    [
      'a --max-view above the limit for messages',
      /messages of at most 1 MiB/,
      {},
      '',
      '--max-view=1MiB',
    ],
    ['no JetStream', /JetStream is off; enable it/, { jetstream: false }],
    ...RIGHTS.map((denied): [string, RegExp, NatsOptions, string] => [
      `no permission for ${denied}`,
      /The NATS user isn't allowed to publish to "\S+"; allow it to publish to "[^"]+"$/,
      { config: usersWithout(denied) },
      'viewlog:s3cret@',
    ]),
    [
      'no permission for its inbox',
      /The NATS user isn't allowed to subscribe to "_INBOX\.>"; allow it to subscribe to "_INBOX\.>"$/,
      { config: usersWithout('', 'other.>') },
      'viewlog:s3cret@',
    ],
  ])('viewlog refuses to start with %s', async (_, message, options, login = '', ...args) => {
    const nats = await startNats(options);
    const { code, stdout, stderr } = await serve(nats.url.replace('//', `//${login}`), ...args);
    expect([code, stdout]).toStrictEqual([78, '']);
    expect(stderr).toMatch(/^error: [^\n]*\n$/);
    expect(stderr.trim()).toMatch(message);
    expect(stderr).not.toContain('wr0ng');
  });

  it.each<[what: string, name: string, config: object, message: RegExp]>([
    [
      'stream VIEWS is in memory',
      'VIEWS',
      { storage: 'memory' },
      /^error: Stream VIEWS can't store views: it keeps messages/,
    ],
    [
      'a limit of stream VIEWS is too small',
      'VIEWS',
      { max_msg_size: 10_000 },
      /messages of at most .* \(max_msg_size\), but --max-view/,
    ],
    [
      "stream VIEWS_REFUSED doesn't belong to viewlog",
      'VIEWS_REFUSED',
      { subjects: ['other.>'], max_bytes: 7e6 },
      /^error: Stream VIEWS_REFUSED doesn't belong to viewlog: it has the subjects other.> and discard \w+ \(viewlog needs .*\)\. If no other program uses it, correct it; otherwise, /,
    ],
    [
      'another stream stores its subjects',
      'OTHER',
      { subjects: ['views.>'] },
      /: another stream stores views\.>; if it has your views, name it with --nats-stream, otherwise remove these subjects from it$/m,
    ],
  ])('viewlog refuses to start, and changes nothing, if %s', async (_, name, config, message) => {
    const nats = await startNats();
    await makeStream(nats, { name, ...config });
    const { code, stderr } = await serve(nats.url);
    expect([code, stderr]).toStrictEqual([78, expect.stringMatching(message)]);
    expect((await nats.stream(name)).config).toMatchObject(config);
  });

  it('at every start and in /readyz, viewlog warns about a server whose replicas can differ', async () => {
    const nats = await startNats({ program: DEBIAN_NATS });
    for (let time = 0; time < 2; time++) {
      const viewlog = await startWatched({ args: ['--store', nats.url] });
      expect(viewlog.stderr()).toMatch(
        /^warning: NATS server \S+ has version 2\.9\.\d+: [^\n]*\n$/,
      );
      const ready = await (await fetch(`${viewlog.statusUrl}/readyz`)).json();
      expect(ready).toMatchObject({ warnings: [expect.stringContaining('use nats-server 2.10')] });
      expect((await viewlog.post(MINIMAL_VIEW)).status).toBe(201);
    }
  });

  it('viewlog warns about a stream that drops old views or whose number of replicas differs from --nats-replicas', async () => {
    const nats = await startNats();
    await makeStream(nats, { discard: 'old', max_bytes: 1024 * 1024 });
    const args = ['--store', nats.url, '--nats-replicas', '3'];
    const viewlog = await startWatched({ args });
    expect(viewlog.stderr().split('\n')).toStrictEqual([
      'warning: Stream VIEWS drops its oldest views at a limit (max_bytes)',
      "warning: Stream VIEWS is stored on 1 server, not 3 (--nats-replicas); change the stream's " +
        'replicas or --nats-replicas',
      '',
    ]);
    const ready = await (await fetch(`${viewlog.statusUrl}/readyz`)).json();
    expect(ready).toMatchObject({ status: 'ready', warnings: { length: 2 } });
    expect((await viewlog.post(MINIMAL_VIEW)).status).toBe(201);
  });
});
