import { execFileSync } from 'node:child_process';
import { chownSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { dayOf } from '../../src/base/time.ts';
import type { Snapshot } from '../../src/status/snapshot.ts';
import { canRunNats, startNats } from '../support/nats-server.ts';
import { BUN, DENO, isPresent, NODE } from '../support/runtimes.ts';
import { startWatched, type Watched } from '../support/status.ts';
import { dataDirectory, until } from '../support/viewlog.ts';
import { MINIMAL_VIEW } from '../support/views.ts';

// What a restart leaves to see, with the built bundle.

const snapshotOf = async ({ statusUrl }: Watched): Promise<Snapshot> =>
  (await (await fetch(`${statusUrl}/snapshot`)).json()) as Snapshot;

/** Once all that came before the start is read. */
const whole = (viewlog: Watched): Promise<Snapshot> =>
  until(async () => {
    const snapshot = await snapshotOf(viewlog);
    return snapshot.known.isReading ? undefined : snapshot;
  });

/** What is the same before and after a restart. */
function lasting({ headline, projects, unlistedIds, latestAccepted, latestRefused }: Snapshot) {
  const words = headline.words.map((word) => (typeof word === 'string' ? word : word.name));
  return {
    headline: [headline.kind, ...words],
    projects: projects.map(({ id, state, activity, refusals }) => ({
      id,
      state,
      lastHour: activity.lastHour,
      refused: activity.refused,
      commands: refusals.flatMap(({ command, origins }) => [
        command,
        ...origins.map((origin) => [origin.origin, origin.count, origin.command]),
      ]),
      issues: refusals.flatMap(({ latest }) => latest?.issues),
    })),
    unlistedIds: unlistedIds.map(({ id, count, command }) => [id, count, command]),
    accepted: latestAccepted.map(({ item }) => [item.project, item.url]),
    refused: latestRefused.map(({ item }) => [item.project, item.code, item.origin, item.text]),
  };
}

async function send(viewlog: Watched): Promise<void> {
  const origin = 'https://shop.example.com';
  for (let i = 0; i < 3; i++) await viewlog.post({ ...MINIMAL_VIEW, url: `/page-${i}` });
  await viewlog.post({ ...MINIMAL_VIEW, url: 'no-slash' }, { origin });
  await viewlog.post({ ...MINIMAL_VIEW, p: '1000003', pn: 'Café' }, { origin });
  await viewlog.post({ ...MINIMAL_VIEW, p: '1000009' }, { origin });
}

describe.each([NODE, DENO, BUN].filter(isPresent))('a restart on $name', (runtime) => {
  it('shows what was there before, and counts on from it', async () => {
    const first = await startWatched({ runtime });
    await send(first);
    await until(() => first.refusedLines().length === 3);
    const before = lasting(await snapshotOf(first));
    expect(before.headline[1]).toBe(
      '2 of 3 projects in trouble: 1 origin not allowed, 1 invalid view',
    );
    await first.signal('SIGKILL');
    const again = await startWatched({ runtime, data: first.data });
    const after = await whole(again);
    expect(lasting(after)).toStrictEqual(before);
    expect(after.known.sinceMs).toBeLessThanOrEqual(after.known.wholeMs);
    expect([after.accepted, after.refused]).toStrictEqual([0, 0]);
    expect((await again.metrics())['viewlog_views_received_total']).toBe(0);
    await again.post(MINIMAL_VIEW);
    const { total } = await snapshotOf(again);
    expect([total.lastHour, total.refused]).toStrictEqual([4, 3]);
  });

  it.each([
    ['', 'disk'],
    [', unless the machine went down', 'os'],
  ])('says that it has lost nothing%s, with --durability %s', async (unless, durability) => {
    const args = [`--durability=${durability}`];
    const first = await startWatched({ runtime, args });
    await first.post(MINIMAL_VIEW);
    const told = async (viewlog: Watched) => {
      await whole(viewlog);
      return (await fetch(`${viewlog.statusUrl}/status.txt`)).text();
    };
    expect(await told(first)).toMatch(/ ago\. Running since (.*, )?\d\d:\d\d\.\n/);
    await first.signal('SIGKILL');
    expect(await told(await startWatched({ runtime, args, data: first.data }))).toMatch(
      new RegExp(
        String.raw`Restarted (.*, )?\d\d:\d\d: no stored view was lost${unless}; ` +
          'the figures go on',
      ),
    );
  });

  it('is held up by no odd file, whatever stands in its place', async () => {
    const data = dataDirectory();
    const yesterday = dayOf(Date.now() - 86_400_000);
    // Not of views: those are read when the test is over.
    execFileSync('mkfifo', [join(data, `refused-${yesterday}.ndjson`)]);
    const viewlog = await startWatched({ runtime, data });
    expect((await viewlog.post(MINIMAL_VIEW)).status).toBe(201);
    expect((await whole(viewlog)).total.lastHour).toBe(1);
  });

  it('reads of a file of gigabytes no more than its bound, and takes views meanwhile', async () => {
    const data = dataDirectory();
    // Of NULs, that take no room on the disk; a line stands before them.
    const path = join(data, `refused-${dayOf(Date.now() - 86_400_000)}.ndjson`);
    writeFileSync(path, '{}\n');
    truncateSync(path, 10 * 2 ** 30);
    const viewlog = await startWatched({ runtime, data });
    expect((await viewlog.post(MINIMAL_VIEW)).status).toBe(201);
    const { known, total } = await whole(viewlog);
    expect(total.lastHour).toBe(1);
    expect(known.sinceMs).toBeGreaterThan(known.wholeMs);
  });
});

it.skipIf(!canRunNats())('with a stream, counts since the start and says so', async () => {
  const nats = await startNats();
  const viewlog = await startWatched({ args: ['--store', nats.url] });
  const { known, sinceMs, report } = await snapshotOf(viewlog);
  expect(known).toMatchObject({ sinceMs, isReading: false });
  expect(report).toBeUndefined();
});

describe.skipIf(process.getuid?.() !== 0)('commands are run as the service account', () => {
  it.each([
    ['by its name', 1, () => execFileSync('id', ['-un', '1'], { encoding: 'utf8' }).trim()],
    ['by its number, where it has none', 61_999, () => "'#61999'"],
  ])('that the files belong to, %s', async (_, uid, account) => {
    const data = dataDirectory();
    chownSync(data, uid, uid);
    const viewlog = await startWatched({ data });
    const { report, firstSteps } = await snapshotOf(viewlog);
    const as = `sudo -u ${account()} viewlog`;
    expect(report).toBe(`${as} report --data ${data} --last 7 --html report.html`);
    expect(firstSteps[0]!.command).toContain(`${as} snippet 1000001 `);
  });
});
