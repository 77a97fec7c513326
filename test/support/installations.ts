/* oxlint-disable vitest/no-standalone-expect */
// Installations of many kinds, on this machine: real accounts, files and processes. The tests paste
// viewlog's commands into a shell, as an operator does.
import { execFileSync, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import * as fs from 'node:fs';
import { createServer } from 'node:net';
import { dirname, join } from 'node:path';
import { expect, onTestFinished } from 'vitest';
import type { Random } from '../simulation/random.ts';
import { makeStream } from './archive.ts';
import { freePorts, startNats } from './nats-server.ts';
import { BUN, BUNDLE, DENO, EXECUTABLE, isPresent, NODE } from './runtimes.ts';
import { tempDir } from './temp-dir.ts';
import { postView, until } from './viewlog.ts';

const one = <const T>(...choices: T[]): readonly T[] => choices;
const CHOICES = {
  /** `archive` only for a fault that can happen to archives. */
  role: one<'collector' | 'archive'>('collector'),
  account: one('root', 'service', 'service', 'person'),
  start: one('Node', 'Node', 'Deno', 'Bun', 'executable', 'npm start', 'unit file'),
  hasSudo: one(true, false),
  /** True: another program named `viewlog` is on the PATH, which no command may run. */
  isOnPath: one(true, false),
  /** `root's`: hardened, in root's directory; viewlog reads it through its group. */
  projects: one('inside', 'inside', 'elsewhere', "root's"),
  address: one('flags', 'variables', 'passed socket'),
  status: one('on', 'on', 'token', 'off'),
  store: one('disk', 'disk', 'disk', 'stream'),
  /** The directory for pasted commands; `closed`: one that only root may enter. */
  cwd: one('/', 'closed'),
};

type Fields = { [K in keyof typeof CHOICES]: (typeof CHOICES)[K][number] };

/** The parts of an installation. */
export type Plan = Readonly<Fields>;

/** The choices to which a fault is limited. */
export type Only = { readonly [K in keyof Plan]?: readonly Plan[K][] };

/** Returns a plan that depends only on the seed, not on this machine. */
export function planOf(random: Random, only: Only = {}): Plan {
  const names = Object.keys(CHOICES) as (keyof Plan)[];
  const plan = Object.fromEntries(
    names.map((name) => [name, random.pick<unknown>(only[name] ?? CHOICES[name])]),
  ) as unknown as Fields;
  if (plan.role === 'archive') Object.assign(plan, { store: 'disk', projects: 'inside' });
  if (plan.store === 'stream' && plan.projects === 'inside') plan.projects = 'elsewhere';
  const canTakeSocket = ['Node', 'executable'].includes(plan.start) && plan.role === 'collector';
  if (plan.address === 'passed socket' && !canTakeSocket) plan.address = 'flags';
  return plan;
}

interface Account {
  readonly name: string;
  readonly uid: number;
  readonly gid: number;
}

export const ROOT: Account = { name: 'root', uid: 0, gid: 0 };
const accounts: Record<Plan['account'], Account> = { root: ROOT, service: ROOT, person: ROOT };
export const accountOf = (kind: Plan['account']): Account => accounts[kind];

const run = (program: string, ...args: string[]): string =>
  execFileSync(program, args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });
const idOf = (name: string, what: '-u' | '-g'): number => Number(run('id', what, name));
const TEAM = `vl-team-${process.pid}`;
const SUDOERS_DIR = '/etc/sudoers.d';
const SUDOERS = `${SUDOERS_DIR}/vl-test-${process.pid}`;

const isAlive = (pid: string): boolean => fs.existsSync(`/proc/${pid}`);

