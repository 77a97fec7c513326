import { writeFileSync } from 'node:fs';
import { basename } from 'node:path';
import type { StreamInfo } from '@nats-io/jetstream';
import { expect, it } from 'vitest';
import { NO_ORIGIN } from '../../src/collector/admit.ts';
import { nothingAt } from '../../src/collector/routes.ts';
import { type ExitCode, Fatal } from '../../src/base/exit.ts';
import { BUILD } from '../../src/base/built.ts';
import type { Reply } from '../../src/base/fetch-once.ts';
import { examine } from '../../src/doctor/checks.ts';
import type { ClusterFacts } from '../../src/doctor/cluster-checks.ts';
import type { Facts } from '../../src/doctor/facts.ts';
import { accountIn, type Inside, probeDisk } from '../../src/doctor/probe-disk.ts';
import type { ProxyReplies } from '../../src/doctor/proxy.ts';
import { parseProjectsFile } from '../../src/projects/parse.ts';
import type { ProjectEntry } from '../../src/projects/projects-schema.ts';
import { STATUS_REFUSALS } from '../../src/status/guard.ts';
import type { StatusModel } from '../../src/status/model.ts';
import type { Refusal } from '../../src/view/refusal.ts';
import { INSTALLATION } from '../support/installation.ts';
import { NOON, DEFAULTS, Scene } from '../support/status-scene.ts';
import { tempDir } from '../support/temp-dir.ts';

// Tests the doctor's findings about given facts. Most tests don't examine this machine.

const MiB = 1024 * 1024;
const SERVICE = { uid: 4711, gid: 4712 };
const PROJECTS: ProjectEntry[] = [{ id: '1', name: 'Aurora', origins: ['https://a.example'] }];

const answer = (status: number, headers: Record<string, string> = {}, body = ''): Reply => ({
  status,
  headers: new Headers(headers),
  body,
});
const NOBODY: Reply = {
  failure: 'connect ECONNREFUSED 127.0.0.1:8080',
  code: 'ECONNREFUSED',
};
const CORS = { 'access-control-allow-origin': 'https://a.example' };
const GRANTED = {
  ...CORS,
  'access-control-max-age': '86400',
  'access-control-expose-headers': 'Retry-After',
};
const VIEWLOG = answer(204, GRANTED);
const problem = (code: string, detail = '', headers = CORS): Reply =>
  answer(400, headers, JSON.stringify({ type: `urn:viewlog:problem:${code}`, code, detail }));

const FILE = { ...SERVICE, mode: 0o100640 };
const at = (path: string) => ({ path, name: basename(path) });
const VIEWS_FILE = { ...FILE, ...at('/data/views-2026-11-21.ndjson') };
const ROOTS = { ...VIEWS_FILE, uid: 0, gid: 0 };
const LOCK = { ...FILE, ...at('/data/viewlog.lock') };
const SIZES = { freeBytes: 8192 * MiB, sizeBytes: 10_000 * MiB };
const DISK = { type: 0x58465342, ...SIZES, hasInodes: true };
const INSIDE: Inside = {
  directory: { ...SERVICE, mode: 0o40750 },
  files: [VIEWS_FILE],
  fileSystem: DISK,
  closedDirectory: undefined,
  viewDays: ['2026-11-21'],
  refusedDays: [],
  closedFiles: [],
  overdue: [],
  bytesPerDay: MiB,
  writing: [2, 2, 2],
  account: { ...SERVICE, name: '#4711' },
  copiesGid: undefined,
  closed: undefined,
  read: [],
  isBlocked: false,
};

const HOLDER = INSTALLATION;
const STATUS = { address: 'http://127.0.0.1:8081', reply: NOBODY };

/** A status server that shows the scene. */
const shown = (scene: Scene, warnings: readonly string[] = []): Partial<Facts> => ({
  status: {
    ...STATUS,
    reply: answer(200),
    isReady: scene.model().store.unavailable === undefined && !scene.around.isStopping,
    overview: { ...scene.model(), warnings },
  },
});

function sceneOf(around: Scene['around'], refused = 0, code: Refusal['code'] = 'invalid-view') {
  const scene = new Scene(PROJECTS);
  scene.around = around;
  scene.accept(100);
  scene.refuse(refused, { code, project: '1' }, 'https://b.example');
  return scene;
}

/** Returns a scene with a fixed origin, and too few invalid views for the status page to report. */
function fixedBesideOpen() {
  const scene = new Scene(PROJECTS);
  scene.refuse(9, { code: 'origin-not-allowed', project: '1' }, 'https://b.example');
  scene.list({ ...PROJECTS[0]!, origins: ['https://b.example'] }, ...PROJECTS.slice(1));
  scene.accept(100);
  scene.refuse(2, { code: 'invalid-view', project: '1' });
  return scene;
}

function cutBodies() {
  const scene = new Scene(PROJECTS);
  scene.accept(3);
  scene.refuse(134, { code: 'malformed-json' }, undefined, '{"p":"1","ur');
  return scene;
}

const reading = (text: string): Facts['projects'] => ({
  content: Buffer.from(text),
  ...parseProjectsFile(Buffer.from(text), '/data/projects.json'),
});

const inside = (change: Partial<Inside>, settings: object = {}): Partial<Facts> => ({
  disk: { inside: { ...INSIDE, ...change, account: accountOf({ ...INSIDE, ...change }) } },
  settings: { ...DEFAULTS, ...settings },
});
const accountOf = ({ directory, files }: Inside) => accountIn(directory, files);
const free = (freeBytes: number): Partial<Inside> => ({
  fileSystem: { ...DISK, freeBytes },
});

/** Files that root has copied into the account's directory. */
const COPIES: Partial<Inside> = {
  copiesGid: SERVICE.gid,
  files: ['viewlog.lock', 'views-2026-11-21.ndjson', 'status.json'].map((name) => {
    return { ...ROOTS, ...at(`/data/${name}`) };
  }),
  read: [{ ...ROOTS, ...at('/data/projects.json') }],
};

/** Root's directory, in which the service's account ran viewlog. */
const givenAway = (source: Facts['source']): Partial<Facts> => {
  const account = { ...SERVICE, name: '#4711' };
  const closedDirectory = { account, owner: 'root', mode: 0o40750, isGivenAway: true };
  return {
    source,
    reply: undefined,
    disk: { inside: { ...INSIDE, account: undefined, closedDirectory } },
  };
};

const STREAM = {
  config: {
    name: 'VIEWS',
    subjects: ['views.>'],
    storage: 'file',
    retention: 'limits',
    discard: 'new',
    num_replicas: 3,
  },
  cluster: { name: 'c', leader: 'n0', replicas: [{ current: true }, { current: true }] },
  state: { messages: 7, bytes: 2048 },
} as unknown as StreamInfo;
const REACHED = {
  name: 'VIEWS',
  server: 'nats-1:4222',
  version: '2.15.2',
  warnings: [],
  clockMs: 0,
  denied: new Set<string>(),
  stream: STREAM,
  unusable: undefined,
  refused: undefined,
  needs: { replicas: undefined, viewBytesMax: 16_384, payloadMax: MiB },
};
const cluster = (change: Partial<Exclude<ClusterFacts, { fault: Fatal }>>): Partial<Facts> => ({
  of: { ...INSTALLATION, data: undefined },
  askedData: undefined,
  disk: undefined,
  cluster: { ...REACHED, ...change },
});
const stream = (config: object, more: object = {}): Partial<Facts> =>
  cluster({ stream: { ...STREAM, config: { ...STREAM.config, ...config }, ...more } });
const followers = (change: object) => [{ name: 'n1', current: true, ...change }, { current: true }];

const proxied = (change: Partial<ProxyReplies>): Partial<Facts> => ({
  proxy: {
    url: 'https://views.example/view',
    origin: 'https://a.example',
    get: problem('method-not-allowed'),
    preflight: VIEWLOG,
    large: VIEWLOG,
    largeBytes: 16 * 1024,
    post: undefined,
    project: undefined,
    view: undefined,
    isStored: undefined,
    ...change,
  },
});

