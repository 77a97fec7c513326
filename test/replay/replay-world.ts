// One run of a random operator who replays refused views, with the collector's or another projects
// file. The operator compresses, copies and moves the files, interrupts the replay anywhere, edits
// the projects file, and restarts the collector. The replay, the collector and the stores are real.
// A seed decides what happens, but not in which order: the system decides what runs first.
import * as fs from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { gzipSync } from 'node:zlib';
import { Fatal } from '../../src/base/exit.ts';
import type { Clock } from '../../src/base/time.ts';
import { createCollector } from '../../src/collector/routes.ts';
import type { Handler } from '../../src/http/exchange.ts';
import { loadProjects, ProjectList } from '../../src/projects/project-list.ts';
import { readReplayed } from '../../src/replay/replay-record.ts';
import { replayFiles } from '../../src/replay/replay.ts';
import { LocalViewStore } from '../../src/store/files/view-store.ts';
import { RefusedFiles } from '../../src/store/refused/refused-files.ts';
import { Random } from '../simulation/random.ts';
import { MINIMAL_VIEW } from '../support/views.ts';
import { mortalFiles, unsyncedFiles } from './mortal-files.ts';

const ORIGIN = 'https://www.example.com';
/** The projects that the file may list. The operator ends with the last list. */
const LISTS = [
  [],
  [{ id: '1' }],
  [{ id: '1' }, { id: '2', active: false }, { id: '3' }],
  [{ id: '2', origins: ['https://other.example'] }, { id: '3' }],
  [{ id: '1' }, { id: '2', origins: [ORIGIN] }, { id: '3', maxViewsPerMinute: 600 }],
];
const isAcceptable = (project: string, origin: string | undefined): boolean =>
  project === '1' || project === '3' || (project === '2' && origin === ORIGIN);

const silent = { info: () => {}, warn: () => {}, error: () => {} };
const VIEW_BYTES_MAX = 16 * 1024;
/** A collector follows an edit of its projects file within this time. */
const FOLLOWED_MS = 2_000;

/** The possible fates of a replay. */
const FATES = [
  '',
  '',
  '',
  'killed',
  'killed',
  'killed in flight',
  'cut',
  'failed',
  'busy',
  'stopped',
];
type Fate = 'killed in flight' | 'cut' | 'failed' | 'busy' | 'stopped';

interface Sent {
  readonly project: string;
  readonly origin: string | undefined;
}

export class ReplayWorld {
  readonly random: Random;
  readonly trace: string[] = [];
  readonly #dir: string;
  readonly #projectsPath: string;
  readonly #server = createServer((request, response) => void this.#serve(request, response));
  #projects = new ProjectList({ projects: [] });
  #handler!: Handler;
  #store!: LocalViewStore;
  #refused!: RefusedFiles;
  /** The time that simulated sleeps add to the real time. */
  #slept = 0;
  #sleptAtEdit = 0;
  #followsAtMs = Infinity;
  /** Every view that was ever refused, by its `pid`. */
  readonly #sent = new Map<string, Sent>();
  /** The fate of the replay at this request. */
  #fate:
    | { readonly kind: Fate; at: number; readonly run: { isDead: boolean; stop: () => void } }
    | undefined;
  #interruptions = 0;
  #listedUnknown: string[] = [];

  constructor(seed: number, dir: string) {
    this.random = new Random(seed);
    this.#dir = join(dir, 'data');
    fs.mkdirSync(join(this.#dir, 'elsewhere'), { recursive: true });
    this.#projectsPath = join(this.#dir, 'projects.json');
  }

  /** Runs to the end. Returns the violated promise, if any. */
  async run(): Promise<string | undefined> {
    this.#write(this.#projectsPath, LISTS[0]!);
    await this.#start();
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve));
    try {
      await this.#sendViews();
      const steps = 3 + this.random.below(8);
      for (let i = 0; i < steps; i++) {
        const fault = (await this.#step()) ?? this.#storedTwice();
        if (fault !== undefined) return fault;
      }
      return await this.#finish();
    } finally {
      this.#server.closeAllConnections();
      this.#server.close();
      await this.#stop();
    }
  }

  /** Returns the violated promise, if any. */
  #step(): Promise<string | undefined | void> {
    const { random } = this;
    const steps = [
      () => this.#replay(),
      () => this.#replay(),
      () => this.#replay(),
      () => this.#twins(),
      () => this.#edit(random.pick(LISTS)),
      () => this.#restart(),
      async () => this.#compress(),
      async () => this.#copy(),
      () => this.#sendViews(),
      async () => this.#settle(),
    ];
    return random.pick(steps)();
  }

