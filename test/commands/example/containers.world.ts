import { execFileSync } from 'node:child_process';
import { chownSync, cpSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { exampleOf } from '../../support/examples.ts';
import { BUNDLE, EXECUTABLE, isPresent } from '../../support/runtimes.ts';
import { startWatched } from '../../support/status.ts';
import { tempDir } from '../../support/temp-dir.ts';
import { dataDirectory, type RunOptions, start, startViewlog } from '../../support/viewlog.ts';

// Parsed and asserted; test/real/container.sh builds and runs it, where a machine can.

/** What follows an instruction of a Dockerfile, of each line that has it. */
const after = (instruction: string, text: string): string[] =>
  Array.from(text.matchAll(new RegExp(`^${instruction} (.*)$`, 'gm')), ([, rest]) => rest!);

const wordsAfter = (instruction: string, text: string): string[] =>
  JSON.parse(/\[.*\]$/.exec(after(instruction, text)[0]!)![0]) as string[];

interface Compose {
  readonly services: { readonly viewlog: Record<string, unknown> };
  readonly secrets?: unknown;
}

const composeOf = async (args: readonly string[], options: RunOptions) => {
  const text = await exampleOf('compose', args, options);
  const { services, secrets } = parse(text, { strict: true }) as Compose;
  return { text, service: services.viewlog, secrets };
};

describe('the Dockerfile', () => {
  it('has the bundle on a base with Node, and the executable on one without', async () => {
    const text = await exampleOf('dockerfile');
    expect(after('FROM', text)).toStrictEqual(['node:24-slim']);
    expect(after('COPY', text)).toStrictEqual(['--chmod=755 viewlog.mjs /usr/local/bin/viewlog']);
    expect(text).toContain(`\n#   cp ${BUNDLE} viewlog.mjs\n`);
    expect(text).toContain(String.raw`printf '*\n!viewlog.mjs\n' > .dockerignore`);
    if (!isPresent(EXECUTABLE)) return;
    const other = await exampleOf('dockerfile', [], { runtime: EXECUTABLE });
    expect(after('FROM', other)).toStrictEqual(['debian:stable-slim']);
    expect(after('COPY', other)).toStrictEqual(['--chmod=755 viewlog /usr/local/bin/viewlog']);
  });

  it('starts it with these settings, on every address inside', async () => {
    const args = ['--port=9000', '--host=10.0.0.1', '--max-view=64KiB', '--projects=p.json'];
    const text = await exampleOf('dockerfile', args);
    expect(after('ENV', text)).toStrictEqual(['VIEWLOG_DATA=/data']);
    expect(wordsAfter('ENTRYPOINT', text)).toStrictEqual(['viewlog']);
    expect(wordsAfter('CMD', text)).toStrictEqual([
      'serve',
      '--host',
      '0.0.0.0',
      '--port',
      '9000',
      '--projects',
      '/data/p.json',
      '--max-view',
      '64KiB',
      '--status',
      '0.0.0.0:8081',
    ]);
    expect(after('EXPOSE', text)).toStrictEqual(['9000 8081']);
  });

  it('gives the data directory’s owner what it writes', async () => {
    const data = dataDirectory();
    chownSync(data, 1001, 1002);
    const text = await exampleOf('dockerfile', [], { data });
    expect(after('USER', text)).toStrictEqual(['1001:1002']);
    expect(after('RUN', text)).toStrictEqual(['install -d -o 1001 -g 1002 -m 750 /data']);
  });

  it('has no data directory for a stream', async () => {
    const data = dataDirectory();
    const text = await exampleOf('dockerfile', ['--store', 'nats://u:s3cret@host'], { data });
    expect(after('VOLUME', text)).toStrictEqual([]);
    expect(wordsAfter('CMD', text)).toStrictEqual([
      'serve',
      '--host',
      '0.0.0.0',
      '--projects',
      '/projects/projects.json',
      '--status',
      '0.0.0.0:8081',
    ]);
  });

  it('asks a collector whether it takes views, by its health check', async () => {
    const viewlog = await startWatched();
    const ports = [`--port=${viewlog.port}`, `--status=127.0.0.1:${viewlog.statusPort}`];
    expect(await isHealthy(ports)).toBe(true);
    viewlog.child.kill('SIGUSR2');
    await expect.poll(() => isHealthy(ports)).toBe(false);
    await viewlog.signal('SIGTERM');
    expect(await isHealthy(ports)).toBe(false);
    const silent = await startViewlog();
    expect(await isHealthy([`--port=${silent.port}`, '--status=off'])).toBe(true);
  });
});

async function isHealthy(args: readonly string[]): Promise<boolean> {
  const [program = '', ...rest] = wordsAfter('HEALTHCHECK', await exampleOf('dockerfile', args));
  try {
    execFileSync(program, rest, { stdio: 'pipe' });
    return true;
  } catch {
    return false;
  }
}

describe('the service of Compose', () => {
  it('has no rights, as the owner of the data directory, and time to stop', async () => {
    const data = dataDirectory();
    chownSync(data, 1001, 1002);
    const { service, text } = await composeOf([], { data });
    expect(service).toMatchObject({
      build: '.',
      user: '1001:1002',
      read_only: true,
      cap_drop: ['ALL'],
      security_opt: ['no-new-privileges:true'],
      stop_grace_period: '15s',
      restart: 'unless-stopped',
    });
    expect(text).toContain(`#   sudo install -d -o 1001 -g 1002 -m 750 ${data}\n`);
  });

  it('is published where these settings have it', async () => {
    const data = dataDirectory();
    const args = ['--host=::1', '--port=9000', '--status=10.0.0.1:9001'];
    const { service } = await composeOf(args, { data });
    expect(service['ports']).toStrictEqual(['[::1]:9000:9000', '10.0.0.1:9001:9001']);
    const { service: silent, secrets } = await composeOf(['--status=off'], { data });
    expect(silent['ports']).toStrictEqual(['127.0.0.1:8080:8080']);
    expect([silent['secrets'], silent['environment'], secrets]).toStrictEqual([
      undefined,
      undefined,
      undefined,
    ]);
  });

  it('mounts the directories that it needs, whatever they are called', async () => {
    const data = join(tempDir(), `o'dd: "dir" #100% $HOME \\n`);
    cpSync(dataDirectory(), data, { recursive: true });
    const args = [`--projects=/etc/it's $1/p.json`];
    const { service } = await composeOf(args, { data });
    const bind = { create_host_path: false };
    expect(service['volumes']).toStrictEqual([
      // Compose reads `$$` as one.
      { type: 'bind', source: data.replaceAll('$', '$$$$'), target: '/data', bind },
      { type: 'bind', source: `/etc/it's $$1`, target: '/projects', bind },
    ]);
    const text = await exampleOf('dockerfile', args, { data });
    expect(wordsAfter('CMD', text)).toContain('/projects/p.json');
  });

  it('has its secrets from files', async () => {
    const data = dataDirectory();
    const { service, secrets, text } = await composeOf([], { data });
    expect(service['environment']).toStrictEqual({
      VIEWLOG_STATUS_TOKEN_FILE: '/run/secrets/status-token',
    });
    expect(service['secrets']).toStrictEqual(['status-token']);
    expect(secrets).toStrictEqual({ 'status-token': { file: './status-token' } });
    expect(text).toContain('openssl rand -hex 16 > status-token');
    const own = await composeOf(['--status-token-file=/etc/t'], { data });
    expect(own.secrets).toStrictEqual({ 'status-token': { file: '/etc/t' } });
    expect(own.text).not.toContain('openssl');
  });

  it('hands the address of a stream on, and its credentials', async () => {
    const args = ['--store=nats://u:s3cret@host', '--nats-creds=/etc/c', '--status=off'];
    const { stdout } = await start(['example', 'compose', ...args], tempDir(), {}).ended;
    const { services, secrets } = parse(stdout) as Compose;
    expect(services.viewlog['environment']).toStrictEqual({ VIEWLOG_STORE: null });
    expect(secrets).toStrictEqual({ 'nats-creds': { file: '/etc/c' } });
    const image = await start(['example', 'dockerfile', ...args], tempDir(), {}).ended;
    expect(wordsAfter('CMD', image.stdout)).toContain('/run/secrets/nats-creds');
  });
});