/** Returns the findings about an installation that is correct except for these facts. */
const examined = (facts: Partial<Facts>) =>
  examine({
    nowMs: NOON,
    isSynchronised: false,
    isOutsider: false,
    runtime: { name: 'Node', version: '24.1.0', platform: 'linux' },
    ownUid: SERVICE.uid,
    askedData: '/data',
    asked: {},
    of: { ...INSTALLATION, program: ['viewlog'] },
    source: 'running',
    different: [],
    kill: 'kill 42',
    settings: DEFAULTS,
    disk: { inside: INSIDE },
    projects: reading(JSON.stringify({ projects: PROJECTS })),
    holder: HOLDER,
    reply: VIEWLOG,
    status: STATUS,
    cluster: undefined,
    proxy: undefined,
    ...shown(new Scene(PROJECTS)),
    ...facts,
  });

const flag = (text: string) => ({ text, from: 'flag' as const });

/** Returns the findings that aren't ok, each in one line: `state check: what fix`. */
const problemLines = (facts: Partial<Facts>): string[] =>
  examined(facts)
    .filter(({ state }) => state !== 'ok')
    .map(({ check, state, what, fix = '' }) =>
      `${state} ${check}: ${what} ${fix}`.replaceAll(/\n */g, ' ').trimEnd(),
    );

it('the doctor reports no problem if nothing is wrong', () => {
  const checks = examined(proxied({})).map(({ check, state }) => `${state} ${check}`);
  expect(checks.join(', ')).toBe(
    'ok projects file, ok data directory, ok free space, ok collector, ok health, ok refusals, ok url, ok cors, ok size, ok write and sync, ok clock, ok file system, ok user, ok runtime',
  );
});

const ARCHIVE: Partial<Facts> = {
  of: { ...INSTALLATION, role: 'archive', address: undefined, projects: undefined },
  holder: { ...INSTALLATION, role: 'archive', address: undefined },
  reply: NOBODY,
  projects: { content: undefined, faults: ['it is missing'] },
  status: { ...STATUS, reply: answer(200), isReady: true },
};
it.each<[what: string, Partial<Facts>]>([
  ["a --port that is the running collector's", { asked: { port: '8080' } }],
  ['an archive', ARCHIVE],
  [
    "root's projects file that the service reads through its group",
    inside({ files: [LOCK], read: [{ ...ROOTS, gid: SERVICE.gid, ...at('/etc/p.json') }] }),
  ],
  // The files show who runs viewlog.
  [
    "a directory of root's that viewlog's group may write to",
    inside({ directory: { uid: 0, gid: SERVICE.gid, mode: 0o40770 } }),
  ],
  ['a disk that lasts for years', inside({ bytesPerDay: 1 })],
  // A synchronised clock is right, so the file was written while the clock was wrong.
  [
    'a file of a later day if the clock is synchronised',
    { nowMs: Date.UTC(2026, 10, 20), isSynchronised: true },
  ],
  ['the oldest Node', { runtime: { name: 'Node', version: '20.19.0', platform: 'linux' } }],
  ['an old Bun', { runtime: { name: 'Bun', version: '1.0.0', platform: 'linux' } }],
  [
    'large files that retention soon removes',
    inside({ bytesPerDay: 1024 * MiB }, { 'keep-days': 1 }),
  ],
  ['less than a day of views', inside({ bytesPerDay: undefined })],
  ['slow syncs that --durability os avoids', inside({ writing: [99] }, { durability: 'os' })],
  ['a stream', cluster({})],
  ["a stream that doesn't exist yet", cluster({ stream: undefined, clockMs: NaN })],
  ['a proxy that refuses GET', proxied({ get: answer(403) })],
  ['an overloaded collector', proxied({ get: problem('overloaded') })],
])('the doctor reports no problem with %s', (_, facts) => {
  expect(problemLines(facts)).toStrictEqual([]);
});

it.each<[how: string, Partial<Facts>]>([
  ['root runs it', { ownUid: 0 }],
  ['its user is unknown', { ownUid: undefined }],
])('the doctor reports no problem if %s', (_, facts) => {
  expect(problemLines(facts)).toStrictEqual([]);
});

const MISSING_COMMA = {
  projects: reading('{\n "projects": [\n  { "id": "1" }\n  { "id": "2" } ] }'),
};
const errorOf = (code: string): Error => Object.assign(new Error(code), { code });

const withoutToken = (isReady: boolean): Partial<Facts> => ({
  status: { ...STATUS, reply: answer(200), isReady, overview: undefined },
});
const NOT_RUNNING = {
  reply: NOBODY,
  holder: undefined,
  status: STATUS,
  source: 'last start' as const,
};
/** The facts that an unprivileged user can find. */
const DENIED: Partial<Facts> = {
  ownUid: 4713,
  isOutsider: true,
  of: { ...INSTALLATION, owners: { data: { ...SERVICE, name: '#4711' } } },
  holder: 'unknown',
  source: 'options',
  reply: undefined,
  status: {},
  disk: { fault: errorOf('EACCES') },
  projects: { content: errorOf('EACCES'), faults: ['permission denied'] },
};

