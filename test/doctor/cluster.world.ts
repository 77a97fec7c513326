import { describe, expect, it } from 'vitest';
import { makeStream } from '../support/archive.ts';
import { fileOf } from '../support/examples.ts';
import { doctor, of } from '../support/doctor.ts';
import { canRunNats, DEBIAN_NATS, startNats, startNatsCluster } from '../support/nats-server.ts';
import { BUN, DENO, isPresent, NODE } from '../support/runtimes.ts';
import { startWatched } from '../support/status.ts';
import { MINIMAL_VIEW } from '../support/views.ts';

// Tests `viewlog doctor --store …` with real servers, on which it must not change anything.

const PROJECTS = { projects: [{ id: '1' }] };

const examine = (url: string, ...args: string[]) => {
  const projects = `--projects=${fileOf('projects.json', JSON.stringify(PROJECTS))}`;
  return doctor(undefined, ['--store', url, projects, ...args]);
};

describe.skipIf(!canRunNats())('the doctor with a stream', () => {
  it.each([NODE, DENO, BUN].filter(isPresent))('creates no stream, on %s', async (runtime) => {
    const nats = await startNats();
    const projects = `--projects=${fileOf('projects.json', JSON.stringify(PROJECTS))}`;
    const { code, line } = await doctor(undefined, ['--store', nats.url, projects], { runtime });
    expect(code).toBe(0);
    expect(line('cluster')).toMatch(
      /^ok cluster: NATS server \S+, version 2\.\d+\.\d+, answers\.$/,
    );
    expect(line('stream')).toBe(
      "ok stream: Stream VIEWS doesn't exist yet. A collector creates it on 3 servers, or on 1 if " +
        'fewer than 3 are up.',
    );
    expect(line('cluster permissions')).toMatch(/^ok /);
    expect(line('stream settings')).toMatch(/^ok /);
    expect(await (await nats.manager()).streams.names().next()).toStrictEqual([]);
  });

  it('examines the stream of the running collector', async () => {
    const nats = await startNats();
    const viewlog = await startWatched({ args: ['--store', nats.url, '--nats-stream', 'MINE'] });
    expect((await viewlog.post(MINIMAL_VIEW)).status).toBe(201);
    const { line, out } = await doctor(undefined, ['--store', nats.url, ...of(viewlog)]);
    expect(line('cluster'), out).toContain(`NATS server 127.0.0.1:${nats.nodes[0]!.port}, version`);
    expect(line('stream'), out).toMatch(
      /^ok stream: Stream MINE has 1 message \(\d+ bytes\) on 1 server\. /,
    );
  });

  it('reports everything that a start would refuse or warn about', async () => {
    const nats = await startNatsCluster();
    await makeStream(nats, { num_replicas: 1, max_msg_size: 10_000, discard: 'old' });
    await makeStream(nats, { name: 'VIEWS_REFUSED', subjects: ['other.>'] });
    const { code, line } = await examine(nats.url);
    expect(code).toBe(78);
    expect(line('stream')).toMatch(/^error stream: Stream VIEWS_REFUSED doesn't belong to viewlog/);
    expect(line('stream settings')).toMatch(
      /^error stream settings: .* \(max_msg_size\), but --max-view/,
    );
    expect(line('server clock')).toMatch(/^ok /);
    const fewer = await examine(nats.url, '--max-view=4KiB', '--max-refused=0');
    expect(fewer.outcome('stream settings')).toMatch(
      /^0 warning .* on 1 server of cluster "test"\./,
    );
    expect((await nats.stream('VIEWS')).state.last_seq).toBe(0);
    expect((await nats.stream('VIEWS_REFUSED')).config.max_bytes).toBe(-1);
  });

  it('names every missing permission and no secret', async () => {
    const permissions = '{ publish: ["$JS.API.STREAM.INFO.VIEWS"], subscribe: "_INBOX.>" }';
    const nats = await startNats({
      config: `authorization { users: [ { user: u, password: s3cret, permissions: ${permissions} } ] }`,
    });
    const { code, out, lines } = await examine(nats.url.replace('//', '//u:s3cret@'));
    expect(code).toBe(78);
    const denied = lines.filter((line) => line.includes('cluster permissions'));
    const subjects = denied.map((line) => /allowed to publish to "(\S+)"/.exec(line)?.[1]);
    expect(subjects).toStrictEqual([
      '$JS.API.STREAM.CREATE.VIEWS',
      'views.probe',
      '$JS.API.STREAM.INFO.VIEWS_REFUSED',
      'refused.probe',
    ]);
    expect(out).not.toContain('s3cret');
  });

  it('warns about an old server and reports a server that is down as an error', async () => {
    const nats = await startNats({ program: DEBIAN_NATS });
    const old = await examine(nats.url);
    expect(old.outcome('cluster')).toMatch(/^0 warning cluster: .* Use nats-server 2\.10 or later/);
    await nats.nodes[0]!.stop('SIGKILL');
    const gone = await examine(nats.url);
    expect(gone.outcome('cluster')).toMatch(/^78 error cluster: Can't reach .*\. Check the addr/);
  });
});
