import { execFileSync } from 'node:child_process';
import { chownSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { exampleOf } from '../../support/examples.ts';
import { BUNDLE, EXECUTABLE, isPresent } from '../../support/runtimes.ts';
import { startWatched } from '../../support/status.ts';
import { dataDirectory, type RunOptions, startViewlog } from '../../support/viewlog.ts';

// These tests parse and check the files; none builds the image.

/** Returns the arguments of an instruction in a Dockerfile, one for each line. */
const after = (instruction: string, text: string): string[] =>
  Array.from(text.matchAll(new RegExp(`^${instruction} (.*)$`, 'gm')), ([, rest]) => rest!);

type Services = { services: { viewlog: Record<string, unknown> } };

async function serviceOf(args: readonly string[], options: RunOptions = {}) {
  const text = await exampleOf('compose', args, options);
  return { text, service: (parse(text, { strict: true }) as Services).services.viewlog };
}

/** Creates a data directory that belongs to another user. */
function ownedDirectory(): string {
  const data = dataDirectory();
  chownSync(data, 1001, 1002);
  return data;
}

describe('the Dockerfile', () => {
  it('copies the bundle to an image with Node and the executable to an image without Node', async () => {
    const text = await exampleOf('dockerfile');
    expect(after('FROM', text)).toStrictEqual(['node:26-slim']);
    expect(after('COPY', text)).toStrictEqual(['--chmod=755 viewlog.mjs /usr/local/bin/viewlog']);
    expect(text).toContain(`\n#   cp ${BUNDLE} viewlog.mjs\n`);
    if (!isPresent(EXECUTABLE)) return;
    const other = await exampleOf('dockerfile', [], { runtime: EXECUTABLE });
    expect(after('FROM', other)).toStrictEqual(['debian:stable-slim']);
  });

  it('sets the chosen options for every command and listens on every address inside the container', async () => {
    const data = ownedDirectory();
    const args = ['--port=9000', '--host=10.0.0.1', '--max-view=64KiB', '--projects=p.json'];
    const text = await exampleOf('dockerfile', args, { data });
    expect(after('ENV', text)).toStrictEqual([
      'VIEWLOG_HOST=0.0.0.0',
      'VIEWLOG_PORT=9000',
      'VIEWLOG_DATA=/data',
      'VIEWLOG_PROJECTS=/data/p.json',
      'VIEWLOG_MAX_VIEW=64KiB',
      'VIEWLOG_STATUS=0.0.0.0:8081',
      'VIEWLOG_STATUS_TOKEN_FILE=/data/status-token',
    ]);
    expect(after('EXPOSE', text)).toStrictEqual(['9000', '8081']);
    expect(after('USER', text)).toStrictEqual(['1001:1002']);
    expect(after('RUN', text)).toStrictEqual(['install -d -o 1001 -g 1002 -m 750 /data']);
  });

  it('checks whether the collector accepts views', async () => {
    const viewlog = await startWatched();
    const ports = [`--port=${viewlog.port}`, `--status=127.0.0.1:${viewlog.statusPort}`];
    expect(await isHealthy(ports)).toBe(true);
    viewlog.child.kill('SIGUSR2');
    await expect.poll(() => isHealthy(ports)).toBe(false);
    const silent = await startViewlog();
    expect(await isHealthy([`--port=${silent.port}`, '--status=off'])).toBe(true);
  });
});

async function isHealthy(args: readonly string[]): Promise<boolean> {
  const [check = ''] = after('HEALTHCHECK', await exampleOf('dockerfile', args));
  const [program = '', ...rest] = JSON.parse(/\[.*\]$/.exec(check)![0]) as string[];
  try {
    execFileSync(program, rest, { stdio: 'pipe' });
    return true;
  } catch {
    return false;
  }
}

describe('the Compose service', () => {
  it('has no privileges, runs as the owner of the data directory and sees only that directory', async () => {
    const data = ownedDirectory();
    const { service, text } = await serviceOf([], { data });
    expect(service).toMatchObject({
      user: '1001:1002',
      ports: ['127.0.0.1:8080:8080', '127.0.0.1:8081:8081'],
      read_only: true,
      cap_drop: ['ALL'],
      security_opt: ['no-new-privileges:true'],
      volumes: [{ type: 'bind', source: data, target: '/data', bind: { create_host_path: false } }],
    });
    expect(service).not.toHaveProperty('environment');
    expect(text).toContain(`#   sudo install -d -o 1001 -g 1002 -m 750 ${data}\n`);
    expect(text).toContain(`-o 1001 -g 1002 /dev/stdin ${data}/status-token\n`);
  });

  it('gets the address of a stream from the environment and needs no token without a status server', async () => {
    const { service, text } = await serviceOf(['--status=off', '--store', 'nats://u:s3cret@host']);
    expect(service['environment']).toStrictEqual({
      VIEWLOG_STORE: '${VIEWLOG_STORE:?set it in .env}',
    });
    expect(text).not.toContain('token');
  });
});