/** By situation: the beginning of the only finding that isn't ok, and the facts. */
type Findings = Readonly<Record<string, readonly [finding: string, facts: Partial<Facts>]>>;
const FINDINGS: Findings = {
  'a comma is missing in the projects file': [
    'error projects file: /data/projects.json:4:3: expected "," before "{". The running viewlog uses the last good list, but can\'t start again until this is fixed. Correct the file. To check it again, run: viewlog check --data /data',
    MISSING_COMMA,
  ],
  "the projects file can't be read": [
    'error projects file: Can\'t read projects file "/p": denied. The running viewlog uses the last good list, but can\'t start again until this is fixed.',
    {
      projects: {
        content: new Error('denied'),
        faults: [`Can't read projects file "/p": denied`],
      },
    },
  ],
  'the projects file is missing': [
    "error projects file: it is missing. The running viewlog uses the last good list, but can't start again until this is fixed. Restore the file from a backup",
    {
      projects: { content: undefined, faults: ['it is missing'], create: 'viewlog activate ID' },
      ...shown(sceneOf({ fault: { first: 'it no longer exists; restore it', loss: 'missing' } })),
    },
  ],
  'a collector at another port holds the data directory': [
    'error lock: The collector at http://127.0.0.1:8080 (process 42, viewlog 0.1.0, running since 2026-11-22T14:00:00Z) holds "/data", so a second one can\'t start there. If you meant that collector, leave out --port. To start another one here, end it first: kill 42',
    { asked: { port: '9000' } },
  ],
  'a collector that is starting holds the data directory': [
    'error lock: A collector that isn\'t listening yet (process 42, viewlog 0.1.0, running since 2026-11-22T14:00:00Z) holds "/data", so a second one can\'t start there. If it is starting, wait. To start another one here, stop that process or its container first.',
    { holder: { ...HOLDER, address: undefined }, kill: undefined },
  ],
  'the process that holds the data directory hangs': [
    "error lock: The process that has locked \"/data\" doesn't answer. If it hangs, no view is accepted, and viewlog can't start there. If it hangs, end it (kill -9 PID) and start viewlog. To find its process id (PID), run: sudo ss -xlp | grep -F ' /data/viewlog.lock'",
    { ...NOT_RUNNING, holder: 'unresponsive', reply: undefined, status: {} },
  ],
  'a write to the data directory fails': [
    'error data directory: Can\'t use directory "/data": denied.',
    inside({
      writing: new Error('denied'),
    }),
  ],
  'a write fails because the disk is full': [
    'error data directory: Can\'t use directory "/data": ENOSPC. Free some space, or delete files if df -i shows no free inodes.',
    inside({ writing: errorOf('ENOSPC') }),
  ],
  'less space is free than --min-free': [
    'error free space: Every view is refused with 503, because too little disk space is free. 3.0 MiB is free, but viewlog needs 72 MiB: --min-free, which is 64 MiB (the default), plus an eighth. To free at least 69 MiB, delete view files (views-*.ndjson)',
    inside(free(3 * MiB)),
  ],
  'no space is free and --min-free is 0': [
    "error free space: A view that doesn't fit on the disk is refused with 503. No space is free. Delete view files (views-*.ndjson) of earlier days that you have shipped or copied, refused files (refused-*.ndjson) that you won't replay, or other files on this disk. viewlog then accepts views again. To list the files: ls -lhS /data",
    inside(free(0), { 'min-free': 0 }),
  ],
  'the file system has no free inodes': [
    "error free space: viewlog can't create files. The file system has no free inodes. Delete old files.",
    inside({ fileSystem: { ...DISK, hasInodes: false } }),
  ],
  'the file system is smaller than --min-free': [
    'error free space: Every view is refused with 503, because too little disk space is free. --min-free is 64 MiB (the default), but this file system can never have more than 60 MiB free. Start viewlog with --min-free 7MiB',
    inside({ fileSystem: { ...DISK, freeBytes: 57 * MiB, sizeBytes: 60 * MiB } }),
  ],
  'another program listens on the port': [
    "error collector: Another program listens at http://127.0.0.1:8080 (no answer in 5 s), so viewlog can't listen there. Choose another --port or stop that process. To find the process, run: sudo ss -ltnp 'sport = :8080'",
    { reply: { failure: 'no answer in 5 s' }, status: STATUS },
  ],
  'another program listens on the status port': [
    'error health: Another program listens at http://127.0.0.1:8081 (status 200 from x/1), so viewlog',
    {
      status: { ...STATUS, reply: answer(200, { server: 'x/1' }) },
    },
  ],
  'a signal announced that viewlog will stop': [
    'error health: A signal announced that viewlog is about to stop. To keep it running, restart it.',
    shown(sceneOf({ isStopping: true })),
  ],
  "viewlog can't store views": [
    "error health: Every view is refused: no space left. Check the disk (df -h, df -i, quotas) and read viewlog's log.",
    shown(sceneOf({ store: { unavailable: 'no space left' } })),
  ],
  'viewlog refuses views for lack of disk space': [
    'error health: Every view is refused: too little free disk space.',
    shown(sceneOf({ store: { unavailable: 'too little free disk space' } })),
  ],
  "viewlog isn't ready and the doctor has no token": [
    "error health: viewlog isn't ready. The doctor has no token, so it can't see why. Set VIEWLOG_STATUS_TOKEN to viewlog's token or pass --status-token-file.",
    withoutToken(false),
  ],
  'the address redirects to another host': [
    "error url: https://views.example/view doesn't reach viewlog (status 301, a redirect to https://www.views.example/view), so views from pages don't arrive. Browsers follow no redirect of a view to another origin, and make a GET of most others. In the pages, use the target of the redirect. To test that address, run: viewlog doctor --data /data --url https://www.views.example/view",
    proxied({
      get: answer(301, { location: 'https://www.views.example/view' }),
      preflight: answer(301),
    }),
  ],
  'the address redirects to another path': [
    "error url: https://views.example/view doesn't reach viewlog (status 301, a redirect to /view/), so views from pages don't arrive. Browsers follow no redirect of a view to another origin, and make a GET of most others. In the proxy, pass the path on without a redirect. For examples, run: viewlog help proxies",
    proxied({ get: answer(301, { location: '/view/' }), preflight: answer(301) }),
  ],
  'the address has another path than the proxy passes on': [
    "error url: https://views.example/blog/view doesn't reach viewlog (status 404 from nginx), so views from pages don't arrive. Leave the path out of --url, unless the proxy serves viewlog there. In that case, pass /blog/view on to http://127.0.0.1:8080/view. For examples, run: viewlog help proxies",
    proxied({
      url: 'https://views.example/blog/view',
      get: answer(404, { server: 'nginx' }),
      preflight: answer(404),
    }),
  ],
  "the proxy can't reach viewlog": [
    "error url: https://views.example/view doesn't reach viewlog (status 502 from nginx), so views from pages don't arrive. In the proxy, pass /view on to http://127.0.0.1:8080. For examples, run: viewlog help proxies",
    proxied({ get: answer(502, { server: 'nginx' }), preflight: answer(502) }),
  ],
  'the address leads to the status page': [
    "error url: https://views.example/view leads to viewlog's status page, so views from pages don't arrive. In the proxy, pass /view on to http://127.0.0.1:8080. Without a proxy, use that address in --url. For examples, run: viewlog help proxies",
    proxied({ get: answer(403, {}, `${STATUS_REFUSALS.host}\n`), preflight: answer(403) }),
  ],
  'the address leads to another viewlog, because none runs here': [
    'warning url: https://views.example/view reaches another viewlog: none writes to "/data". Pass the other viewlog\'s --data, or start the one that uses this directory.',
    { ...proxied({}), holder: undefined },
  ],
  'the proxy changes the path': [
    "error url: https://views.example/view reaches viewlog, but the proxy changes the path, so views from pages don't arrive. viewlog answers: There is nothing at /; send views to /view. In the proxy, pass the path on unchanged. For examples, run: viewlog help proxies",
    proxied({ get: problem('not-found', nothingAt('/')) }),
  ],
  'the address has another path than /view': [
    "error url: https://views.example/foo/view reaches viewlog, which has nothing at that path, so views from pages don't arrive. Leave the path out of --url, or let the proxy remove it.",
    proxied({
      url: 'https://views.example/foo/view',
      get: problem('not-found', nothingAt('/foo/view')),
    }),
  ],
  "the address doesn't answer": [
    "error url: https://views.example/view doesn't reach viewlog (no answer in 5 s), so views from pages don't arrive. If the proxy is Caddy, make sure that it passes /view on to http://127.0.0.1:8080 and that health_port is 8081. Otherwise, check the proxy and the firewall.",
    proxied({ get: { failure: 'no answer in 5 s' }, preflight: { failure: 'no answer in 5 s' } }),
  ],
  "the address can't be reached": [
    "error url: https://views.example/view doesn't reach viewlog (no route), so views from pages don't arrive. Check the host name in DNS, the certificate, the proxy and the firewall.",
    proxied({ get: { failure: 'no route' }, preflight: { failure: 'no route' } }),
  ],
  "the address is the collector's own, and nothing listens there": [
    "error url: http://127.0.0.1:8080/view doesn't reach viewlog (connect ECONNREFUSED), so views from pages don't arrive. Start viewlog.",
    proxied({
      url: 'http://127.0.0.1:8080/view',
      get: { failure: 'connect ECONNREFUSED' },
      preflight: { failure: 'connect ECONNREFUSED' },
    }),
  ],
  'the proxy refuses large bodies': [
    "warning size: A request with a body of 16 KiB doesn't reach viewlog (status 413 from nginx), so large views are lost. In the proxy, allow bodies of this size (nginx: client_max_body_size; Caddy: max_size in request_body).",
    proxied({ large: answer(413, { server: 'nginx' }) }),
  ],
  "the only project isn't active": [
    'warning projects file: No project in "/data/projects.json" is active, so every view is refused. Activate a project: viewlog activate 1 --data /data',
    { projects: reading('{"projects":[{"id":"1","active":false}]}') },
  ],
  'no project is listed': [
    'warning projects file: No project in "/data/projects.json" is active, so every view is refused. Add a project. Replace ID with its id: viewlog activate ID --data /data',
    { projects: reading('{"projects":[]}') },
  ],
  'only the data directory is missing': [
    "warning data directory: The data directory \"/data\" doesn't exist. If the directory was moved, move it back; if its disk isn't mounted, mount it. Otherwise, check --data. viewlog creates the directory when it starts. If its account isn't allowed to, run: id viewlog || sudo useradd --system --user-group --shell /usr/sbin/nologin viewlog && sudo install -d -o viewlog -g viewlog -m 750 /data",
    {
      of: { ...INSTALLATION, program: ['viewlog'], projects: '/etc/p.json' },
      disk: {},
    },
  ],
  'the disk will be full in a week': [
    'warning free space: 8.0 GiB is free (--min-free is 64 MiB), enough for 7 days at the current rate. After that, every view is refused with 503. Delete view files (views-*.ndjson) of earlier days that you have shipped or copied, or set --keep-days.',
    inside({ bytesPerDay: 1024 * MiB }),
  ],
  'the free space is unknown': [
    'warning free space: Free disk space is unknown, so --min-free is off. On Deno, start viewlog with --allow-sys=statfs.',
    inside({ fileSystem: undefined }),
  ],
  'no collector runs and the options of its last start are known': [
    'warning collector: No collector answers at http://127.0.0.1:8080 (connect ECONNREFUSED 127.0.0.1:8080), so no view is accepted there. Start viewlog: viewlog serve --data /data --port 8080 --status off',
    {
      ...NOT_RUNNING,
      of: {
        ...INSTALLATION,
        program: ['viewlog'],
        chosen: { port: flag('8080'), status: flag('off') },
      },
    },
  ],
  'no collector runs and none has ever started': [
    'warning collector: No collector answers at http://127.0.0.1:8080 (connect ECONNREFUSED 127.0.0.1:8080), so no view is accepted there. Start viewlog. The doctor found no earlier start here, so this command has the options that you gave the doctor: viewlog serve --data /data',
    { ...NOT_RUNNING, source: 'options' },
  ],
  // The unit sets the variable with the token.
  'no collector runs and a systemd unit starts it': [
    'warning collector: No collector answers at http://127.0.0.1:8080 (connect ECONNREFUSED 127.0.0.1:8080), so no view is accepted there. Start viewlog: sudo systemctl restart v.service',
    {
      ...NOT_RUNNING,
      of: { ...INSTALLATION, unit: 'v.service', chosen: { status: flag('0.0.0.0:8081') } },
    },
  ],
  'the status page is off': [
    "warning health: --status is off, so the doctor can't tell whether views are accepted.",
    {
      status: {},
    },
  ],
  'nothing listens on the status port': [
    "warning health: Nothing answers at http://127.0.0.1:8081, so the doctor can't tell whether views are accepted. Pass the collector's --status address, which is in its log.",
    { status: STATUS },
  ],
  // The process runs in a container, and another viewlog on this machine.
  'another viewlog has the status port of the running collector': [
    "warning health: Another viewlog answers at http://127.0.0.1:8081, so the doctor can't tell whether views are accepted.",
    { status: { address: STATUS.address, another: {} } },
  ],
  'another viewlog has the status port and hides its directory': [
    "error health: The status server of another viewlog listens at http://127.0.0.1:8081 (it doesn't use this data directory), so viewlog can't listen there. If you mean that viewlog, give its --data. Otherwise, choose another --status or stop that process. To find the process, run: sudo ss -ltnp 'sport = :8081'",
    {
      ...NOT_RUNNING,
      reply: undefined,
      status: { address: STATUS.address, another: {} },
    },
  ],
  'another viewlog has the status port and shows its directory': [
    "error health: The status server of another viewlog listens at http://127.0.0.1:8081 (it writes to \"/other\"), so viewlog can't listen there. If you mean that viewlog, give its --data. Otherwise, choose another --status or stop that process. To find the process, run: sudo ss -ltnp 'sport = :8081'",
    {
      ...NOT_RUNNING,
      reply: undefined,
      status: { address: STATUS.address, another: { data: '/other' } },
    },
  ],
  'another viewlog listens on the port': [
    "error collector: Another viewlog listens at http://127.0.0.1:8080 (it doesn't use this data directory), so viewlog can't listen there. If you mean that viewlog, give its --data. Otherwise, choose another --port or stop that process. To find the process, run: sudo ss -ltnp 'sport = :8080'",
    { ...NOT_RUNNING, reply: VIEWLOG },
  ],
  "viewlog can't listen at its address": [
    "error collector: viewlog can't listen at http://127.0.0.1:8080: EADDRNOTAVAIL. Choose an address of this",
    { ...NOT_RUNNING, listenFault: 'EADDRNOTAVAIL' },
  ],
  "a directory is in place of today's file": [
    'error data directory: "/data/views-2026-11-22.ndjson" isn\'t a regular file, so today\'s views are refused. Move it away',
    inside({ isBlocked: true }),
  ],
  "its user can't see whether viewlog runs": [
    'warning access: The doctor runs as #4713, which isn\'t allowed to check whether "/data" is locked. So the doctor can\'t tell whether viewlog is running. Run the doctor as #4711: sudo setpriv --reuid=4711 --regid=4712 --clear-groups -- /srv/viewlog doctor --data /data',
    DENIED,
  ],
  "its user isn't the user of the running viewlog": [
    'warning access: The doctor runs as #4713, but viewlog runs as #4711. The doctor may miss faults in "/data". Run the doctor as #4711: sudo setpriv --reuid=4711 --regid=4712 --clear-groups -- /srv/viewlog doctor --data /data',
    {
      ...DENIED,
      ...inside({ writing: errorOf('EACCES') }),
      ...shown(new Scene(PROJECTS)),
      holder: HOLDER,
      source: 'running',
      reply: VIEWLOG,
    },
  ],
  "the service's user can't open root's data directory": [
    'error access: "/data" belongs to root, and #4713 can\'t open it, so viewlog can\'t start as #4713. Run the doctor as root: sudo /srv/viewlog doctor --data /data',
    {
      ...DENIED,
      of: { ...INSTALLATION, owners: { data: { uid: 0, gid: 0, name: 'root' } } },
    },
  ],
  'no collector runs and its status server needs a token': [
    'warning collector: No collector answers at http://127.0.0.1:8080 (connect ECONNREFUSED 127.0.0.1:8080), so no view is accepted there. Set VIEWLOG_STATUS_TOKEN and start viewlog: viewlog serve --data /data --status 0.0.0.0:8081',
    {
      ...NOT_RUNNING,
      of: { ...INSTALLATION, program: ['viewlog'], chosen: { status: flag('0.0.0.0:8081') } },
    },
  ],
  'viewlog is ready and the doctor has no token': [
    "warning health: viewlog is ready. The doctor has no token, so it can't see refusals. Set VIEWLOG_STATUS_TOKEN to viewlog's token or pass --status-token-file.",
    withoutToken(true),
  ],
  'the doctor has the wrong token': [
    "warning health: viewlog is ready. The doctor has the wrong token, so it can't see refusals. If its token file has been changed since viewlog started, restart viewlog. Otherwise, pass that file with --status-token-file.",
    {
      status: { ...STATUS, reply: answer(200), isReady: true, overview: undefined, hasToken: true },
      of: { ...INSTALLATION, chosen: { 'status-token-file': flag('/token') } },
    },
  ],
  "the status page's warning contains a control character, which the doctor escapes": [
    String.raw`warning refusals: \u001b[2J.`,
    shown(sceneOf({}), ['\u001b[2J']),
  ],
  "pages send from an origin that isn't listed": [
    "warning refusals: Aurora: 2 of 102 views in the last hour were refused (origin not allowed). The refusals began on 2026-11-22 14:01 UTC. 2 views were refused in the last 24 hours, most recently on 2026-11-22 14:01 UTC from https://b.example: origin not allowed. If https://b.example isn't one of the project's sites, ignore these views. If it is, add it: viewlog activate 1 --data /data --origin https://b.example",
    shown(sceneOf({}, 2, 'origin-not-allowed')),
  ],
  'only some causes of refusals are fixed': [
    'warning refusals: Aurora: 2 of 102 views in the last hour were refused (invalid view), not counting 9 refused because of an earlier problem that has ended',
    shown(fixedBesideOpen()),
  ],
  'a proxy cuts off bodies': [
    'warning refusals: Requests without a project: 134 of 137 requests in the last hour failed before viewlog could read a project id (body cut off). The failures began on 2026-11-22 14:00 UTC. 134 requests failed in the last 24 hours, most recently on 2026-11-22 14:02 UTC: body cut off. The latest body: {"p":"1","ur The latest refused body ended after 12 bytes, before its closing brace. If the page builds its JSON by hand, use JSON.stringify(view). Otherwise, the sender or a proxy cut the body off. A few such bodies are normal, because visitors leave pages early. If there is a proxy, let it pass on bodies of up to 80 KiB (nginx: client_max_body_size 80k; Caddy: max_size 80KiB in request_body)',
    shown(cutBodies()),
  ],
  'the proxy adds a CORS header': [
    'warning cors: Responses carry Access-Control-Allow-Origin "*" instead of "https://a.example", so browsers block views that pages send with sendBeacon; the printed script\'s views arrive. In the proxy, pass on OPTIONS requests and Origin headers. Don\'t add Access-Control-… headers. For examples, run: viewlog help proxies',
    proxied({ get: problem('method-not-allowed', '', { 'access-control-allow-origin': '*' }) }),
  ],
  'the proxy answers preflights itself': [
    "warning cors: The answer to a preflight (status 405 from nginx) isn't viewlog's, or a proxy has changed it, so browsers block views from pages of other origins",
    proxied({
      preflight: answer(405, { server: 'nginx' }),
    }),
  ],
  'viewlog refuses the view that the doctor sends': [
    'warning view: A view of project 7 from https://a.example, in a body of 16 KiB, was refused with project-not-activated: No. If the id is right, activate the project. Without --origin, a new project accepts views from every site: viewlog activate 7 --data /data',
    proxied({
      project: '7',
      view: problem(
        'project-not-activated',
        'No. If the id is right, ask you@example.com to activate it.',
      ),
    }),
  ],
  'the proxy refuses the view that the doctor sends': [
    "warning view: A view of project 7 from https://a.example, in a body of 16 KiB, didn't reach viewlog (status 403 from nginx), so views are lost. In the proxy, pass POST requests on to viewlog. For examples, run: viewlog help proxies",
    proxied({ project: '7', view: answer(403, { server: 'nginx' }) }),
  ],
  'the proxy removes the Origin header': [
    'error view: The proxy at https://views.example/view removes or changes the Origin header, so viewlog refuses views of project 7 with origin-not-allowed. In the proxy, pass the headers on unchanged. For examples, run: viewlog help proxies',
    proxied({
      project: '7',
      view: problem('origin-not-allowed', `Project 7 ${NO_ORIGIN}. Send the view …`),
    }),
  ],
  'the proxy changes the type of bodies': [
    'error view: The proxy at https://views.example/view removes or changes the Content-Type header, so viewlog refuses views of project 7 with unsupported-media-type. In ',
    proxied({ project: '7', view: problem('unsupported-media-type', 'The body …') }),
  ],
  'an old file should have been removed': [
    'warning overdue files: 1 file is older than --keep-days or --keep-refused-days allows. Each hour, viewlog removes one day of such files. To remove this file now: rm /data/views-2026-01-01.ndjson',
    inside({ overdue: ['views-2026-01-01.ndjson'] }),
  ],
  'the disk is slow': [
    'warning write and sync: A write with its sync takes 51 ms (the slowest of 3 took 200 ms). Every 201 waits for a sync. Look for disk errors in the kernel log: sudo dmesg',
    inside({ writing: [51, 51, 200] }),
  ],
  'a view file is dated later than the clock': [
    'warning clock: The time is 2026-11-20T00:00:00Z, but "/data/views-2026-11-21.ndjson" has a later date. The clock is wrong now, or it was wrong when viewlog wrote that file. Synchronise the clock: sudo timedatectl set-ntp true',
    { nowMs: Date.UTC(2026, 10, 20) },
  ],
  'the data directory is in memory': [
    'warning file system: The data directory is on tmpfs, which is in memory. A reboot deletes all views. Move it to a local disk. In a container, mount a volume there.',
    inside({ fileSystem: { ...DISK, type: 0x01021994 } }),
  ],
  "today's file belongs to root": [
    "error permissions: \"/data/views-2026-11-21.ndjson\" belongs to root and has mode 0600. viewlog's account (#4711) can't write to it, so viewlog can't start again. Give the account access: sudo chgrp 4712 /data/views-2026-11-21.ndjson && sudo chmod g+rw /data/views-2026-11-21.ndjson",
    inside({ files: [LOCK, { ...ROOTS, mode: 0o100600 }] }),
  ],
  "today's file is read-only": [
    "error permissions: \"/data/views-2026-11-21.ndjson\" belongs to #4711 and has mode 0440. viewlog's account (#4711) can't write to it, so viewlog can't start again. Give the account access: sudo setpriv --reuid=4711 --regid=4712 --clear-groups -- chmod u+rw /data/views-2026-11-21.ndjson",
    inside({ files: [{ ...VIEWS_FILE, mode: 0o100440 }] }),
  ],
  'the file of refused views belongs to root': [
    'warning permissions: "/data/refused-2026-11-21.ndjson" belongs to root and has mode 0640. viewlog\'s account (#4711) can\'t store refused views in it. Give the account access: sudo chgrp 4712 /data/refused-2026-11-21.ndjson && sudo chmod g+rw /data/refused-2026-11-21.ndjson',
    inside({ files: [LOCK, { ...ROOTS, ...at('/data/refused-2026-11-21.ndjson') }] }),
  ],
  'the projects file elsewhere belongs to root': [
    "error permissions: \"/etc/p.json\" belongs to root and has mode 0600. viewlog's account (#4711) can't read it, so viewlog can't start again. Give the account access: sudo chgrp 4712 /etc/p.json && sudo chmod g+r /etc/p.json",
    inside({ read: [{ ...ROOTS, mode: 0o100600, ...at('/etc/p.json') }] }),
  ],
  "shippers can't read the view files": [
    'warning permissions: "/data/views-2026-11-21.ndjson" and 1 more file belong to #4711. Shippers in group #4712 can\'t read them. Let the group read them: sudo setpriv --reuid=4711 --regid=4712 --clear-groups -- chmod g+r /data/views-2026-11-21.ndjson /data/views-2026-11-22.ndjson',
    inside({
      files: [VIEWS_FILE, { ...VIEWS_FILE, ...at('/data/views-2026-11-22.ndjson') }].map((file) => {
        return { ...file, mode: 0o100600 };
      }),
    }),
  ],
  "the owner of the data directory can't write there": [
    "error user: The data directory belongs to #4711 and has mode 0550. #4711 can't create files there. Let #4711 write there: sudo setpriv --reuid=4711 --regid=4712 --clear-groups -- chmod u+rwx /data",
    {
      ...inside({ directory: { ...SERVICE, mode: 0o40550 } }),
      of: { ...INSTALLATION, owners: { data: { ...SERVICE, name: '#4711' } } },
    },
  ],
  'the data directory belongs to root and its files to a service': [
    "error user: The data directory belongs to root and has mode 0750, and its files belong to #4711, which can't create files there. If #4711 should run viewlog, give it the directory and everything in it: sudo chown -R 4711:4712 /data",
    inside({ directory: { ...ROOTS, mode: 0o40750 } }),
  ],
  'root took the data directory of the running viewlog': [
    "error user: The data directory \"/data\" belongs to root and has mode 0750. viewlog runs as #4711, which can't create files there. Today's views are still stored, but viewlog can't begin the next day's file or start again. Make #4711 the owner of the directory and of viewlog's files in it: sudo chown -R 4711:4712 /data",
    givenAway('running'),
  ],
  'root took the data directory after the last run': [
    'error user: The data directory "/data" belongs to root and has mode 0750. viewlog last ran as #4711, which can\'t create files there, so viewlog can\'t start.',
    givenAway('last start'),
  ],
  "root owns the data directory of a unit with a service's account": [
    "error user: The data directory \"/data\" belongs to root and has mode 0750. viewlog.service runs viewlog as #4711, which can't create files there, so viewlog can't start. Make #4711 the owner of the directory and of viewlog's files in it: sudo chown -R 4711:4712 /data",
    { ...givenAway('options'), unitUser: { ...SERVICE, name: '#4711' } },
  ],
  'root owns the data directory and viewlog has never started': [
    "warning user: The data directory belongs to root, so viewlog would run as root. If viewlog should run as a service's account, first give that account the directory and everything in it. Replace USER with the account's name: sudo chown -R USER: /data If it should run as root, start it: viewlog serve --data /data",
    {
      ...inside({ directory: { ...ROOTS, mode: 0o40750 }, files: [ROOTS] }),
      source: 'options',
      reply: undefined,
    },
  ],
  'the files in the data directory have two owners': [
    "warning user: The data directory belongs to #4711, and its files belong to #4711 and #4713. Give the directory and everything in it to the account that runs viewlog. Replace USER with the account's name: sudo chown -R USER: /data",
    inside({ files: [VIEWS_FILE, { ...VIEWS_FILE, uid: 4713 }] }),
  ],
  'the lock belongs to root': [
    "error permissions: \"/data/viewlog.lock\" belongs to root and has mode 0640. viewlog's account (#4711) can't open it, so viewlog can't start again. Give the account access: sudo chgrp 4712 /data/viewlog.lock && sudo chmod g+rw /data/viewlog.lock",
    inside({ files: [{ ...ROOTS, ...at('/data/viewlog.lock') }, VIEWS_FILE] }),
  ],
  // Root has restored the files from a backup.
  'older files belong to root': [
    'warning permissions: "/data/status.json" and 1 more file belong to root. viewlog\'s account (#4711) can\'t read them. Give the account access: sudo chgrp 4712 /data/status.json /data/views-2026-11-20.ndjson && sudo chmod g+r /data/status.json /data/views-2026-11-20.ndjson',
    inside({
      files: [
        { ...ROOTS, ...at('/data/status.json') },
        { ...ROOTS, ...at('/data/views-2026-11-20.ndjson') },
        VIEWS_FILE,
      ],
    }),
  ],
  "root owns all files in the service's directory": [
    "error permissions: \"/data/projects.json\" and other files there belong to root. viewlog's account (#4711) can't read that file, so viewlog can't start again. Give the files to that account: sudo chown -R 4711:4712 /data",
    inside(COPIES),
  ],
  'Node is too old': [
    "warning runtime: viewlog isn't tested on Node 20.18.3 on linux. Run viewlog on Linux, with Node 20.19 or later.",
    { runtime: { name: 'Node', version: '20.18.3', platform: 'linux' } },
  ],
  "the collector's settings differ from the options": [
    "warning settings: The collector runs with --data /data (not --data /other) and --min-free 1MiB (not 2MiB). The doctor uses the collector's settings. To examine another collector, pass its --data. To change a setting, restart the collector with it.",
    { askedData: '/other', different: ['--min-free 1MiB (not 2MiB)'] },
  ],
  'the collector writes to a stream and the options name a directory': [
    "warning settings: The collector runs with --store (not --data /data). The doctor uses the collector's settings. To examine another collector, pass its --status. To change a setting, restart the collector with it.",
    {
      of: { ...INSTALLATION, data: undefined },
      disk: undefined,
    },
  ],
  // An archive keeps running after one of its files was cut short.
  'a view file of the archive was cut short': [
    'error health: The archive isn\'t ready: View file "v" was cut short. To restore it, run "archive --restore 2026-01-01".',
    {
      ...ARCHIVE,
      status: {
        ...STATUS,
        reply: answer(503),
        isReady: false,
        reasons: ['View file "v" was cut short; to restore it, run "archive --restore 2026-01-01"'],
      },
    },
  ],
  'the archive has no connection': [
    "error health: The archive isn't ready: no connection. Read the archive's log.",
    {
      ...ARCHIVE,
      status: { ...STATUS, reply: answer(503), isReady: false, reasons: ['no connection'] },
    },
  ],
};

