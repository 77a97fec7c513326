import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { MINUTE_MS } from '../../src/base/time.ts';
import type { StatusModel } from '../../src/status/model.ts';
import { BUN, DENO, isPresent, NODE } from '../support/runtimes.ts';
import { tempDir } from '../support/temp-dir.ts';
import { startWatched, type Watched } from '../support/status.ts';
import { dataDirectory, run, until } from '../support/viewlog.ts';
import { MINIMAL_VIEW } from '../support/views.ts';

// Tests the status page after a restart, and the commands that it prints, with the built bundle.

const modelOf = async ({ statusUrl }: Watched): Promise<StatusModel> =>
  (await (await fetch(`${statusUrl}/status.json`)).json()) as StatusModel;

const textOf = async ({ statusUrl }: Watched): Promise<string> =>
  (await fetch(`${statusUrl}/status.txt`)).text();

describe.each([NODE, DENO, BUN].filter(isPresent))('a restarted viewlog on %s', (runtime) => {
  it('continues the counts of the previous process', async () => {
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
    expect(await textOf(again)).toMatch(/viewlog restarted on .* UTC\. The counts began on /);
    await again.post(MINIMAL_VIEW);
    expect((await modelOf(again)).total).toMatchObject({ lastHour: 4, refusedLastHour: 3 });
  });
});

