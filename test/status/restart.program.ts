import { execFileSync } from 'node:child_process';
import { chownSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { StatusModel } from '../../src/status/model.ts';
import { BUN, DENO, isPresent, NODE } from '../support/runtimes.ts';
import { startWatched, type Watched } from '../support/status.ts';
import { dataDirectory, until } from '../support/viewlog.ts';
import { MINIMAL_VIEW } from '../support/views.ts';

// What a restart leaves to see, with the built bundle.

const modelOf = async ({ statusUrl }: Watched): Promise<StatusModel> =>
  (await (await fetch(`${statusUrl}/status.json`)).json()) as StatusModel;

const textOf = async ({ statusUrl }: Watched): Promise<string> =>
  (await fetch(`${statusUrl}/status.txt`)).text();

describe.each([NODE, DENO, BUN].filter(isPresent))('a restart on $name', (runtime) => {
  it('shows what was there before, and counts on from it', async () => {
    const first = await startWatched({ runtime });
    const origin = 'https://shop.example.com';
    for (let i = 0; i < 3; i++) await first.post({ ...MINIMAL_VIEW, url: `/page-${i}` });
    await first.post({ ...MINIMAL_VIEW, url: 'no-slash' }, { origin });
    await first.post({ ...MINIMAL_VIEW, p: '1000003', pn: 'Café' }, { origin });
    await first.post({ ...MINIMAL_VIEW, p: '1000009' }, { origin });
    await until(() => first.refusedLines().length === 3);
    const before = await modelOf(first);
    await first.signal('SIGTERM');
    const again = await startWatched({ runtime, data: first.data });
    const after = await modelOf(again);
    const { headline, total, projects, unlisted, sinceMs } = before;
    expect(after).toMatchObject({ headline, total, projects, unlisted, sinceMs });
    expect(after.startMs).toBeGreaterThan(before.startMs);
    expect([after.latestAccepted, after.latestRefused]).toStrictEqual([[], []]);
    expect((await again.metrics())['viewlog_views_received_total']).toBe(0);
    expect(await textOf(again)).toMatch(/Restarted .* UTC; counted since /);
    await again.post(MINIMAL_VIEW);
    expect((await modelOf(again)).total).toMatchObject({ lastHour: 4, refusedLastHour: 3 });
  });
});

it('ignores counts that it cannot read, with a warning', async () => {
  const data = dataDirectory();
  execFileSync('mkfifo', [join(data, 'status.json')]);
  const viewlog = await startWatched({ data });
  expect((await viewlog.post(MINIMAL_VIEW)).status).toBe(201);
  expect(viewlog.stderr()).toMatch(/^warning: Cannot read ".*status\.json": .*from this start\n/);
});

it('prints a replay command that works as printed, until the file is gone', async () => {
  const projects = [{ id: '1000001', origins: ['https://www.example.com'] }];
  const viewlog = await startWatched({ data: dataDirectory({ projects }) });
  const origin = 'https://shop.example.com';
  await viewlog.post(MINIMAL_VIEW, { origin });
  await until(() => viewlog.refusedLines().length === 1);
  const [, path] = /viewlog replay (\S+) --to /.exec(await textOf(viewlog))!;
  expect(readFileSync(path!, 'utf8')).toContain(origin);
  rmSync(path!);
  expect(await textOf(viewlog)).not.toContain('viewlog replay');
});

it('offers no command for an unlisted id while the projects file is faulty', async () => {
  const viewlog = await startWatched();
  writeFileSync(join(viewlog.data, 'projects.json'), '{"projects": [{"id": "555"}}');
  await viewlog.post({ ...MINIMAL_VIEW, p: '555' });
  const text = await until(async () => {
    const text = await textOf(viewlog);
    return text.startsWith('The projects file is faulty') ? text : undefined;
  });
  expect(text).toContain('projects.json:1:28');
  expect(text).toContain('Correct the projects file first.');
  expect(text).not.toContain('viewlog activate');
});

describe.skipIf(process.getuid?.() !== 0)('commands are run as the service account', () => {
  it.each([
    ['by its name', 1, () => execFileSync('id', ['-un', '1'], { encoding: 'utf8' }).trim()],
    ['by its number, if it has none', 61_999, () => "'#61999'"],
  ])('that the files belong to, %s', async (_, uid, account) => {
    const data = dataDirectory();
    chownSync(data, uid, uid);
    const viewlog = await startWatched({ data });
    const page = await (await fetch(`${viewlog.statusUrl}/`)).text();
    const as = `sudo -u ${account()} viewlog`.replaceAll("'", '&#39;');
    expect(page).toContain(`${as} snippet 1000001 `);
  });
});