const fatal = (exitCode: ExitCode, text: string): Partial<Facts> => ({
  ...cluster({}),
  cluster: { fault: new Fatal(exitCode, text) },
});
const CLUSTER_FINDINGS: Findings = {
  'no NATS server can be reached': [
    "error cluster: Can't reach n:1. Check the address, the firewall,",
    fatal(69, "Can't reach n:1"),
  ],
  'the NATS server is too old': [
    'error cluster: n:1 has version 2.8.0.',
    fatal(78, 'n:1 has version 2.8.0'),
  ],
  'the NATS server should be newer': [
    'warning cluster: use 2.10.',
    cluster({ warnings: ['use 2.10'] }),
  ],
  'the NATS user lacks a permission': [
    'error cluster permissions: not to "views.>". Permit it.',
    cluster({
      stream: undefined,
      denied: new Set(['not to "views.>"; permit it']),
    }),
  ],
  "JetStream doesn't work": [
    "error stream: Can't use it. Check JetStream",
    cluster({
      unusable: new Fatal(69, "Can't use it"),
    }),
  ],
  // No server changes these two settings of a stream.
  'the stream is in memory': [
    "error stream: Stream VIEWS can't store views: it keeps messages in memory (storage: memory). NATS can't change this setting. Name a new stream with --nats-stream; viewlog creates it.",
    stream({ storage: 'memory' }),
  ],
  'the stream drops messages that were read': [
    "error stream: Stream VIEWS can't store views: it drops messages that were read (retention: workqueue). NATS can't change this setting. Name",
    stream({ retention: 'workqueue' }),
  ],
  'the stream acknowledges nothing': [
    "error stream: Stream VIEWS can't store views: it acknowledges nothing (no_ack). Change this setting, or name another stream with --nats-stream. To edit this stream: nats stream edit VIEWS",
    stream({ no_ack: true }),
  ],
  'the stream is full': [
    "error stream: Views are refused, because the stream is full. Raise this stream's limits, or name another stream with --nats-stream. To edit this stream: nats stream edit VIEWS",
    stream({ max_bytes: 17_000 }),
  ],
  'the stream has no leader': [
    'error stream: Views are refused, because the stream has no leader. Start the servers that store the stream.',
    stream({}, { cluster: { name: 'c', leader: '', replicas: [] } }),
  ],
  "the stream for refused views is another program's": [
    "error stream: Stream VIEWS_REFUSED doesn't belong to viewlog: it has the subjects other.> and discard new (viewlog needs refused.> and discard old). If no other program uses it, correct it. Otherwise, store no refused views, with --max-refused 0.",
    cluster({
      refused: {
        config: { name: 'VIEWS_REFUSED', subjects: ['other.>'], discard: 'new' },
      } as StreamInfo,
    }),
  ],
  'the stream accepts only small messages': [
    'error stream settings: Stream VIEWS accepts messages of at most 10000 bytes (max_msg_size), but --max-view 16KiB needs 16,512 bytes, headers included. Raise the limit or lower --max-view.',
    stream({ max_msg_size: 10_000 }),
  ],
  'the NATS servers accept only small messages': [
    'error stream settings: The NATS servers accept messages of at most 16 KiB (max_payload), but --max-view',
    cluster({ stream: undefined, needs: { ...REACHED.needs, payloadMax: 16_384 } }),
  ],
  'the stream drops old views at a limit': [
    'warning stream settings: Stream VIEWS drops its oldest views at a limit (max_bytes). Change this setting, or name another stream with --nats-stream. To edit this stream: nats stream edit VIEWS',
    stream({
      discard: 'old',
      max_bytes: MiB,
    }),
  ],
  'the stream limits the views of a project': [
    'warning stream settings: Stream VIEWS holds at most 7 views per project and refuses the rest',
    stream({
      discard_new_per_subject: true,
      max_msgs_per_subject: 7,
    }),
  ],
  'the stream has only one replica': [
    'warning stream settings: Stream VIEWS is stored on 1 server of cluster "c". If the cluster has 3 servers, run: nats stream edit VIEWS --replicas 3',
    stream({ num_replicas: 1 }),
  ],
  'a server of the stream is down': [
    'warning stream: Stream VIEWS has 7 messages (2 KiB). Down or behind: n1. Start each server that is down.',
    stream({}, { cluster: { ...STREAM.cluster, replicas: followers({ offline: true }) } }),
  ],
  "this machine's clock differs from the NATS server's": [
    "warning server clock: This machine's clock differs by 3 seconds from that of the stream's server. This machine's clock decides a view's day. Synchronise both clocks. On this machine, run: sudo timedatectl set-ntp true",
    cluster({ clockMs: 3_000 }),
  ],
};

