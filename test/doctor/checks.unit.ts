import { describe, expect, it } from 'vitest';
import { BUILD } from '../../src/base/built.ts';
import type { Reply } from '../../src/doctor/ask.ts';
import { examine } from '../../src/doctor/checks.ts';
import type { Facts } from '../../src/doctor/facts.ts';
import { type Inside, mountOf } from '../../src/doctor/probe-disk.ts';
import { faultColumn, type ProxyReplies } from '../../src/doctor/probe-proxy.ts';
import { parseProjectsFile } from '../../src/projects/parse.ts';
import type { ProjectEntry } from '../../src/projects/projects-schema.ts';
import { DOCTOR_SIGN } from '../../src/status/counts.ts';
import type { Refusal } from '../../src/view/refusal.ts';
import { NOON, Scene } from '../support/status-scene.ts';

// What the doctor makes of facts: no test here looks at a machine.

const MiB = 1024 * 1024;
const SERVICE = { uid: 4711, gid: 4712 };

const answer = (status: number, headers: Record<string, string> = {}, body = ''): Reply => ({
  status,
  headers: new Headers(headers),
  body,
});
const NOBODY: Reply = { failure: 'connect ECONNREFUSED 127.0.0.1:8080' };
const VIEWLOG = answer(204, {
  'access-control-max-age': '86400',
  'access-control-expose-headers': 'Retry-After',
});
const CORS = {
  'access-control-allow-origin': 'https://a.example',
  'access-control-allow-credentials': 'true',
};
const PREFLIGHT = answer(204, { ...CORS, 'access-control-allow-headers': 'content-type' });
const problem = (code: string, detail = ''): Reply =>
  answer(400, CORS, JSON.stringify({ type: `urn:viewlog:problem:${code}`, code, detail }));

const projectsFile = (text: string) => parseProjectsFile(Buffer.from(text), '/data/projects.json');
const PROJECTS: ProjectEntry[] = [{ id: '1', name: 'Aurora', origins: ['https://a.example'] }];

const INSIDE: Inside = {
  directory: { ...SERVICE, mode: 0o40750 },
  files: { seen: [{ name: 'views-2026-11-21.ndjson', ...SERVICE, mode: 0o100640 }] },
  mount: { seen: { type: 'xfs', isWithoutJournal: false } },
  viewDays: ['2026-11-21'],
  freeBytes: 8192 * MiB,
  around: { refusedDays: [], overdue: [], bytesPerDay: MiB, sizeBytes: 10_000 * MiB },
  writing: { seen: Array.from({ length: 15 }, () => 2) },
};

const SETTINGS: Facts['settings'] = {
  host: '127.0.0.1',
  port: 8080,
  data: '/data',
  projects: '/data/projects.json',
  durability: 'disk',
  'max-view': 16 * 1024,
  'min-free': 64 * MiB,
  'keep-days': 0,
  'keep-refused-days': 14,
};

const HOLDER = { pid: 42, sinceMs: NOON, address: 'http://127.0.0.1:8080' };
const STATUS = { address: 'http://127.0.0.1:8081', isFromLock: false };

/** A status server that shows the scene. */
const shown = (scene: Scene, about: object = {}): Facts['status'] => ({
  ...STATUS,
  reply: answer(200),
  isReady: scene.model().unavailable === undefined && !scene.around.isStopping,
  overview: { ...scene.model(), version: BUILD, pid: 42, settings: SETTINGS, ...about },
});

/** An installation with nothing wrong, except for these facts. */
const factsOf = (facts: Partial<Facts> = {}): Facts => ({
  nowMs: NOON,
  args: ['doctor', '--data', '/data'],
  runtime: { name: 'Node', version: '24.1.0', platform: 'linux' },
  ownUid: SERVICE.uid,
  hasUnit: true,
  commandLine: SETTINGS,
  settings: SETTINGS,
  disk: { fault: undefined, inside: INSIDE },
  projects: projectsFile(JSON.stringify({ operator: 'a@b.example', projects: PROJECTS })),
  reply: VIEWLOG,
  holder: { seen: HOLDER },
  status: shown(new Scene(PROJECTS)),
  proxy: undefined,
  project: undefined,
  ...facts,
});

