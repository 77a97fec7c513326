import { spawn } from 'node:child_process';
import * as fs from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { userName } from '../../src/disk/root.ts';
import { BUN, BUNDLE, DENO, isPresent, NODE, onEach, type Runtime } from '../support/runtimes.ts';
import { tempDir } from '../support/temp-dir.ts';
import { MINIMAL_VIEW } from '../support/views.ts';
import { until } from '../support/viewlog.ts';

// The user of a service, and root who runs viewlog by hand in the service's directory.

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

/** The files in the data directory that are not the service's. */
const owners = (dir: string): string[] => {
  const data = join(dir, 'data');
  return fs
    .readdirSync(data)
    .filter((name) => !/^(deno|\.)/.test(name))
    .map((name) => `${name} ${fs.lstatSync(join(data, name)).uid}`)
    .filter((text) => !text.endsWith(` ${SERVICE.uid}`));
};

/** Returns the file of refused views, once it has a line. */
const refusedFileIn = (data: string): string | undefined =>
  fs
    .readdirSync(data)
    .filter((name) => /^refused-.*ndjson$/.test(name))
    .map((name) => join(data, name))
    .find((path) => fs.statSync(path).size > 0);

describe.skipIf(!isRoot)('root in the directory of a service', () => {
  let umask = 0;
  beforeAll(() => void (umask = process.umask(0o022)));
  afterAll(() => void process.umask(umask));

  test('activates projects, but serves, archives and replays nothing', () =>
    onEach(RUNTIMES, async (runtime) => {
      const dir = serviceDirectory();
      const data = join(dir, 'data');
      const refused = async (...args: string[]): Promise<string> => {
        const { code, said } = await run(runtime, ROOT, dir, ...args);
        expect({ code, said }).toEqual({ code: 73, said: expect.any(String) });
        expect(owners(dir)).toEqual([]);
        return said;
      };
      expect(await run(runtime, ROOT, dir, 'activate', MINIMAL_VIEW.p)).toMatchObject({ code: 0 });
      expect(owners(dir)).toEqual([]);
      expect(await refused('serve', '--port=0', '--status=off')).toContain(
        `error: "${data}" belongs to user #4711, and viewlog does not run there as root; ` +
          `run it as that user: sudo -u '#4711' viewlog serve --port=0 --status=off --data ${data}\n`,
      );
      const archive = await refused('archive', '--from', 'nats://user:secret@127.0.0.1:1');
      expect(archive).toContain("sudo -u '#4711' viewlog archive --from 'nats://…@127.0.0.1:1'");
      const services = await serve(runtime, SERVICE, dir);
      expect(await services.post({ p: '99' })).toBe(403);
      const file = await until(() => refusedFileIn(data));
      const replay = ['replay', file, '--to', services.url];
      expect(await refused(...replay)).toContain(`sudo -u '#4711' viewlog ${replay.join(' ')}`);
      expect(await run(runtime, ROOT, dir, 'activate', '99')).toMatchObject({ code: 0 });
      expect(await run(runtime, SERVICE, dir, ...replay)).toMatchObject({ code: 0 });
      expect(await services.end('SIGTERM')).toBe(0);
      expect(services.said()).not.toMatch(/warning: (?!--min-free)/);
      expect(owners(dir)).toEqual([]);
    }));

  test('learns the name of the user to run viewlog as, if it has one', () => {
    expect([userName(0), userName(4711)]).toEqual(['root', '#4711']);
  });

  test('gives nothing away that a link leads to', async () => {
    const dir = serviceDirectory();
    const victim = join(dir, 'victim');
    fs.writeFileSync(victim, 'root only');
    fs.symlinkSync(victim, join(dir, 'data', 'projects.schema.json'));
    await run(NODE, ROOT, dir, 'activate', MINIMAL_VIEW.p);
    expect(fs.readFileSync(victim, 'utf8')).toBe('root only');
    expect(fs.statSync(victim).uid).toBe(0);
  });
});
