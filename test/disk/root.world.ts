import { spawn } from 'node:child_process';
import * as fs from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { BUN, BUNDLE, DENO, isPresent, NODE, onEach, type Runtime } from '../support/runtimes.ts';
import { tempDir } from '../support/temp-dir.ts';
import { MINIMAL_VIEW } from '../support/views.ts';
import { until } from '../support/viewlog.ts';

// The user of a service, and root who once runs viewlog by hand on the service's directory.

const RUNTIMES = [NODE, DENO, BUN].filter(isPresent);
const SERVICE = { uid: 4711, gid: 4712 };
const ROOT = { uid: 0, gid: 0 };
const isRoot = process.getuid?.() === 0;

/** A directory of the service's, with the bundle where every user can read it. */
function serviceDirectory(): string {
  const dir = tempDir();
  fs.chmodSync(dir, 0o755);
  fs.copyFileSync(BUNDLE, join(dir, 'viewlog.mjs'));
  fs.mkdirSync(join(dir, 'data'));
  fs.chownSync(join(dir, 'data'), SERVICE.uid, SERVICE.gid);
  return dir;
}

function begin(runtime: Runtime, user: typeof ROOT, dir: string, ...args: string[]) {
  const data = join(dir, 'data');
  const [program, ...before] = runtime.command(data, join(dir, 'viewlog.mjs'));
  const env = { PATH: process.env['PATH'], HOME: data, DENO_DIR: join(data, 'deno') };
  const child = spawn(program, [...before, ...args], { cwd: data, env, ...user });
  let said = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => (said += text));
  }
  const ended = new Promise<number | null>((resolve) => child.once('close', resolve));
  onTestFinished(async () => {
    child.kill('SIGKILL');
    await ended;
  });
  return { child, ended, said: () => said };
}

async function run(runtime: Runtime, user: typeof ROOT, dir: string, ...args: string[]) {
  const { ended, said } = begin(runtime, user, dir, ...args, '--data', join(dir, 'data'));
  return { code: await ended, said: said() };
}

async function serve(runtime: Runtime, user: typeof ROOT, dir: string) {
  const args = ['serve', '--port=0', '--status=off', '--data', join(dir, 'data')];
  const started = begin(runtime, user, dir, ...args);
  const url = await until(() => {
    if (started.child.exitCode !== null) throw new Error(started.said());
    return /listening on (\S+)/.exec(started.said())?.[1];
  });
  const post = async (change: object = {}): Promise<number> => {
    const headers = { 'content-type': 'application/json' };
    const body = JSON.stringify({ ...MINIMAL_VIEW, ...change });
    return (await fetch(`${url}/view`, { method: 'POST', headers, body })).status;
  };
  const end = async (signal: NodeJS.Signals): Promise<number | null> => {
    started.child.kill(signal);
    return started.ended;
  };
  return { url, post, end, said: started.said };
}

const owners = (dir: string): string[] => {
  const data = join(dir, 'data');
  return fs
    .readdirSync(data)
    .filter((name) => !/^(deno|\.)/.test(name))
    .map((name) => `${name} ${fs.lstatSync(join(data, name)).uid}`)
    .filter((text) => !text.endsWith(` ${SERVICE.uid}`));
};

/** Whether a refused view is kept. */
const keptIn = (data: string): boolean =>
  fs
    .readdirSync(data)
    .some((name) => name.startsWith('refused-') && fs.statSync(join(data, name)).size > 0);