const inside = (change: Partial<Inside>): Partial<Facts> => ({
  disk: { fault: undefined, inside: { ...INSIDE, ...change } },
});

/** What is not ok, as `state check: what; why. fix`. */
const told = (facts: Partial<Facts>): string[] =>
  examine(factsOf(facts))
    .filter(({ state }) => state !== 'ok')
    .map(({ check, state, what, why, fix }) => `${state} ${check}: ${what}; ${why}. ${fix}`);

it('has nothing to complain about if nothing is wrong', () => {
  expect(told({})).toStrictEqual([]);
  expect(examine(factsOf()).map(({ check }) => check)).toStrictEqual([
    'projects file',
    'data directory',
    'free space',
    'collector',
    'health',
    'refusals',
    'write and sync',
    'clock',
    'file system',
    'user',
    'runtime',
  ]);
});

const FULL = inside({ freeBytes: 3 * MiB });
const FAULTY = {
  projects: projectsFile('{\n  "projects": [\n    { "id": "1" }\n    { "id": "2" }\n  ]\n}'),
};
const scene = (around: Scene['around'], refusals: readonly [number, Refusal['code']][] = []) => {
  const made = new Scene(PROJECTS);
  made.around = around;
  for (const [count, code] of refusals) made.refuse(count, { code, project: '1' });
  return made;
};
const proxied = (change: Partial<ProxyReplies> = {}): Partial<Facts> => ({
  proxy: {
    url: 'https://views.example/view',
    origin: 'https://a.example',
    sign: `${DOCTOR_SIGN}1`,
    sentMs: 1000,
    large: problem(
      'malformed-json',
      `Line 1, column ${faultColumn(SETTINGS['max-view'])}: expected`,
    ),
    small: problem('malformed-json'),
    preflight: PREFLIGHT,
    latestRefused: undefined,
    isSite: false,
    view: undefined,
    ...change,
  },
});

describe('an error', () => {
  it.each<[string, string, Partial<Facts>]>([
    ['a faulty projects file', 'projects file', FAULTY],
    [
      'another process in the directory',
      'lock',
      { commandLine: { ...SETTINGS, port: 9 }, status: STATUS },
    ],
    [
      'a directory that is not writable',
      'data directory',
      { disk: { fault: 'EACCES', inside: INSIDE } },
    ],
    ['less space than --min-free', 'free space', FULL],
    ['another program on the port', 'collector', { reply: answer(200), status: STATUS }],
    ['another program on the status port', 'health', { status: { ...STATUS, reply: answer(200) } }],
    ['a collector that is not ready', 'health', { status: shown(scene({ isStopping: true })) }],
    ['an address that does not reach viewlog', 'url', proxied({ small: answer(502) })],
    ['an address that leads to another path', 'url', proxied({ small: problem('not-found') })],
  ])('is %s', (_, check, facts) => {
    expect(examine(factsOf(facts))[0]).toMatchObject({ state: 'error', check });
  });

  it('comes first, and warnings come before what is ok', () => {
    const states = examine(factsOf({ ...FAULTY, nowMs: 0, ...FULL })).map(({ state }) => state);
    expect(states.slice(0, 4)).toStrictEqual(['error', 'error', 'warning', 'ok']);
  });
});