it('a problem that has ended stays ended when its project is deactivated, and after a restart', async () => {
  const origin = 'https://shop.example.com';
  const project = { id: '1000001', origins: ['https://www.example.com'] };
  const viewlog = await startWatched({ data: dataDirectory({ projects: [project] }) });
  const operator = 'you@example.com';
  const countsPath = join(viewlog.data, 'status.json');
  const list = (entry: object) => {
    const text = JSON.stringify({ operator, projects: [entry] });
    writeFileSync(join(viewlog.data, 'projects.json'), text);
  };
  const send = async () => (await viewlog.post(MINIMAL_VIEW, { origin })).status;
  expect(await send()).toBe(403);
  list({ ...project, origins: [origin] });
  await until(async () => (await send()) === 201);
  expect(await textOf(viewlog)).toMatch(/^Views are arriving .*; earlier problems have ended\n/);
  list({ ...project, active: false });
  await viewlog.says(/^Projects file reloaded: 1 project, 0 active; /m);
  const inactive = /^Project 1000001 is inactive, so its views are refused\n/;
  expect(await textOf(viewlog)).toMatch(inactive);
  await viewlog.signal('SIGTERM');
  const again = await startWatched({ data: viewlog.data });
  expect(await textOf(again)).toMatch(inactive);
  list(project);
  await again.says(/^Projects file reloaded: 1 project, 1 active; /m);
  expect(await textOf(again)).toMatch(/^Views are arriving .*; earlier problems have ended\n/);
  // The entry of a removed project is saved immediately, and also outlives the process.
  writeFileSync(join(viewlog.data, 'projects.json'), '{"projects":[]}');
  await until(() => /"removed":\[\{"id":"1000001"/.test(readFileSync(countsPath, 'utf8')));
  // The counts are saved each minute anyway.
  expect(statSync(countsPath).mtimeMs).toBeLessThan((await modelOf(again)).startMs + MINUTE_MS);
  await again.says(/^Projects file reloaded: 0 projects/m);
  await again.says(/^warning: The projects file no longer has the operator's address, you@exa/m);
  await again.signal('SIGTERM');
  const third = await startWatched({ data: viewlog.data });
  await third.post(MINIMAL_VIEW, { origin });
  expect(await textOf(third)).toMatch(
    /add the entry again:\n.* activate 1000001 .* --origin https:\/\/www\.example\.com --operator you@example\.com\n/,
  );
  const activate = (...args: string[]) =>
    run(['activate', '1000001', ...args], { data: viewlog.data });
  const was =
    'Project 1000001 was listed before, with these rules: https://www.example.com, no limit';
  // Without rules, the project would be open to every site.
  const bare = await activate('--name', 'My site');
  expect([bare.code, bare.stdout]).toStrictEqual([64, '']);
  expect(bare.stderr).toContain(`${was}. For other rules, give `);
  const restore = / To restore that entry, run: (.* --operator you@example\.com)$/m;
  const [, command = ''] = restore.exec(bare.stderr)!;
  const other = await activate('--origin', 'https://example.com');
  expect(other.stderr).toContain(`warning: ${was}. To add these rules `);
  // The command itself isn't answered with a warning.
  writeFileSync(join(viewlog.data, 'projects.json'), '{"projects":[]}');
  expect(spawnSync('/bin/sh', ['-c', command], { encoding: 'utf8' })).toMatchObject({
    status: 0,
    stderr: '',
    stdout: expect.stringMatching(
      /^Added project 1000001 to .*: https:\/\/www\.example\.com, no limit/,
    ),
  });
});

it('the refusals that a killed viewlog had stored are counted, so a replay of them says nothing about later ones', async () => {
  const project = { id: '1000001', origins: ['https://www.example.com'] };
  const first = await startWatched({ data: dataDirectory({ projects: [project] }) });
  const { data } = first;
  const origin = 'https://shop.example.com';
  for (let i = 0; i < 3; i++) await first.post(MINIMAL_VIEW, { origin });
  await until(() => first.refusedLines().length === 3);
  await first.signal('SIGKILL');
  const viewlog = await startWatched({ data });
  expect(await textOf(viewlog)).toMatch(/ {2}3 refused views are stored\. /);
  const list = async (...origins: string[]) => {
    const text = JSON.stringify({ projects: [{ ...project, origins }] });
    writeFileSync(join(data, 'projects.json'), text);
    viewlog.child.kill('SIGHUP');
    const isListed = async () =>
      (await modelOf(viewlog)).projects[0]?.origins?.join() === origins.join();
    await until(isListed);
  };
  await list(origin);
  const refused = join(
    data,
    readdirSync(data).find((name) => name.startsWith('refused-'))!,
  );
  const replay = ['replay', refused, '--to', viewlog.url, '--project', '1000001'];
  expect((await run(replay, { data })).stdout).toContain('3 sent');
  expect(await textOf(viewlog)).toMatch(/ {2}3 refused views were sent again\.$/m);
  await list(...project.origins);
  for (let i = 0; i < 2; i++) await viewlog.post(MINIMAL_VIEW, { origin });
  expect(await textOf(viewlog)).toMatch(
    / {2}3 refused views were sent again\.\n {2}2 refused views are stored but haven't been sent again yet\. /,
  );
});

it('the status page prints commands that work as they are, for a project and for an unlisted id', async () => {
  const projects = [{ id: '1000001', origins: ['https://www.example.com'] }];
  const viewlog = await startWatched({ data: dataDirectory({ projects }) });
  const origin = 'https://shop.example.com';
  await viewlog.post({ ...MINIMAL_VIEW, url: 'home' }, { origin });
  await viewlog.post(MINIMAL_VIEW, { origin });
  await viewlog.post({ ...MINIMAL_VIEW, p: '77' }, { origin });
  await until(() => viewlog.refusedLines().length === 3);
  const text = await textOf(viewlog);
  const commands = [...text.matchAll(/^ {4}(.*viewlog\.mjs (activate|replay) .*)$/gm)];
  const names = commands.map(([, , name]) => name);
  expect(names).toStrictEqual(['activate', 'replay', 'activate', 'replay']);
  // Nothing is on the PATH except the system's own programs.
  const env = { PATH: '/usr/sbin:/usr/bin:/sbin:/bin' };
  const inShell = (command: string) => spawnSync('/bin/sh', ['-c', command], { env, cwd: '/' });
  for (const [, command] of commands) expect(inShell(command!).status).toBe(0);
  await until(() => viewlog.lines().length === 2);
  // The page shows what happened to the views, even after a restart.
  expect(await textOf(viewlog)).toMatch(/ended on [^]* {2}1 refused view was sent again\.$/m);
  await viewlog.signal('SIGTERM');
  const again = await textOf(await startWatched({ data: viewlog.data }));
  expect(again).toMatch(/ {2}1 refused view was sent again\.$/m);
  expect(again).not.toContain(' replay /');
});

it.each([
  ['quotes', `'"'\\''"$'`],
  ['substitutions that a shell would run', '$(touch x)`touch x`;touch x|touch x&'],
  ['backslashes', String.raw`\\n\\'\\`],
  ["references to the shell's history", '!! !x !$ ^a^b'],
  ['percent signs that printf would interpret', '%s%n%%\u00e9\u6f22'],
])(
  "the status page's command explains a view with %s, in a Bash script and at a Bash prompt",
  async (_, odd) => {
    const viewlog = await startWatched();
    // The body has spaces around a colon, as JSON.stringify never writes them.
    const view = JSON.stringify({ ...MINIMAL_VIEW, mb: odd }).replace('"mb":', '"mb" : ');
    const answer = (await (await viewlog.post(view)).json()) as { issues: { received: string }[] };
    const command = /^ {4}(printf .*)$/m.exec(await textOf(viewlog))![1]!;
    const dir = tempDir();
    for (const mode of ['-c', '-i']) {
      const input = mode === '-i' ? `set -o history -H\n${command}\n` : '';
      const args = mode === '-i' ? ['--norc', '-i'] : ['-c', command];
      const { stdout } = spawnSync('bash', args, { cwd: dir, input, encoding: 'utf8' });
      expect([mode, stdout]).toStrictEqual([
        mode,
        expect.stringMatching(/^422 invalid-view: "mb" must be an integer/),
      ]);
      expect(stdout).toContain(`(received ${answer.issues[0]!.received})`);
      expect(readdirSync(dir)).toStrictEqual([]);
    }
  },
);