it('the doctor reports ok only for cluster settings that it has checked', () => {
  const oks = (change: Parameters<typeof cluster>[0]): string[] =>
    examined(cluster(change)).flatMap(({ check, state, what }) =>
      state === 'ok' && /^(cluster p|stream)/.test(check) ? [`${check}: ${what}`] : [],
    );
  expect(oks({ stream: undefined })).toStrictEqual([
    'cluster permissions: The NATS user has the permissions that a collector needs.',
    "stream: Stream VIEWS doesn't exist yet. A collector creates it on 3 servers, or on 1 if fewer than 3 are up.",
    'stream settings: The NATS servers accept the largest view.',
  ]);
  const unusable = new Fatal(69, "Can't use it");
  expect(oks({ stream: undefined, unusable })).toStrictEqual([
    'stream settings: The NATS servers accept the largest view.',
  ]);
});

it('the doctor says how much more space must be free before viewlog accepts views again', () => {
  const status = { ...STATUS, reply: answer(503), reasons: ['too little free disk space'] };
  expect(problemLines({ ...inside(free(67 * MiB)), status })).toContainEqual(
    expect.stringMatching(
      /^error free space: .* too little disk space is free\. 67 MiB is free, but viewlog needs 72 MiB: .* To free at least 5 MiB, delete /,
    ),
  );
});