describe('a warning', () => {
  const shownFile = (text: string) => ({ projects: projectsFile(text) });
  it.each<[Partial<Facts>, string]>([
    [
      { reply: NOBODY, holder: { seen: undefined }, status: STATUS },
      'collector: No collector answers at http://127.0.0.1:8080: connect ECONNREFUSED 127.0.0.1:8080; no view is accepted. sudo systemctl restart viewlog',
    ],
    [
      { reply: NOBODY, holder: { seen: undefined }, status: STATUS, hasUnit: false },
      'collector: No collector answers at http://127.0.0.1:8080: connect ECONNREFUSED 127.0.0.1:8080; no view is accepted. viewlog serve --data /data --host 127.0.0.1 --port 8080',
    ],
    [
      { disk: { fault: undefined, inside: undefined } },
      'data directory: "/data" does not exist; there are no views yet. viewlog creates it when it starts; if there are views already, correct --data',
    ],
    [
      shownFile('{"projects":[{"id":"1","active":false}]}'),
      'projects file: "/data/projects.json" has 1 project, 0 active; every view is refused. viewlog activate 1 --projects /data/projects.json',
    ],
    [
      shownFile('{"projects":[{"id":"1"}]}'),
      'projects file: "/data/projects.json" has 1 project, 1 active, 1 open to every site, but no operator; refusals cannot say whom to ask. viewlog activate 1 --projects /data/projects.json --operator you@example.com',
    ],
    [
      { status: { ...STATUS, address: undefined } },
      'health: --status is off; nothing says whether views are accepted. Leave --status at its default, which only this machine can reach',
    ],
    [
      { status: { ...STATUS, reply: answer(200), isReady: true } },
      'health: Ready, but more is not known; the status server says why only to those who have its token. Give --status-token-file, as a user who can read it, or VIEWLOG_STATUS_TOKEN',
    ],
    [
      { status: { ...STATUS, reply: NOBODY } },
      'health: Nothing answers at http://127.0.0.1:8081; health is unknown. Give --status as the collector has it; its log says where it is',
    ],
    [
      { status: shown(new Scene(PROJECTS), { warnings: ['Half of --max-queue is in flight'] }) },
      'health: Half of --max-queue is in flight; the collector warns of it. See http://127.0.0.1:8081/',
    ],
    [
      { status: shown(new Scene(PROJECTS), { version: '0.0.1' }) },
      `version: The collector runs viewlog 0.0.1, and this is ${BUILD}; an update takes effect at a restart. sudo systemctl restart viewlog`,
    ],
    [
      { nowMs: Date.UTC(2001, 0) },
      'clock: It is 2001-01-01T00:00:00Z, but there are views of 2026-11-21; the clock names the files, is in every line, and says which files are old. Synchronise it: sudo timedatectl set-ntp true',
    ],
    [
      inside({ freeBytes: 100 * MiB }),
      'free space: 100 MiB free, --min-free 64 MiB; refused views are no longer kept, and soon every view is refused with 503. Delete views-*.ndjson of earlier days that are shipped or copied, or use --keep-days',
    ],
    [
      inside({ around: { ...INSIDE.around, bytesPerDay: 1024 * MiB } }),
      'free space: 8.0 GiB free, --min-free 64 MiB; lasts 7 days at 1.0 GiB per day; then every view is refused with 503. Delete views-*.ndjson of earlier days that are shipped or copied, or use --keep-days',
    ],
    [
      inside({ freeBytes: undefined }),
      'free space: Free disk space is unknown: statfs is not permitted; --min-free is off. Start Deno with --allow-sys=statfs',
    ],
    [
      inside({ around: { ...INSIDE.around, overdue: ['views-2026-01-01.ndjson'] } }),
      'overdue files: 1 file should have been removed by now; undefined. viewlog removes one of each kind an hour. To remove them now: rm /data/views-2026-01-01.ndjson',
    ],
    [
      inside({ writing: { seen: [1, 2] } }),
      'write and sync: Only 2 writes and syncs in 5 s; answers wait for them. See dmesg and iostat -x; is the disk failing?',
    ],
    [
      inside({ mount: { unseen: 'Requires read access' } }),
      "file system: It cannot be examined: Requires read access; it may be ok or not. Run this as the service's user or as root; on Deno, with the permission it names",
    ],
    [
      inside({ directory: { ...SERVICE, mode: 0o40755 } }),
      'permissions: Every user of this machine can look into the directory (mode 0755); it holds what visitors read. sudo chmod 750 /data, with shippers in group #4712',
    ],
    [
      { ownUid: 4713 },
      "user: #4711 owns the data directory, so viewlog runs as #4711; this runs as #4713, and may see less. sudo -u '#4711' viewlog doctor --data /data",
    ],
  ])('%#', (facts, expected) => {
    expect(told(facts)).toStrictEqual([`warning ${expected}`]);
  });

  it('is not that root owns the directory, a full disk tomorrow with --keep-days, or a new disk', () => {
    const root = { ...INSIDE.directory, uid: 0 };
    const files = { seen: [] };
    expect(told({ ...inside({ directory: root, files }), ownUid: 0 })).toStrictEqual([]);
    const { around } = INSIDE;
    const soon = inside({ around: { ...around, bytesPerDay: 1024 * MiB } });
    expect(told({ ...soon, settings: { ...SETTINGS, 'keep-days': 1 } })).not.toContain(
      'free space',
    );
    const fresh = examine(factsOf(inside({ around: { ...around, bytesPerDay: undefined } })));
    expect(fresh.find(({ check }) => check === 'free space')?.what).toBe(
      '8.0 GiB free, --min-free 64 MiB; how long it lasts is unknown before a full day',
    );
  });
});