describe.skipIf(!isRoot)('root in the directory of a service', () => {
  let umask = 0;
  beforeAll(() => void (umask = process.umask(0o022)));
  afterAll(() => void process.umask(umask));

  describe('on each runtime', () => {
    test.each(['SIGTERM', 'SIGKILL'] as const)(
      'that activated, served and ended with %s keeps the service from nothing',
      (signal) =>
        onEach(RUNTIMES, async (runtime) => {
          const dir = serviceDirectory();
          const data = join(dir, 'data');
          expect(await run(runtime, ROOT, dir, 'activate', MINIMAL_VIEW.p)).toMatchObject({
            code: 0,
          });
          expect(owners(dir)).toEqual([]);
          const roots = await serve(runtime, ROOT, dir);
          expect(await roots.post()).toBe(201);
          expect(await roots.post({ p: '99' })).toBe(403);
          await until(() => keptIn(data));
          expect(owners(dir)).toEqual([]);
          // One that starts beside it can ask it, and is told.
          const second = await run(runtime, SERVICE, dir, 'serve', '--port=0', '--status=off');
          expect(second).toMatchObject({ code: 73, said: expect.stringContaining('process ') });
          await roots.end(signal);

          const services = await serve(runtime, SERVICE, dir);
          expect(await services.post()).toBe(201);
          expect(await services.post({ p: '99' })).toBe(403);
          expect(await run(runtime, SERVICE, dir, 'activate', '99')).toMatchObject({ code: 0 });
          const day = fs.readdirSync(data).find((name) => name.startsWith('views-'))!;
          const lines = (): number =>
            fs.readFileSync(join(data, day), 'utf8').split('\n').length - 1;
          expect(lines()).toBe(2);
          const kept = join(data, day.replace('views', 'refused'));
          const to = ['--to', services.url];
          expect(await run(runtime, ROOT, dir, 'replay', kept, ...to)).toMatchObject({ code: 0 });
          expect(await run(runtime, SERVICE, dir, 'replay', kept, ...to)).toMatchObject({
            code: 0,
          });
          expect(lines()).toBe(4);
          expect(owners(dir)).toEqual([]);
          expect(await services.end('SIGTERM')).toBe(0);
          expect(services.said()).not.toMatch(/warning: (?!--min-free)/);
        }),
      120_000,
    );

    test('that left files of its own: the message names the mend', { timeout: 120_000 }, () =>
      onEach(RUNTIMES, async (runtime) => {
        const dir = serviceDirectory();
        const data = join(dir, 'data');
        await run(runtime, ROOT, dir, 'activate', MINIMAL_VIEW.p);
        const roots = await serve(runtime, ROOT, dir);
        expect(await roots.post()).toBe(201);
        await roots.end('SIGTERM');
        const day = fs.readdirSync(data).find((name) => name.startsWith('views-'))!;
        const lock = fs.readdirSync(data).find((name) => name.startsWith('viewlog.lock'))!;
        for (const name of [day, lock]) fs.chownSync(join(data, name), 0, 0);
        const blocked = async (): Promise<string> => {
          const { code, said } = await run(
            runtime,
            SERVICE,
            dir,
            'serve',
            '--port=0',
            '--status=off',
          );
          expect(code).toBe(73);
          return said;
        };
        expect(await blocked()).toContain(`then remove it: rm '${join(data, lock)}'`);
        fs.rmSync(join(data, lock));
        expect(await blocked()).toContain(`sudo chown 4711:4712 '${join(data, day)}'`);
        fs.chownSync(join(data, day), SERVICE.uid, SERVICE.gid);
        const services = await serve(runtime, SERVICE, dir);
        expect(await services.post()).toBe(201);
      }),
    );
  });
});

test.skipIf(!isRoot)('root gives nothing away that a link leads to', async () => {
  const dir = serviceDirectory();
  const victim = join(dir, 'victim');
  fs.writeFileSync(victim, 'root only');
  for (const name of ['retention.json.new', 'projects.schema.json']) {
    fs.symlinkSync(victim, join(dir, 'data', name));
  }
  await run(NODE, ROOT, dir, 'activate', MINIMAL_VIEW.p);
  const roots = await serve(NODE, ROOT, dir);
  await roots.end('SIGTERM');
  expect(fs.readFileSync(victim, 'utf8')).toBe('root only');
  expect(fs.statSync(victim).uid).toBe(0);
});