/** Removes what killed runs have left. Other runs may be under way. */
function removeLeftovers(): void {
  const left = (list: string, pattern: RegExp): string[] =>
    Array.from(list.matchAll(pattern), ([, name, pid]) => (isAlive(pid!) ? '' : name!)).filter(
      Boolean,
    );
  const files = left(fs.readdirSync(SUDOERS_DIR).join('\n'), /^(vl-test-(\d+))$/gm);
  for (const name of files) fs.rmSync(join(SUDOERS_DIR, name));
  const users = left(fs.readFileSync('/etc/passwd', 'utf8'), /^(vl-(?:service|person)-(\d+)):/gm);
  for (const name of users) run('userdel', '--force', name);
  const groups = left(fs.readFileSync('/etc/group', 'utf8'), /^(vl-(?:service|team)-(\d+)):/gm);
  for (const name of groups) run('groupdel', name);
}

/** Creates an account for a service, and one for a person, who has a group and may use sudo. */
export function createAccounts(): void {
  removeLeftovers();
  const [service, person] = [`vl-service-${process.pid}`, `vl-person-${process.pid}`];
  run('useradd', '--system', '--shell', '/usr/sbin/nologin', service);
  run('groupadd', TEAM);
  run('useradd', '--no-create-home', '--gid', TEAM, person);
  for (const [kind, name] of [['service', service] as const, ['person', person] as const]) {
    accounts[kind] = { name, uid: idOf(name, '-u'), gid: idOf(name, '-g') };
  }
  fs.writeFileSync(SUDOERS, `${person} ALL=(ALL) NOPASSWD: ALL\n`, { mode: 0o440 });
}

export function removeAccounts(): void {
  fs.rmSync(SUDOERS, { force: true });
  for (const { name, uid } of Object.values(accounts)) {
    if (uid > 0) run('userdel', '--force', name);
  }
  run('sh', '-c', `! getent group ${TEAM} || groupdel ${TEAM}`);
}

/** Hides sudo from everything that runs inside. */
const WITHOUT_SUDO = [
  'unshare',
  '-m',
  'sh',
  '-c',
  'mount --bind /dev/null "$(command -v sudo)" && exec "$0" "$@"',
];
const PASS = ['sh', '-c', 'LISTEN_FDS=1 LISTEN_PID=$$ exec "$0" "$@"'];

/** Returns whether this machine can create accounts and hide sudo; in CI, throws if it can't. */
export function canInstall(): boolean {
  const can = process.platform === 'linux' && process.getuid?.() === 0;
  if (!can && process.env['CI']) throw new Error('CI must test accounts: run as root on Linux');
  if (!can) console.warn('SKIPPED: installations; they need root, to create accounts');
  return can;
}

/** The output of a process, and its exit code once it has ended. */
export interface Ran {
  readonly text: string;
  readonly code: number | undefined;
  readonly signal: (name: NodeJS.Signals) => void;
  readonly stop: () => Promise<void>;
}

/** The account that pastes a command; for a command that doesn't end, the output to wait for. */
export interface How {
  readonly as?: Account;
  readonly words?: RegExp;
}

interface Finding {
  readonly check: string;
  readonly state: string;
  readonly what: string;
  readonly fix?: string;
}

/**
 * Returns the text. Each command in it must name viewlog by its path, because no PATH may have it.
 */
function worded(text: string): string {
  expect(text).not.toMatch(/(?<![\w/.-])viewlog (activate|check|deactivate|replay|snippet|verify)/);
  return text;
}

/** An installation on this machine, made by a plan. */
export class Place {
  readonly plan: Plan;
  readonly account: Account;
  readonly dir = tempDir();
  readonly data: string;
  readonly projects: string;
  readonly host = '127.0.0.1';
  port = 0;
  statusPort = 0;
  store = '';
  /** More options: as variables if the addresses are variables, otherwise as flags. */
  readonly options: Record<string, string> = {};
  readonly #env: NodeJS.ProcessEnv;

  private constructor(plan: Plan) {
    this.plan = plan;
    this.account = accounts[plan.account];
    // A unit file has no quotes.
    this.data = join(this.dir, 'srv', plan.start === 'unit file' ? 'data' : "it's data");
    this.projects = join(
      plan.projects === 'inside' ? this.data : `${this.dir}/etc`,
      'projects.json',
    );
    const path = [join(this.dir, 'bin'), dirname(process.execPath), process.env['PATH']].join(':');
    this.#env = { PATH: path, HOME: join(this.dir, 'home') };
  }