it('the doctor says that commands fail while the projects file has an error, if it prints any', () => {
  const scene = sceneOf({});
  expect(problemLines({ ...MISSING_COMMA, ...shown(sceneOf({}, 2)) })).toStrictEqual([
    expect.stringMatching(/^error projects file: \/data\/projects\.json:4:3: expected/),
    expect.stringMatching(/^warning refusals: Aurora: /),
  ]);
  scene.refuse(2, { code: 'origin-not-allowed', project: '1' }, 'https://b.example');
  expect(problemLines({ ...MISSING_COMMA, ...shown(scene) })).toStrictEqual([
    expect.stringMatching(/^error projects file: /),
    'warning refusals: The projects file has an error (see above). Until it is corrected, the commands below fail.',
    expect.stringMatching(/^warning refusals: Aurora: /),
  ]);
});

it('the doctor names the errors to correct before the start command', () => {
  const fixes = (facts: Partial<Facts>): string[] =>
    problemLines({ ...NOT_RUNNING, ...facts }).filter((one) => one.startsWith('warning collector'));
  const start = 'Start viewlog: /srv/viewlog serve --data /data';
  const of = INSTALLATION;
  expect(fixes({ ...MISSING_COMMA, of })[0]).toContain(
    `Correct the errors above. If one is about an option, change it in this command. Then ${start.replace(/^S/, 's')}`,
  );
  // A proxy that can't reach viewlog doesn't keep viewlog from starting.
  const down = proxied({ get: answer(502), preflight: answer(502) });
  expect(fixes({ ...down, of })[0]).toContain(`no view is accepted there. ${start}`);
});