  async #start(): Promise<void> {
    this.#projects = await loadProjects(this.#projectsPath);
    this.#followsAtMs = Infinity;
    const common = { dir: this.#dir, files: unsyncedFiles, log: silent, now: this.#now };
    const { random } = this;
    this.#store = new LocalViewStore({
      ...common,
      durability: 'os',
      minFreeBytes: 0,
      onFatal: (fatal) => void this.trace.push(String(fatal)),
    });
    await this.#store.start();
    this.#refused = new RefusedFiles({
      ...common,
      maxBytesPerDay: 2 ** 26,
      minFreeBytes: 0,
      freeBytes: () => undefined,
      isListed: () => random.chance(0.5),
    });
    this.#handler = createCollector({
      projects: {
        find: (id) => this.#projects.find(id),
        all: () => [],
        removed: () => undefined,
        allRemoved: () => [],
        opened: () => undefined,
        allOpened: () => [],
        operator: '',
        fault: undefined,
      },
      store: this.#store,
      refused: this.#refused,
      counts: { accepted: () => {}, refused: () => () => {}, refusedAgain: () => {} },
      viewBytesMax: VIEW_BYTES_MAX,
      now: this.#now,
      log: silent,
    });
  }

  async #stop(): Promise<void> {
    await this.#refused.close(10_000);
    await this.#store.close(10_000);
  }

  async #restart(): Promise<void> {
    this.trace.push('the collector restarts');
    await this.#stop();
    await this.#start();
  }

  readonly #now = (): number => Math.floor(Date.now() + this.#slept);

  #write(path: string, projects: unknown): void {
    fs.writeFileSync(path, JSON.stringify({ projects }));
  }

  async #edit(projects: unknown): Promise<void> {
    const isRestored = this.random.chance(0.5);
    this.trace.push(`the projects file ${isRestored ? 'is restored' : 'changes'}`);
    const path = isRestored ? `${this.#projectsPath}.backup` : this.#projectsPath;
    this.#write(path, projects);
    if (isRestored) {
      fs.utimesSync(path, 1, 1);
      fs.renameSync(path, this.#projectsPath);
    }
    this.#sleptAtEdit = this.#slept;
    this.#followsAtMs = this.#now() + FOLLOWED_MS;
  }

  /** Returns the paths of all files that have refused views. */
  #files(): string[] {
    const names = fs.readdirSync(this.#dir, { recursive: true, encoding: 'utf8' });
    const isOfViews = (name: string): boolean =>
      /refused-.*\.ndjson(\.gz)?$|\.copy$|twin/.test(name);
    return names.filter(isOfViews).map((name) => join(this.#dir, name));
  }

  #compress(): void {
    const file = this.random.pick(this.#files().filter((path) => !path.endsWith('.gz')));
    if (file === undefined) return;
    this.trace.push(`${file} is compressed`);
    const compressed = `${file.replace(/\.ndjson$/, '')}.${this.#sent.size}.ndjson.gz`;
    fs.writeFileSync(
      this.random.chance(0.5) ? `${file}.gz` : compressed,
      gzipSync(fs.readFileSync(file)),
    );
  }

  #copy(): void {
    const file = this.random.pick(this.#files());
    const name = file.endsWith('.gz') ? 'refused-2020-01-01.ndjson.gz' : `${this.#sent.size}.copy`;
    this.trace.push(`${file} is copied`);
    fs.copyFileSync(file, join(this.#dir, this.random.pick(['', 'elsewhere']), name));
  }

  /** Sends views as pages do and stores the refused views. */
  async #sendViews(): Promise<void> {
    const before = this.#refused.state().storedLines;
    let refused = 0;
    for (let i = 1 + this.random.below(5); i > 0; i--) {
      const project = this.random.pick(['1', '1', '2', '2', '3', '9']);
      const origin = this.random.pick([ORIGIN, ORIGIN, undefined]);
      const pid = `view ${this.#sent.size}`;
      const headers: Record<string, string> = { 'content-type': 'application/json' };
      if (origin !== undefined) headers['origin'] = origin;
      const body = Buffer.from(JSON.stringify({ ...MINIMAL_VIEW, p: project, pid }));
      const { status } = await this.#handler({
        method: 'POST',
        path: '/view',
        header: (name) => headers[name],
        read: async () => body,
      });
      this.#sent.set(pid, { project, origin: status === 403 ? origin : 'accepted' });
      if (status === 403) refused += 1;
    }
    this.trace.push(`${refused} more views are refused`);
    while (this.#refused.state().storedLines < before + refused) await pause();
  }

  /** Answers a replay according to its fate. */
  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await buffer(request).catch(() => Buffer.alloc(0));
    if (this.#now() >= this.#followsAtMs) {
      this.#followsAtMs = Infinity;
      this.#projects = await loadProjects(this.#projectsPath);
    }
    const { method = '', headers } = request;
    const fate = method === 'POST' && this.#fate && this.#fate.at-- === 0 ? this.#fate : undefined;
    const isLost = fate !== undefined && ['killed in flight', 'cut', 'failed'].includes(fate.kind);
    if (fate?.kind === 'killed in flight') fate.run.isDead = true;
    if (fate?.kind === 'stopped') fate.run.stop();
    if (fate?.kind === 'busy') return void response.writeHead(429, { 'retry-after': '1' }).end();
    if (isLost && this.random.chance(0.4)) return void request.socket.destroy();
    const header = (name: string): string | undefined => headers[name] as string | undefined;
    const read = async (): Promise<Buffer> => body;
    const answer = await this.#handler({ method, path: '/view', header, read });
    if (fate?.kind === 'failed') response.writeHead(503).end();
    else if (isLost) request.socket.destroy();
    else response.writeHead(answer.status, answer.headers).end(answer.body);
  }

  /** Replays some files. Returns the violated promise, if any. */
  async #replay(
    kind = this.random.pick(FATES),
    isLast = false,
    some?: readonly string[],
  ): Promise<string | undefined> {
    const { random } = this;
    const isOwn = isLast || random.chance(0.7);
    const other = join(this.#dir, 'other.json');
    this.#write(other, random.pick(LISTS));
    const all = this.#files();
    const files = some ?? (isLast ? all : [random.pick(all), random.pick(all)]);
    this.trace.push(`replay ${files.join(' ')}, ${isOwn ? 'own' : 'other'} projects file, ${kind}`);
    const stopping = new AbortController();
    const run = { isDead: false, opsLeft: Infinity, stop: () => stopping.abort() };
    if (kind === 'killed') run.opsLeft = random.below(12);
    else if (kind !== '') this.#fate = { kind: kind as Fate, at: random.below(4), run };
    const before = this.#stored().length;
    let said = '';
    const clock: Clock = {
      now: () => this.#now() - this.#sleptAtEdit,
      sleep: async (ms) => {
        this.#slept += ms;
        await pause();
      },
    };
    const end = await replayFiles(files, {
      url: `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`,
      dir: this.#dir,
      files: mortalFiles(run, random),
      projectsPath: isOwn ? this.#projectsPath : other,
      viewBytesMax: VIEW_BYTES_MAX,
      project: random.chance(0.2) && !isLast ? '1' : undefined,
      stop: stopping.signal,
      clock,
      onOutcome: (text) => void (said += `${text}\n`),
      log: silent,
    }).catch((error: unknown) => (error instanceof Error ? error : new Error(String(error))));
    this.trace.push(`  ${end instanceof Fatal ? end.exitCode : String(end)}`);
    const isCalm = kind === '' || (this.#fate !== undefined && this.#fate.at >= 0);
    this.#fate = undefined;
    if (!isCalm || run.isDead) this.#interruptions += 1;
    if (isOwn && end instanceof Fatal && end.exitCode === 65) {
      return `a replay with the collector's projects file: ${end.message}`;
    }
    if (!isLast) return undefined;
    if (end instanceof Error) return `the last replay failed: ${end.message}`;
    this.#listedUnknown = [...said.matchAll(/may be stored: (.*)/g)].flatMap(([, ids]) =>
      ids!.split(' '),
    );
    const sent = [...said.matchAll(/ (\d+) sent\n/g)].reduce((sum, [, n]) => sum + Number(n), 0);
    const stored = this.#stored().length - before;
    return sent === stored ? undefined : `it says that it sent ${sent} of ${stored} views`;
  }

  /** Runs two replays side by side, of the same views in two directories. */
  async #twins(): Promise<void> {
    const file = this.random.pick(this.#files());
    const copy = join(
      this.#dir,
      'elsewhere',
      `twin${file.endsWith('.gz') ? '.ndjson.gz' : '.copy'}`,
    );
    if (file !== copy) fs.copyFileSync(file, copy);
    await Promise.all([file, copy].map((one) => this.#replay('', false, [one])));
  }

  /** Looks for the views of unknown outcome, as an operator does, and records their outcome. */
  #settle(): void {
    const stored = new Set(this.#stored());
    const pids = this.#pidsById();
    for (const name of fs.readdirSync(this.#dir).filter((path) => path.endsWith('.replayed'))) {
      const path = join(this.#dir, name);
      const last = new Map<string, string>();
      const text = fs.readFileSync(path, 'utf8');
      for (const [, id, state] of text.matchAll(/^([0-9a-f-]{36}) ([-+?])/gm))
        last.set(id!, state!);
      const unknown = [...last.keys()].filter((id) => last.get(id) === '?');
      const became = unknown.map((id) => `${id} ${stored.has(pids.get(id)!) ? '+' : '-'}\n`);
      if (became.length === 0) continue;
      this.trace.push(`the operator settles ${became.join('').trim()}`);
      fs.appendFileSync(path, `${text.endsWith('\n') ? '' : '\n'}${became.join('')}`);
    }
  }

  async #finish(): Promise<string | undefined> {
    await this.#edit(LISTS.at(-1)!);
    await (this.random.chance(0.5) ? this.#twins() : this.#replay());
    for (let i = 0; i < 2; i++) await this.#replay();
    const fault = await this.#replay('', true);
    if (fault !== undefined) return fault;
    const counts = new Map<string, number>();
    for (const pid of this.#stored()) counts.set(pid, (counts.get(pid) ?? 0) + 1);
    const unknown = new Set(this.#listedUnknown.map((id) => this.#pidsById().get(id)));
    if (unknown.size > this.#interruptions) {
      return `${unknown.size} unknown, ${this.#interruptions} interruptions`;
    }
    for (const [pid, { project, origin }] of this.#sent) {
      const isDue = origin !== 'accepted' && isAcceptable(project, origin);
      if (isDue && !counts.has(pid) && !unknown.has(pid)) return `"${pid}" isn't stored`;
    }
    return this.#storedTwice() ?? (await this.#miscounted());
  }

  /**
   * Compares the record's count of views that were sent again, per project, with the stored views.
   */
  async #miscounted(): Promise<string | undefined> {
    const days = fs
      .readdirSync(this.#dir)
      .flatMap((name) => /^refused-(.{10})\.nd.*yed$/.exec(name)?.[1] ?? []);
    const all = (await Promise.all(days.map((day) => readReplayed(this.#dir, day)))).flat();
    const pids = this.#pidsById();
    const unknown = this.#listedUnknown.map((id) => pids.get(id)!);
    const again = this.#stored().filter((pid) => this.#sent.get(pid)?.origin !== 'accepted');
    for (const one of ['1', '2', '3']) {
      const countOf = (some: readonly string[]): number =>
        some.filter((pid) => this.#sent.get(pid)?.project === one).length;
      const counted = all.reduce(
        (sum, { state, project, refusedMs }) =>
          sum + (state === '+' && project === one ? refusedMs.length : 0),
        0,
      );
      const stored = countOf(again);
      if (counted > stored || counted < stored - countOf(unknown)) {
        return `project ${one}: ${counted} counted, ${stored} stored`;
      }
    }
    return undefined;
  }

  #storedTwice(): string | undefined {
    const stored = this.#stored();
    const twice = stored.find((pid, i) => stored.indexOf(pid) !== i);
    return twice === undefined ? undefined : `"${twice}" is stored twice`;
  }

  /** Returns the `pid` of each stored view. */
  #stored(): string[] {
    return this.#linesOf('views').map(({ pid }) => pid as string);
  }

  #pidsById(): Map<unknown, string> {
    return new Map(
      this.#linesOf('refused').map(({ id, view }) => [id, (view as { pid: string }).pid]),
    );
  }

  #linesOf(kind: string): Record<string, unknown>[] {
    const names = fs
      .readdirSync(this.#dir)
      .filter((name) => new RegExp(`^${kind}-[\\d-]+\\.ndjson$`).test(name));
    const text = names.map((name) => fs.readFileSync(join(this.#dir, name), 'utf8')).join('');
    const lines = text.split('\n').filter((line) => line.endsWith('}'));
    return lines.map((line) => JSON.parse(line) as Record<string, unknown>);
  }
}

const pause = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 1));