  static async create(plan: Plan): Promise<Place> {
    const place = new Place(plan);
    const { dir, data, account, projects } = place;
    fs.chmodSync(dir, 0o755);
    fs.mkdirSync(`${dir}/closed`, { mode: 0o700 });
    for (const open of ['bin', 'srv']) fs.mkdirSync(join(dir, open));
    if (plan.isOnPath) {
      fs.writeFileSync(`${dir}/bin/viewlog`, '#!/bin/sh\necho WRONG viewlog\nexit 99\n');
      fs.chmodSync(`${dir}/bin/viewlog`, 0o755);
    }
    for (const made of new Set([data, dirname(projects), `${dir}/home`])) {
      fs.mkdirSync(made, { mode: 0o750 });
      place.give(made);
    }
    if (plan.role === 'collector') {
      const listed = [{ id: '1', name: 'Aurora', origins: ['https://a.example'] }];
      place.write(projects, JSON.stringify({ projects: listed }, null, 2));
    }
    if (plan.projects === "root's") {
      fs.chownSync(projects, 0, account.gid);
      fs.chownSync(dirname(projects), 0, account.gid);
    }
    place.write(`${dir}/token`, 'a-token-of-16-or-more\n', 0o600);
    fs.copyFileSync(BUNDLE, `${dir}/viewlog.mjs`);
    fs.writeFileSync(`${dir}/package.json`, '{"scripts":{"start":"node viewlog.mjs"}}');
    [place.port = 0, place.statusPort = 0] = await freePorts(2);
    if (plan.store === 'stream' || plan.role === 'archive') {
      const nats = await startNats();
      if (plan.role === 'archive') await makeStream(nats);
      place.store = nats.url;
    }
    return place;
  }

  give(path: string): void {
    fs.chownSync(path, this.account.uid, this.account.gid);
  }

  /** Writes a file that belongs to the account. */
  write(path: string, text: string, mode = 0o640): void {
    fs.writeFileSync(path, text);
    fs.chmodSync(path, mode);
    this.give(path);
  }

  get address(): string {
    return `http://${this.host}:${this.port}`;
  }

  /** Returns the options that name the files. */
  get files(): string[] {
    const { plan, data, projects, store } = this;
    if (plan.role === 'archive') return ['--data', data];
    const elsewhere = plan.projects === 'inside' ? [] : ['--projects', projects];
    return plan.store === 'stream'
      ? ['--store', store, ...elsewhere]
      : ['--data', data, ...elsewhere];
  }