it('the doctor prints no start command with a --min-free that the file system is too small for', () => {
  const small = inside({ fileSystem: { ...DISK, freeBytes: 57 * MiB, sizeBytes: 60 * MiB } });
  const of = { ...INSTALLATION, chosen: { 'min-free': flag('64MiB') } };
  const lines = problemLines({ ...NOT_RUNNING, ...small, of });
  expect(lines).toStrictEqual([
    expect.stringMatching(/ Start viewlog with --min-free 7MiB or use a larger disk\.$/),
    expect.stringMatching(/ start viewlog: \S+ serve --data \/data --min-free 7MiB$/),
  ]);
});

it("if a proxy can't reach viewlog, the doctor advises starting viewlog only if viewlog doesn't answer", () => {
  const replies = proxied({ get: answer(502), preflight: answer(502) });
  const fixOf = (facts: Partial<Facts>) =>
    examined({ ...facts, ...replies }).find(({ check }) => check === 'url')!.fix!;
  const start = 'Start viewlog. In the proxy, pass /view on to viewlog.';
  expect(fixOf(NOT_RUNNING)).toContain(start);
  expect(fixOf({ reply: answer(200, { server: 'x/1' }) })).toContain(start);
  expect(fixOf({})).not.toContain('Start');
});

it('the doctor prints no start command if only root could start viewlog and nobody has yet', () => {
  const [directory, files] = [{ ...ROOTS, mode: 0o40750 }, [ROOTS]];
  const fixesFrom = (source: Facts['source']) =>
    examined({ ...NOT_RUNNING, ...inside({ directory, files }), source })
      .filter(({ check }) => check === 'collector')
      .map(({ fix }) => fix);
  expect(fixesFrom('options')).toStrictEqual([
    'Before you start viewlog, follow the advice under "user".',
  ]);
  expect(fixesFrom('last start')).toStrictEqual([expect.stringContaining('Start viewlog:')]);
});

it('the doctor prints the command that lists a removed project again as it was', () => {
  const scene = new Scene([
    { id: '7', name: 'Shop', origins: ['https://shop.example'] },
    { id: '8' },
  ]);
  scene.accept(1, '7');
  scene.accept(1, '8');
  scene.list();
  expect(problemLines({ projects: reading('{"projects":[]}'), ...shown(scene) })[0]).toMatch(
    /^warning projects file: No project in "\/data\/projects.json" is active, so every view is refused\. An active project was removed\. The status page shows 1 more removed project\. Project 7 was in the projects file; .* add the entry again: viewlog activate 7 --data \/data --name Shop --origin https:\/\/shop\.example$/,
  );
});

it('the doctor never suggests a new entry while a removed one is known', () => {
  const scene = new Scene([{ id: '8', origins: ['https://a.example'] }]);
  scene.accept(1, '8');
  scene.list();
  scene.refuse(9, { code: 'project-not-activated', project: '8' }, 'https://a.example');
  expect(problemLines({ projects: reading('{"projects":[]}'), ...shown(scene) })[0]).toMatch(
    / add the entry again: viewlog activate 8 --data \/data --origin https:\/\/a\.example$/,
  );
});

it('the doctor prints how to list a removed project again whose view was refused', () => {
  const scene = new Scene([{ id: '7', origins: ['https://shop.example'] }, { id: '8' }]);
  scene.accept(1, '7');
  scene.list({ id: '8' });
  const refused = proxied({ project: '7', view: problem('project-not-activated', 'No.') });
  expect(problemLines({ ...shown(scene), ...refused })).toContainEqual(
    expect.stringMatching(
      /^warning view: .* The project was removed from the projects file\. To list it again: \S+ activate 7 --data \/data --origin https:\/\/shop\.example$/,
    ),
  );
});

it('the doctor says that a listed project whose view was refused is inactive', () => {
  const refused = proxied({ project: '7', view: problem('project-not-activated', 'No.') });
  const projects = reading('{"projects":[{"id":"7","active":false},{"id":"8"}]}');
  expect(problemLines({ ...refused, projects })).toContainEqual(
    expect.stringMatching(
      /^warning view: .* The project is inactive\. To activate it, run: \S+ activate 7 --data \/data$/,
    ),
  );
});

it('the doctor warns of a removed project although others are active', () => {
  const scene = new Scene([...PROJECTS, { id: '8' }]);
  scene.accept(1, '8');
  scene.list(...PROJECTS);
  expect(problemLines(shown(scene))).toStrictEqual([
    expect.stringMatching(
      /^warning projects file: "\/data\/projects.json" lists 1 project, 1 active\. An active project was removed\. Project 8 was .* add the entry again: viewlog activate 8 --data \/data$/,
    ),
  ]);
});

it('the doctor warns of a project that has lost its origins', () => {
  const scene = new Scene([{ id: '8', origins: ['https://a.example'] }]);
  scene.list({ id: '8' });
  expect(problemLines(shown(scene))).toStrictEqual([
    'warning refusals: Project 8 no longer lists origins, so it accepts views from every site. If that is a mistake, run: /srv/viewlog activate 8 --data /data --origin https://a.example',
  ]);
  scene.refuse(9, { code: 'malformed-json' });
  expect(problemLines(shown(scene))).toStrictEqual([
    expect.stringContaining('Project 8 no longer lists origins'),
    expect.stringContaining('malformed JSON'),
  ]);
});

it("the doctor names the version of a running collector whose state it can't read", () => {
  const overview = { ...sceneOf({}, 9).model(), version: '0.0.9', problems: undefined };
  const facts = shown(sceneOf({}, 9));
  const status = { ...facts.status!, overview: overview as unknown as StatusModel };
  expect(problemLines({ ...facts, status })).toStrictEqual([
    `warning refusals: viewlog 0.0.9 is running, but this doctor (${BUILD}) can't read all of its status. Run the doctor of that version or look at http://127.0.0.1:8081/status.txt`,
  ]);
});

it("if viewlog's account is unclear, the doctor prints no start command and calls no directory writable", () => {
  const files = [VIEWS_FILE, { ...VIEWS_FILE, uid: 4713 }];
  const unclear = examined({ ...NOT_RUNNING, ...inside({ files }) });
  expect(unclear.map(({ check, fix = '' }) => `${check}: ${fix}`)).toContain(
    'collector: Before you start viewlog, follow the advice under "user".',
  );
  expect(unclear.map(({ check }) => check)).not.toContain('data directory');
});

