import { execFileSync, spawnSync } from 'node:child_process';
import { chownSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { StatusModel } from '../../src/status/model.ts';
import { BUN, BUNDLE, DENO, isPresent, NODE } from '../support/runtimes.ts';
import { startWatched, type Watched } from '../support/status.ts';
import { tempDir } from '../support/temp-dir.ts';
import { dataDirectory, run, until } from '../support/viewlog.ts';
import { MINIMAL_VIEW } from '../support/views.ts';

// The status page after a restart, with the built bundle.

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
    const { problems, total, projects, unlisted, sinceMs, version } = before;
    expect((await run(['-v'])).stdout).toBe(`viewlog ${version}\n`);
    expect(after).toMatchObject({ problems, total, projects, unlisted, sinceMs });
    expect(after.startMs).toBeGreaterThan(before.startMs);
    expect([after.latestAccepted, after.latestRefused]).toStrictEqual([[], []]);
    expect((await again.metrics())['viewlog_views_received_total']).toBe(0);
    expect(await textOf(again)).toMatch(/Restarted .* UTC\. Counted since /);
    await again.post(MINIMAL_VIEW);
    expect((await modelOf(again)).total).toMatchObject({ lastHour: 4, refusedLastHour: 3 });
  });
});

it('prints commands that work as printed, for a project and for an unlisted id', async () => {
  const projects = [{ id: '1000001', origins: ['https://www.example.com'] }];
  const viewlog = await startWatched({ data: dataDirectory({ projects }) });
  const origin = 'https://shop.example.com';
  await viewlog.post({ ...MINIMAL_VIEW, url: 'home' }, { origin });
  await viewlog.post(MINIMAL_VIEW, { origin });
  await viewlog.post({ ...MINIMAL_VIEW, p: '77' }, { origin });
  await until(() => viewlog.refusedLines().length === 3);
  const explain = /^ {4}(grep .*)$/m.exec(await textOf(viewlog))![1]!;
  const commands = [...(await textOf(viewlog)).matchAll(/^ {4}(viewlog (?!snippet).*)$/gm)];
  const names = commands.map(([command]) => command.trim().split(' ')[1]);
  expect(names).toStrictEqual(['activate', 'replay', 'activate', 'replay']);
  const bin = tempDir();
  const script = `#!/bin/sh\nexec '${process.execPath}' '${BUNDLE}' "$@"\n`;
  writeFileSync(join(bin, 'viewlog'), script, { mode: 0o755 });
  const env = { PATH: `${bin}:${process.env['PATH']}` };
  const inShell = (command: string) => spawnSync('/bin/sh', ['-c', command], { env, cwd: '/' });
  expect(inShell(explain).stdout.toString()).toMatch(/^422 invalid-view: /);
  for (const [command] of commands) expect(inShell(command).status).toBe(0);
  await until(() => viewlog.lines().length === 2);
});

it.skipIf(process.getuid?.() !== 0)(
  'prints commands for the account that has the files',
  async () => {
    const data = dataDirectory();
    chownSync(data, 1, 1);
    const account = execFileSync('id', ['-un', '1'], { encoding: 'utf8' }).trim();
    expect(await textOf(await startWatched({ data }))).toContain(
      `sudo -u ${account} viewlog snippet`,
    );
  },
);
