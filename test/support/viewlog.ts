import { spawn, type SpawnOptionsWithoutStdio } from 'node:child_process';
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { constants } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { sleep } from '../../src/base/time.ts';
import { NODE, type Runtime } from './runtimes.ts';
import { tempDir } from './temp-dir.ts';

export const PROJECTS = {
  operator: 'views@example.com',
  projects: [
    { id: '1000001', name: 'Open' },
    { id: '1000002', active: false },
    { id: '1000003', origins: ['https://www.example.com', 'https://*.example.org'] },
    { id: '1000004', maxViewsPerMinute: 2 },
  ],
};

export interface Ended {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
}

export type Started = ReturnType<typeof startProgram>;

export interface RunOptions {
  readonly runtime?: Runtime;
  /** The data directory; by default a new one, with `PROJECTS` in it. */
  readonly data?: string;
  readonly env?: NodeJS.ProcessEnv;
  readonly input?: string;
  /** The account to run as; by default the owner of the data directory. */
  readonly user?: { readonly uid: number; readonly gid: number };
}

export interface StartOptions extends RunOptions {
  readonly args?: readonly string[];
}

export function dataDirectory(projects: unknown = PROJECTS, data = tempDir()): string {
  const text = JSON.stringify(projects, null, 2);
  writeFileSync(join(data, 'projects.json'), text, { flush: true });
  return data;
}

/** Starts a program, collects its output, and kills it when the test ends. */
export function startProgram(
  [program, ...args]: readonly [string, ...string[]],
  options: SpawnOptionsWithoutStdio & { readonly input?: string | undefined } = {},
) {
  const child = spawn(program, args, options);
  let stdout = '';
  let stderr = '';
  child.stdin.on('error', () => {}).end(options.input ?? '');
  child.stdout.setEncoding('utf8').on('data', (text: string) => (stdout += text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text));
  let hasEnded = false;
  const ended = new Promise<Ended>((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code, signal) => {
      hasEnded = true;
      resolve({ code, signal, stdout, stderr });
    });
  });
  const signal = (name: NodeJS.Signals): Promise<Ended> => {
    child.kill(name);
    return ended;
  };
  /** Sends a signal and waits until the process has received it or has ended. */
  const deliver = async (name: NodeJS.Signals): Promise<void> => {
    child.kill(name);
    await until(() => hasEnded || !isPending(child.pid!, name));
  };
  onTestFinished(async () => void (await signal('SIGKILL')));
  /** Waits until the program has written this; throws if the program ends first. */
  const says = (words: RegExp): Promise<RegExpExecArray> =>
    until(() => {
      const said = words.exec(stdout) ?? words.exec(stderr);
      if (said === null && hasEnded) {
        throw new Error(`${program} ended with ${child.exitCode}:\n${stdout}${stderr}`);
      }
      return said;
    });
  return { child, ended, signal, deliver, says, stdout: () => stdout, stderr: () => stderr };
}

/** Returns whether a process has yet to receive a signal that was sent to it. */
function isPending(pid: number, name: NodeJS.Signals): boolean {
  const [, mask = '0'] =
    /^ShdPnd:\s+(\w+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
  return ((BigInt(`0x${mask}`) >> BigInt(constants.signals[name] - 1)) & 1n) === 1n;
}

/** Starts the built bundle. */
export function start(args: readonly string[], data: string, options: RunOptions = {}) {
  const [program, ...before] = (options.runtime ?? NODE).command(data);
  const started = startProgram([program, ...before, ...args], {
    cwd: data,
    env: { PATH: process.env['PATH'], NO_COLOR: '1', ...options.env },
    input: options.input,
    ...(options.user ?? ownerOf(data)),
  });
  return {
    ...started,
    data,
    /** Returns the lines of all view files, in the order of their days. */
    lines: () => linesOf(data, 'views'),
    refusedLines: () => linesOf(data, 'refused'),
  };
}

/** Returns the directory's owner, the account for viewlog, which refuses to run there as root. */
function ownerOf(data: string): { uid: number; gid: number } | undefined {
  const { uid, gid } = statSync(data);
  return process.getuid?.() === 0 && uid !== 0 ? { uid, gid } : undefined;
}

/** Runs a command of the built bundle to its end. */
export function run(args: readonly string[], options: RunOptions = {}): Promise<Ended> {
  const data = options.data ?? dataDirectory();
  return start([...args, ...dataOptionsOf(args, data, options)], data, options).ended;
}

/** Returns the options that name a command's files. */
function dataOptionsOf(args: readonly string[], data: string, { env }: RunOptions): string[] {
  // `verify` reads only the files in its arguments, and `help` reads none.
  if (args[0] === 'verify' || args[0] === 'help') return [];
  // With a stream, the projects file is the only one.
  const isStream = args.includes('--store') || env?.['VIEWLOG_STORE'] !== undefined;
  return isStream ? ['--projects', join(data, 'projects.json')] : ['--data', data];
}

/** A running collector on a free port. */
export type Viewlog = Awaited<ReturnType<typeof startViewlog>>;

/** Starts the built bundle and waits until it listens. */
export async function startViewlog(options: StartOptions = {}) {
  const data = options.data ?? dataDirectory();
  // The status page is off by default, because only one process can use its default port.
  const first = ['serve', '--port=0', '--status=off', ...(options.args ?? [])];
  const args = [...first, ...dataOptionsOf(first, data, options)];
  const started = start(args, data, options);
  const [, url = ''] = await started.says(/viewlog listening on ([^\s"]+)["\s]/);
  return {
    ...started,
    url,
    port: Number(new URL(url).port),
    post: (view: unknown, headers?: Record<string, string>) => postView(url, view, headers),
  };
}

/** Sends a view, or a text, to the collector at this address. */
export const postView = (url: string, view: unknown, headers: object = {}): Promise<Response> =>
  fetch(`${url}/view`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: typeof view === 'string' ? view : JSON.stringify(view),
  });

/** Returns the whole lines of the files `<kind>-<day>.ndjson`. */
export function linesOf(data: string, kind: 'views' | 'refused'): string[] {
  return readdirSync(data)
    .filter((name) => name.startsWith(`${kind}-`) && name.endsWith('.ndjson'))
    .toSorted()
    .flatMap((name) => readFileSync(join(data, name), 'utf8').split('\n').slice(0, -1));
}

/** Waits until `find` returns something. The test's own timeout is the limit. */
export async function until<T>(find: () => T | Promise<T>): Promise<NonNullable<T>> {
  for (;;) {
    const seen = await find();
    if (seen) return seen;
    await sleep(25);
  }
}