it('the doctor says that a large disk lasts for years instead of a number of days', () => {
  const { what } = examined(inside({ bytesPerDay: 1 })).find(
    ({ check }) => check === 'free space',
  )!;
  expect(what).toBe(
    '8.0 GiB is free (--min-free is 64 MiB), enough for more than 10 years at the current rate.',
  );
});

const named = [...Object.entries(FINDINGS), ...Object.entries(CLUSTER_FINDINGS)].map(
  ([when, [finding, facts]]) => {
    const [, state, check] = /^(error|warning) ([a-z ]+): /.exec(finding)!;
    return [state === 'error' ? 'an error' : 'a warning', check, when, finding, facts] as const;
  },
);
it.each(named)('the doctor reports only %s about "%s" when %s', (_, __, ___, finding, facts) => {
  expect(problemLines(facts)).toStrictEqual([expect.stringContaining(finding)]);
});

it('the doctor reports a missing data directory and a file in its place', async () => {
  const dir = tempDir();
  writeFileSync(`${dir}/file`, '');
  expect(await probeDisk(`${dir}/none`, [], DEFAULTS, NOON)).toStrictEqual({});
  const disk = await probeDisk(`${dir}/file`, [], DEFAULTS, NOON);
  expect(problemLines({ disk, of: { ...INSTALLATION, data: `${dir}/file` } })[0]).toMatch(
    /^error data directory: Can't use directory ".*file": ENOTDIR: .*\. A part of this path is a file/,
  );
});

it('the doctor examines only the files that viewlog opens', async () => {
  const dir = tempDir();
  const own = ['views-2026-11-21.ndjson', 'refused-2026-11-21.ndjson', 'status.json'];
  const foreign = ['views-backup.ndjson', 'views-2026-11-21.ndjson.bak', 'notes.json'];
  for (const name of [...own, ...foreign]) writeFileSync(`${dir}/${name}`, '');
  const { inside } = await probeDisk(dir, [], DEFAULTS, NOON);
  expect(inside!.files.map(({ name }) => name).toSorted()).toStrictEqual(own.toSorted());
});

it("for a missing data directory, the doctor prints a single command, and the new directory doesn't belong to root", () => {
  const create = 'viewlog activate ID --data /data';
  const missing = { content: undefined, faults: ["it doesn't exist"], create };
  const notRunning = { ...NOT_RUNNING, source: 'options' as const, projects: missing };
  const [first, ...rest] = problemLines({ ...notRunning, disk: {} });
  expect(first).toBe(
    "error projects file: it doesn't exist, and neither does its directory. viewlog can't start until this is fixed. If the directory was moved, move it back; if its disk isn't mounted, mount it. Otherwise, check --data. To create the directory and, if needed, the user that will own it, run this, then the doctor again: id viewlog || sudo useradd --system --user-group --shell /usr/sbin/nologin viewlog && sudo install -d -o viewlog -g viewlog -m 750 /data",
  );
  expect(rest.join()).not.toMatch(/directory|--data/);
  expect(problemLines({ projects: missing })[0]).toMatch(
    /fixed\. If the directory was moved, .* Otherwise, create the file\. Replace ID with a project's id: viewlog activate ID --data \/data$/,
  );
});

it("the doctor doesn't advise correcting an empty projects file", () => {
  const projects = { content: Buffer.from(''), faults: ['it is empty'], begin: 'tee' };
  expect(problemLines({ projects })).toStrictEqual([
    "error projects file: it is empty. The running viewlog uses the last good list, but can't start again until this is fixed.",
  ]);
});

it("the doctor doesn't report a fault of the projects file if only its own user can't read the file", () => {
  const refusals = problemLines({ ...DENIED, ...shown(sceneOf({}, 2)) });
  expect(refusals.join()).toMatch(/warning refusals: Aurora/);
  expect(refusals.join()).not.toContain('The fixes below');
});

it('the doctor names the user that runs viewlog only if it knows that user', () => {
  const ofRoot = inside({ directory: { ...ROOTS, mode: 0o40750 }, files: [ROOTS] });
  const userOf = (of: Partial<Facts['of']>, facts: Partial<Facts> = ofRoot) =>
    examined({ ...facts, of: { ...INSTALLATION, ...of } }).find(({ check }) => check === 'user')!
      .what;
  const runsAsRoot = 'root owns the data directory, and viewlog runs as root.';
  expect(userOf({ account: { uid: 0, gid: 0 } })).toBe(runsAsRoot);
  expect(userOf({})).toBe('root owns the data directory.');
  expect(userOf({}, {})).toBe('#4711 owns the data directory, so viewlog should run as #4711.');
});

it('the doctor prints errors before warnings, and warnings before findings that are ok', () => {
  const found = examined({ ...MISSING_COMMA, askedData: '', disk: { fault: new Error('EIO') } });
  const states = found.map(({ state }) => state);
  expect(states.slice(0, 4)).toStrictEqual(['error', 'error', 'warning', 'ok']);
});

it('the doctor never says that no views are refused while no view can be stored', () => {
  const store = { unavailable: 'no space left' };
  const checks = examined(shown(sceneOf({ store }))).map(({ check }) => check);
  expect(checks).toContain('health');
  expect(checks).not.toContain('refusals');
});

it('the doctor prints only one command for all files that root has copied', () => {
  const found = problemLines(inside(COPIES)).filter((line) => line.includes(' permissions: '));
  expect(found).toHaveLength(1);
});

it('the doctor also prints a command for a file elsewhere if root has copied files', () => {
  const elsewhere = { ...ROOTS, ...at('/etc/p.json') };
  const found = problemLines(inside({ ...COPIES, read: [elsewhere] }));
  const fixes = found.filter((line) => /permissions: .* (chown|chgrp) /.test(line));
  expect(fixes.map((line) => /sudo (\S+)/.exec(line)?.[1])).toStrictEqual(['chgrp', 'chown']);
});

it("the doctor names an unlisted id that a listed project's pages send, beside other problems", () => {
  const scene = new Scene([{ id: '8', origins: ['https://a.example'] }]);
  scene.refuse(9, { code: 'invalid-view', project: '8' });
  scene.refuse(2, { code: 'project-not-activated', project: '77' }, 'https://a.example');
  scene.refuse(2, { code: 'project-not-activated', project: '66' }, 'https://c.example');
  expect(problemLines(shown(scene))).toStrictEqual([
    expect.stringContaining('warning refusals: Project 8: '),
    expect.stringMatching(
      /^warning refusals: Views of the unlisted id 77 were refused\. .*https:\/\/a\.example is an origin of project 8\. If its pages should send 8, correct them;/,
    ),
  ]);
});

it('the doctor says where unlisted ids are shown', () => {
  const scene = new Scene([{ id: '8' }]);
  scene.refuse(2, { code: 'project-not-activated', project: '66' }, 'https://c.example');
  const found = (): string[] =>
    examined(shown(scene))
      .filter(({ check }) => check === 'refusals')
      .map(({ state, what, fix = '' }) => `${state} ${what} ${fix.replace(/\n */, ' ')}`.trim());
  const none = 'ok No views of listed projects are being refused.';
  expect(found()).toStrictEqual([
    none,
    'ok Views of the unlisted id 66 were refused, most recently from https://c.example. If that is your site, activate the project: viewlog activate 66 --data /data --origin https://c.example',
  ]);
  scene.refuse(2, { code: 'project-not-activated', project: '55' });
  expect(found()).toStrictEqual([
    none,
    'ok Views of 2 unlisted ids were refused; http://127.0.0.1:8081 lists them.',
  ]);
  scene.refuse(9, { code: 'invalid-view', project: '8' });
  expect(found().slice(1)).toStrictEqual([
    'ok Views of 2 unlisted ids were refused; http://127.0.0.1:8081 lists them.',
  ]);
});

it('the doctor lists five problems, and where the others are', () => {
  const projects = Array.from({ length: 7 }, (_, i) => ({ id: String(i), active: false }));
  const scene = new Scene(projects);
  for (const { id } of projects) scene.refuse(1, { code: 'project-not-activated', project: id });
  const lines = problemLines(shown(scene));
  expect(lines).toHaveLength(6);
  expect(lines[5]).toMatch(
    /^warning refusals: 2 more problems are on the status page \(http:\/\/127\.0\.0\.1:8081\)\./,
  );
});