describe('a scene at 3 a.m.:', () => {
  it('the old process still runs', () => {
    const [first] = told({
      commandLine: { ...SETTINGS, port: 9000 },
      status: STATUS,
      reply: NOBODY,
    });
    expect(first).toBe(
      'error lock: Process 42, running since 2026-11-22T14:00:00Z at http://127.0.0.1:8080, holds the data directory; no other collector can start there, such as one at http://127.0.0.1:9000. If it should not run any more: sudo kill 42. If it should, examine it with --port 8080',
    );
    expect(first).not.toMatch(/another --data/);
    // Also if the old process says where its status server is.
    const status = { ...shown(new Scene(PROJECTS)), isFromLock: true };
    expect(told({ commandLine: { ...SETTINGS, port: 9000 }, status })).toStrictEqual([first]);
    expect(told({ holder: { seen: 'unresponsive' } })[0]).toMatch(
      /^error lock: .* ss -xlp \| grep/,
    );
  });

  it('a collector that was found at its status address is the one that was meant', () => {
    expect(told({ commandLine: { ...SETTINGS, port: 9000, 'min-free': 0 } })).toStrictEqual([]);
    const settings = examine(
      factsOf({ commandLine: { ...SETTINGS, port: 9000, 'min-free': 0 } }),
    ).at(-1);
    expect(settings?.what).toBe(
      'The collector runs with --port 8080, --min-free 64 MiB, unlike this command line',
    );
    expect(told({ commandLine: { ...SETTINGS, data: '/other' } })).toStrictEqual([
      expect.stringMatching(/^warning settings: .* --data \/data, unlike .* give its --status$/),
    ]);
    expect(told({ holder: { seen: { ...HOLDER, pid: 43 } } })[0]).toMatch(
      /^error lock: Process 43/,
    );
  });

  it('a comma is missing in the projects file', () => {
    expect(told(FAULTY)).toStrictEqual([
      expect.stringMatching(
        /^error projects file: \/data\/projects\.json:4:5: expected ","; found \{; viewlog does not start with it; a running one keeps the last good list\. Correct the file\. To see every fault: viewlog check --projects \/data\/projects\.json$/,
      ),
    ]);
  });

  it('--min-free is more than the file system can have', () => {
    const around = { ...INSIDE.around, sizeBytes: 60 * MiB };
    expect(told(inside({ freeBytes: 57 * MiB, around }))).toStrictEqual([
      'error free space: 57 MiB free, --min-free 64 MiB; every view is refused with 503. --min-free is 64 MiB, but this file system can never have more than 60 MiB free. Start viewlog with --min-free 7MiB, or use a larger disk.',
    ]);
  });

  it('a proxy cuts bodies', () => {
    const cut = new Scene(PROJECTS);
    cut.accept(3);
    for (let i = 0; i < 134; i++) {
      cut.counts.refused({ code: 'malformed-json', detail: '' }, undefined, '{"p":"1","ur');
    }
    expect(told({ status: shown(cut) })).toStrictEqual([
      expect.stringMatching(
        /^warning refusals: Unreadable requests: .* 134 of 137 requests .*134 requests.*: arrived cut off.*proxy's size limit \(nginx: client_max_body_size; Caddy: request_body\)/,
      ),
    ]);
    cut.nowMs += 31_000;
    cut.accept(300);
    expect(told({ status: shown(cut) })).toStrictEqual([]);
    const large = problem('malformed-json', 'Line 1, column 1: expected text to end');
    expect(told(proxied({ large }))).toStrictEqual([
      'warning size: A body of 16 KiB (--max-view) reaches viewlog cut off; large views are lost. Have the proxy pass 16 KiB on (nginx: client_max_body_size; Caddy: request_body, max_size)',
    ]);
  });

  it('a colleague ran it as root', () => {
    const mine = { name: 'views-2026-11-21.ndjson', uid: 0, gid: 0, mode: 0o100600 };
    const lock = { name: 'viewlog.lock', uid: 0, gid: 0, mode: 0o140755 };
    const projects = { name: 'projects.json', uid: 0, gid: 0, mode: 0o100644 };
    expect(told(inside({ files: { seen: [lock, projects, mine] } }))).toStrictEqual([
      'warning permissions: root owns "viewlog.lock", and not #4711, and so for 1 more file; viewlog may not be able to open it, and then does not start. sudo chown -h 4711:4712 /data/viewlog.lock /data/views-2026-11-21.ndjson',
      'warning permissions: "views-2026-11-21.ndjson" has mode 0600; shippers in group #4712 cannot read it. sudo chmod 640 /data/views-2026-11-21.ndjson',
    ]);
  });

  it('the collector is about to stop, or its disk is full', () => {
    expect(told({ status: shown(scene({ isStopping: true })) })).toStrictEqual([
      'error health: Not ready: about to stop; views are accepted until it stops, and then refused. If it should not stop, restart it',
    ]);
    const full = scene({ store: { unavailable: 'no space left', freeBytes: MiB } });
    expect(told({ status: shown(full) })[0]).toMatch(
      /^error health: Not ready: no space left; every view is refused\. Check \/data: its owner, /,
    );
  });
});

it('escapes whatever others have a part in', () => {
  const status = shown(new Scene(PROJECTS), { warnings: ['\u001b[2J'] });
  expect(told({ status })[0]).toMatch(/^warning health: \\u001b\[2J; /);
});

describe('refusals', () => {
  it('are those that the status page shows, with its commands', () => {
    const made = new Scene(PROJECTS);
    made.accept(100);
    made.refuse(2, { code: 'origin-not-allowed', project: '1' }, 'https://b.example');
    expect(told({ status: shown(made) })).toStrictEqual([
      expect.stringMatching(
        /^warning refusals: Aurora: refused since 2026-11-22T14:01:40Z, 2 of 102 views of the last hour; undefined\. .* viewlog activate 1 --origin https:\/\/b\.example --projects \/data\/projects\.json$/,
      ),
    ]);
  });

  it('are five at most, and then says how many more', () => {
    const projects = Array.from({ length: 7 }, (_, i) => ({ id: String(i), active: false }));
    const made = new Scene(projects);
    for (const { id } of projects) made.refuse(1, { code: 'project-not-activated', project: id });
    const lines = told({ status: shown(made) });
    expect(lines).toHaveLength(6);
    expect(lines[5]).toMatch(/^warning refusals: 2 more of these; /);
  });

  it("are not the doctor's own", () => {
    const made = new Scene(PROJECTS);
    made.refuse(2, { code: 'malformed-json' }, undefined, `${DOCTOR_SIGN}1: ...`);
    expect(told({ status: shown(made) })).toStrictEqual([]);
  });
});

describe('the mount of a directory', () => {
  const MOUNTS = [
    'overlay / overlay rw,relatime 0 0',
    '/dev/sda1 /var ext4 rw,relatime 0 0',
    String.raw`nas:/x /var/lib/view\040log nfs4 rw 0 0`,
    'tmpfs /var/lib/viewlog tmpfs rw 0 0',
    '/dev/sdb1 /var/lib/viewlog xfs rw,nobarrier 0 0',
  ].join('\n');

  it.each([
    ['/var/lib/viewlog/a', 'xfs'],
    ['/var/lib/viewlogs', 'ext4'],
    ['/var/lib/view log', 'nfs4'],
    ['/srv', 'overlay'],
  ])('of %s is %s', (path, type) => {
    expect(mountOf(path, MOUNTS)?.type).toBe(type);
  });

  it.each([
    ['nfs4', 'nfs4; a sync is only'],
    ['fuse.sshfs', 'fuse.sshfs; a sync is only'],
    ['tmpfs', 'tmpfs; it is memory'],
    ['overlay', "overlay; it is a container's own"],
    ['ext4', 'ext4 without a journal; after a failed sync'],
  ])('of type %s is warned of', (type, text) => {
    const mount = { seen: { type, isWithoutJournal: type === 'ext4' } };
    expect(told(inside({ mount }))).toStrictEqual([
      expect.stringContaining(`file system: The data directory is on ${text}`),
    ]);
  });
});

describe('the runtime', () => {
  it.each([
    ['Node', '20.18.3', 'linux', 1],
    ['Node', '20.19.0', 'linux', 0],
    ['Node', '18.20.4', 'linux', 1],
    ['Node', '26.1.0', 'darwin', 1],
    ['Deno', '1.46.3', 'linux', 1],
    ['Deno', '2.5.7', 'linux', 0],
    ['Bun', '1.0.0', 'linux', 0],
  ] as const)('%s %s on %s has %i warnings', (name, version, platform, count) => {
    expect(told({ runtime: { name, version, platform } })).toHaveLength(count);
  });
});

describe('the way through the proxy', () => {
  const latest = (count: number, code: Refusal['code'] = 'malformed-json', text = 'x') =>
    Array.from({ length: count }, () => ({ atMs: 1000, code, text }));

  it.each<[string, Partial<ProxyReplies>, boolean]>([
    [
      'to this collector',
      { latestRefused: latest(1, 'malformed-json', `${DOCTOR_SIGN}1: ..`) },
      true,
    ],
    ['to another', { latestRefused: latest(19) }, false],
    ['that others have pushed out of the latest', { latestRefused: latest(20) }, true],
    ['to another, before', { latestRefused: latest(20), sentMs: 1001 }, false],
    ['with a body that is not shown', { latestRefused: latest(1, 'view-too-large') }, true],
    ['of which nothing tells', { latestRefused: undefined }, true],
  ])('%s', (_, replies, isOk) => {
    expect(told(proxied(replies)).filter((line) => line.includes(' way: '))).toHaveLength(
      isOk ? 0 : 1,
    );
  });

  it('says what of HTTPS, a passing refusal and the page beside it is wrong', () => {
    expect(told(proxied({ url: 'http://views.example/view' }))).toStrictEqual([
      expect.stringMatching(/^warning https: http:\/\/views\.example\/view is not HTTPS; /),
    ]);
    expect(told(proxied({ small: problem('overloaded', 'busy') }))[0]).toMatch(
      /^warning url: .* answers overloaded: busy; .*\. See viewlog help trouble, 503$/,
    );
    expect(told(proxied({ isSite: true }))).toStrictEqual([
      'warning origin: https://views.example has pages too, and no active project lists this origin; views of these pages are refused with 403. viewlog activate 1 --origin https://views.example --projects /data/projects.json',
    ]);
    const listed = proxied({ isSite: true, url: 'https://a.example/view' });
    expect(told(listed)).toStrictEqual([]);
    expect(told({ ...listed, project: '2' })[0]).toContain('project 2 does not list this origin');
  });
});