  get #settings(): Record<string, string> {
    const { plan, port, statusPort, host, dir, store } = this;
    const isPassed = plan.address === 'passed socket';
    return {
      ...(plan.role === 'archive' ? { 'archive-from': store } : { 'keep-refused-days': '1' }),
      ...(plan.role === 'collector' && !isPassed && { host, port: String(port) }),
      status: plan.status === 'off' ? 'off' : `${host}:${statusPort}`,
      ...(plan.status === 'token' && { 'status-token-file': `${dir}/token` }),
      ...this.options,
    };
  }

  /** Returns the service's options other than files, as flags, even if it has variables. */
  get flags(): string[] {
    return Object.entries(this.#settings).flatMap(([name, value]) => [
      `--${name.replace('archive-', '')}`,
      value,
    ]);
  }

  get hasVariables(): boolean {
    return this.plan.address === 'variables';
  }

  /** The environment of the service. */
  get env(): NodeJS.ProcessEnv {
    if (!this.hasVariables) return this.#env;
    const variables = Object.entries(this.#settings).map(
      ([name, value]) => [`VIEWLOG_${name.toUpperCase().replaceAll('-', '_')}`, value] as const,
    );
    return { ...this.#env, ...Object.fromEntries(variables) };
  }

  /** The words that start viewlog. */
  get program(): string[] {
    const { dir, data, projects, plan } = this;
    const bundle = `${dir}/viewlog.mjs`;
    const runtime = { Deno: DENO, Bun: BUN, executable: EXECUTABLE }[plan.start as string];
    if (plan.start === 'npm start') return ['npm', 'start', '--silent', '--prefix', dir, '--'];
    if (runtime === undefined || !isPresent(runtime)) return [NODE.program, bundle];
    if (runtime === EXECUTABLE) return [EXECUTABLE.program];
    if (runtime === BUN) return [fs.realpathSync(BUN.program), bundle];
    const paths = [data, dirname(projects), `${dir}/token`].join();
    // Without permission to look, Deno must assume that sudo is installed.
    const read = plan.hasSudo ? `--allow-read=${paths}` : '--allow-read';
    const may = ['--no-prompt', '--allow-net', '--allow-env', '--allow-sys=statfs', read];
    return [fs.realpathSync(DENO.program), 'run', ...may, `--allow-write=${paths}`, bundle];
  }

  #around(words: readonly string[], { uid, gid }: Account): string[] {
    const as = uid === 0 ? [] : ['setpriv', `--reuid=${uid}`, `--regid=${gid}`, '--init-groups'];
    return [...(this.plan.hasSudo ? [] : WITHOUT_SUDO), ...as, ...words];
  }

  /** Runs a command of viewlog to its end; by default as its account. */
  viewlog(args: readonly string[], as = this.account, env = this.#env): Promise<Ran> {
    return this.#spawn(this.#around([...this.program, ...args], as), this.dir, env);
  }

  /** Starts the service, until it listens or has ended. */
  async start(...variables: readonly string[]): Promise<Ran> {
    const { plan, port, host } = this;
    // Only the process of the account gets the variables.
    const words = ['env', ...variables, ...(await this.serviceWords())];
    const ready = plan.status === 'off' ? /listening on|archiving stream "/ : /Status page on/;
    const isPassed = plan.address === 'passed socket';
    const socket = createServer();
    if (isPassed) await once(socket.listen(port, host), 'listening');
    // oxlint-disable-next-line no-underscore-dangle -- Node has no public way to the descriptor
    const { _handle: handle } = socket as unknown as { _handle: { fd: number } };
    const all = this.#around(isPassed ? [...PASS, ...words] : words, this.account);
    const fd = isPassed ? handle.fd : 'ignore';
    const ran = await this.#spawn(all, this.dir, this.env, ready, fd);
    if (isPassed) socket.close();
    return ran;
  }

  /** Returns the command line of the service. */
  async serviceWords(): Promise<string[]> {
    const { plan, program, files } = this;
    const flags = this.hasVariables ? [] : this.flags;
    const isPlain = plan.role === 'archive' || plan.store === 'stream';
    if (plan.start !== 'unit file' || isPlain) {
      return [...program, plan.role === 'archive' ? 'archive' : 'serve', ...files, ...flags];
    }
    const { text } = await this.viewlog(['example', 'systemd', ...files, ...flags]);
    const [, line] = /^ExecStart=(.*)$/m.exec(text) ?? [];
    expect(line, text).toBeDefined();
    return line!.split(' ');
  }

  /** Starts the service and expects it to listen on its address. */
  async starts(): Promise<Ran> {
    const ran = await this.start();
    const where =
      this.plan.role === 'archive' ? `to "${this.data}"` : `listening on ${this.address}`;
    expect(ran.text).toContain(where);
    return ran;
  }

  /** Expects the service to exit immediately with this code. Returns the lines of its errors. */
  async failsToStart(code: number): Promise<string> {
    const ran = await this.start();
    expect(ran.code, ran.text).toBe(code);
    return worded(ran.text.match(/error: .*/g)!.join('\n'));
  }

  /** The operator: root, the person who owns the installation, or a person who may use sudo. */
  get operator(): Account {
    const { account, hasSudo, cwd } = this.plan;
    const isPerson = account === 'person' || (account === 'service' && hasSudo && cwd === '/');
    return isPerson ? accounts.person : ROOT;
  }

  /** Pastes a command into the operator's shell. */
  paste(command: string, { words, as = this.operator }: How = {}): Promise<Ran> {
    const where = this.plan.cwd === '/' || as !== ROOT ? '/' : `${this.dir}/closed`;
    return this.#spawn(this.#around(['bash', '-c', command], as), where, this.#env, words);
  }

  /** Returns the findings of a doctor that root, or the owner of the installation, runs. */
  async doctor(...args: string[]): Promise<{ code: number; findings: Finding[]; text: string }> {
    const as = this.plan.account === 'person' ? this.account : ROOT;
    const { code, text } = await this.viewlog(['doctor', '--json', ...this.files, ...args], as);
    const { findings } = JSON.parse(text.slice(text.indexOf('{'))) as { findings: Finding[] };
    return { code: code!, findings, text: worded(text) };
  }

  /** Returns the doctor's findings from one check as text. Each command is on its own line. */
  async finding(check: string, ...args: string[]): Promise<string> {
    const { findings } = await this.doctor(...args);
    const all = findings.filter((one) => one.check === check);
    return all.map(({ state, what, fix = '' }) => `${state}: ${what}\n${fix}`.trimEnd()).join('\n');
  }

  get hasPage(): boolean {
    return this.plan.status !== 'off';
  }

  /** Returns the status page as text. */
  async page(): Promise<string> {
    // A page that needs no token ignores this header.
    const headers = { authorization: 'Bearer a-token-of-16-or-more' };
    const url = `http://${this.host}:${this.statusPort}/status.txt`;
    return worded(await (await fetch(url, { headers })).text());
  }

  /** Returns the page once it contains this text. */
  async pageThatSays(words: RegExp): Promise<string> {
    await expect.poll(() => this.page(), { timeout: 60_000, interval: 200 }).toMatch(words);
    return this.page();
  }

  /** Sends a view; returns the answer's status. */
  async send(fields: object = {}, origin = 'https://a.example'): Promise<number> {
    const view = { p: '1', pid: 'home', url: '/', ld: new Date().toISOString(), ...fields };
    return (await postView(this.address, view, { origin })).status;
  }

  /** Returns owner, group, mode and content of every file except those that viewlog writes. */
  state(): Record<string, string> {
    const own = /(views-|refused-|status\.json|last-(start|projects)\.json|\.lock)|home\//;
    const found = fs.readdirSync(this.dir, { recursive: true, encoding: 'utf8' });
    const entries = found.flatMap((name) => {
      const stats = fs.lstatSync(join(this.dir, name), { throwIfNoEntry: false });
      if (stats === undefined || /\.(draft|new)|doctor-/.test(name)) return [];
      const { uid, gid, mode } = stats;
      const text = stats.isFile() && !own.test(name) ? fs.readFileSync(join(this.dir, name)) : '';
      const sum = createHash('sha256').update(text).digest('hex').slice(0, 9);
      return [[name, `${uid}:${gid} ${(mode & 0o7777).toString(8)} ${sum}`] as const];
    });
    return Object.fromEntries(entries);
  }

  /** Runs to the end, or until `words` are printed. */
  async #spawn(
    [program, ...args]: readonly string[],
    cwd: string,
    env: NodeJS.ProcessEnv,
    words?: RegExp,
    fd: number | 'ignore' = 'ignore',
  ): Promise<Ran> {
    const stdio = ['ignore', 'pipe', 'pipe', fd] as const;
    const child = spawn(program!, args, { cwd, env, stdio: [...stdio], detached: true });
    const ran = { text: '', code: undefined as number | undefined };
    for (const stream of [child.stdout!, child.stderr!]) {
      stream.setEncoding('utf8').on('data', (part: string) => (ran.text += part));
    }
    const ended = once(child, 'close').then(([code, signal]) => (ran.code = code ?? signal));
    const signal = (name: NodeJS.Signals): void => {
      try {
        process.kill(-child.pid!, name);
      } catch {
        // The process has ended.
      }
    };
    const stop = async (name: NodeJS.Signals = 'SIGTERM'): Promise<void> => {
      signal(name);
      await ended;
    };
    onTestFinished(() => stop('SIGKILL'));
    await until(() => ran.code !== undefined || words?.test(ran.text));
    return Object.assign(ran, { signal, stop: () => stop() });
  }
}
