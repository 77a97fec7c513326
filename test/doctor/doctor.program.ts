import { execFileSync } from 'node:child_process';
import * as fs from 'node:fs';
import * as http from 'node:http';
import * as net from 'node:net';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { listening, type ProxyFaults, startProxy } from '../support/bad-proxy.ts';
import {
  doctor,
  installation,
  isRoot,
  namesIn,
  of,
  type RunOptions,
  SERVICE,
  usual,
} from '../support/doctor.ts';
import { BUN, BUNDLE, DENO, isHere, isPresent, NODE, LTS_DENO } from '../support/runtimes.ts';
import { canMount, canMountThin, ext4, remount, smallDisk } from '../support/small-disk.ts';
import { startWatched } from '../support/status.ts';
import { tempDir } from '../support/temp-dir.ts';
import { until } from '../support/viewlog.ts';

// `viewlog doctor` on installations that are spoilt in one way each, as an operator runs it.

const MiB = 1024 * 1024;

describe('the directory', () => {
  it('that is sound, of a service that does not run, is well, and left as it was', async () => {
    const data = installation();
    const before = [namesIn(data), fs.statSync(data).mtimeMs];
    const { code, lines, line } = await doctor(data);
    expect([code, namesIn(data), fs.statSync(data).mtimeMs]).toStrictEqual([0, ...before]);
    expect(line('runtime')).toBe(`well runtime: Node ${process.versions.node} on linux`);
    expect(line('data directory')).toBe(`well data directory: "${data}" can be written to`);
    expect(line('write and sync')).toMatch(/A write and sync take [\d.]+ ms, the longest of 15 \d/);
    expect(line('free space')).toMatch(/^well free space: .* free, --min-free 64 MiB$/);
    expect(line('clock')).toMatch(/^well clock: It is 20\d\d-/);
    expect(line('projects file')).toBe(
      `well projects file: "${data}/projects.json" has 1 project, 1 active`,
    );
    expect(line('collector')).toBe(
      `doubtful collector: No collector runs at http://127.0.0.1:${usual[0]}; no view is taken. systemctl start viewlog`,
    );
    expect(lines.at(-1)).toMatch(/^\d doubtful, \d well$/);
  });

  it('that does not exist is made by the start', async () => {
    const data = installation();
    const { code, line } = await doctor(`${data}/none`, ['--projects', `${data}/projects.json`]);
    expect(code).toBe(0);
    expect(line('data directory')).toBe(
      `doubtful data directory: "${data}/none" does not exist; there are no views yet. The start makes it; if there were views before, name their --data`,
    );
    expect(line('clock')).toMatch(/^well /);
    expect(line('collector')).toMatch(/No collector runs/);
    expect(namesIn(data)).toStrictEqual(['projects.json']);
  });

  it('that is a file is none', async () => {
    const data = installation();
    const { code, line } = await doctor(`${data}/projects.json`, [
      '--projects',
      `${data}/projects.json`,
    ]);
    expect(code).toBe(78);
    expect(line('data directory')).toContain(
      'projects.json" is no directory; viewlog does not start',
    );
    expect(line('clock')).toMatch(/^well /);
    expect(line('collector')).toMatch(/No collector runs/);
  });

  it('that every user may look into is doubtful', async () => {
    const data = installation();
    fs.chmodSync(data, 0o755);
    const { code, line } = await doctor(data);
    expect(code).toBe(0);
    expect(line('data directory')).toContain(
      `can be looked into by every user of this machine; it holds what visitors read. chmod 750 ${data};`,
    );
  });

  describe.skipIf(!isRoot)('and its user', () => {
    const elsewhere = (): NonNullable<RunOptions['command']> => {
      const dir = tempDir();
      fs.chmodSync(dir, 0o755);
      fs.copyFileSync(BUNDLE, join(dir, 'viewlog.mjs'));
      return [process.execPath, join(dir, 'viewlog.mjs')];
    };

    it('are told to root, and to the user itself', async () => {
      const data = installation();
      const line = 'well user: The data directory belongs to #4711, so viewlog has to run as #4711';
      expect((await doctor(data)).line('user')).toBe(line);
      const options = { user: SERVICE, command: elsewhere() };
      const own = await doctor(data, [], options);
      expect([own.code, own.line('user')]).toStrictEqual([0, line]);
      expect(own.line('data directory')).toMatch(/^well /);
      expect(namesIn(data)).toStrictEqual(['projects.json']);
    });

    it('are two where another looks, who may not write there', async () => {
      const data = installation();
      fs.chmodSync(data, 0o755);
      const options = { user: { uid: 4713, gid: 4713 }, command: elsewhere() };
      const { code, line } = await doctor(data, [], options);
      expect(code).toBe(78);
      expect(line('user')).toMatch(
        /this is #4713, who may not see .*\. sudo -u '#4711' viewlog doctor/,
      );
      expect(line('data directory')).toMatch(
        /^to be mended data directory: ".*" cannot be written to: EACCES: .*Run this as #4711, or give/,
      );
      expect(line('write and sync')).toBe('');
    });

    it('come by nothing where another user made the way there', async () => {
      const data = installation();
      fs.chmodSync(join(data, '..'), 0o700);
      const options = { user: SERVICE, command: elsewhere() };
      for (const dir of [data, `${data}/below`]) {
        const { code, line } = await doctor(dir, [], options);
        expect(code).toBe(78);
        expect(line('data directory')).toMatch(
          /^to be mended data directory: ".*" cannot be looked at, or made: EACCES: .*Run this as its user/,
        );
      }
    });

    it('are root, which they need not be', async () => {
      const data = installation();
      fs.chownSync(data, 0, 0);
      const { code, line } = await doctor(data);
      expect(code).toBe(0);
      expect(line('user')).toMatch(
        /^doubtful user: The data directory belongs to root, so viewlog runs as root/,
      );
    });

    it('cannot write there by its mode, as root sees too', async () => {
      const data = installation();
      fs.chmodSync(data, 0o550);
      const { code, line } = await doctor(data);
      expect(code).toBe(78);
      expect(line('data directory')).toContain(`#4711 cannot write to "${data}", its own; `);
      expect(line('data directory')).toContain(`chmod u+rwx ${data}`);
    });

    it('are kept from a lock and a file that root has left there', async () => {
      const data = installation();
      fs.writeFileSync(join(data, 'viewlog.lock'), '');
      fs.writeFileSync(join(data, 'views-2026-01-31.ndjson'), '');
      fs.writeFileSync(join(data, 'foreign.txt'), '');
      // Which the service's user may read.
      fs.chownSync(join(data, 'projects.json'), 0, 0);
      fs.chmodSync(join(data, 'projects.json'), 0o644);
      const { code, line } = await doctor(data);
      expect(code).toBe(0);
      expect(line('owners')).toBe(
        `doubtful owners: 2 files in the data directory not of its owner: "${data}/viewlog.lock" is root's; the service may not be able to open it, and then does not start. sudo chown -h 4711:4712 ${data}/viewlog.lock ${data}/views-2026-01-31.ndjson`,
      );
      fs.chmodSync(join(data, 'projects.json'), 0o640);
      expect((await doctor(data)).line('owners')).toContain(
        `3 files in the data directory not of its owner: "${data}/projects.json" is root's`,
      );
    });
  });
});

describe.skipIf(!canMount())('the disk', () => {
  it('that is memory is doubtful', async () => {
    const { code, line } = await doctor(installation(undefined, smallDisk(256 * MiB)));
    expect(code).toBe(0);
    expect(line('file system')).toBe(
      'doubtful file system: The data directory is on tmpfs, which is memory; views are gone with the next boot. Choose a --data on a disk of this machine',
    );
  });

  it('that is nearly full is not written to', async () => {
    const data = installation(undefined, smallDisk(2 * MiB));
    const { code, line } = await doctor(data);
    expect(code).toBe(78);
    expect(line('free space')).toMatch(
      /^to be mended free space: 2\.0 MiB free, --min-free 64 MiB; every view is refused with 503\. Remove old/,
    );
    expect(line('write and sync')).toBe('');
    const near = await doctor(data, ['--min-free=1536KiB']);
    expect([near.code, near.line('free space')]).toStrictEqual([
      0,
      expect.stringMatching(/^doubtful /),
    ]);
  });

  it('that fills up soon says in how many days', async () => {
    const data = installation(undefined, smallDisk(32 * MiB));
    for (const ago of [1, 2]) {
      const day = new Date(Date.now() - ago * 86_400_000).toISOString().slice(0, 10);
      fs.writeFileSync(join(data, `views-${day}.ndjson`), Buffer.alloc(2 * MiB, 0x20));
    }
    const soon = await doctor(data, ['--min-free=1MiB']);
    expect([soon.code, soon.line('free space')]).toStrictEqual([
      0,
      expect.stringMatching(
        /^doubtful free space: 28 MiB free, .*: 1[23] days at 2\.0 MiB a day; then/,
      ),
    ]);
    expect((await doctor(data, ['--min-free=1MiB', '--keep-days=2'])).line('free space')).toMatch(
      /^well /,
    );
  });

  it('that can only be read is to be mended', async () => {
    const data = installation(undefined, smallDisk(256 * MiB));
    remount(data, 'ro');
    const { code, line } = await doctor(data);
    expect(code).toBe(78);
    expect(line('data directory')).toMatch(
      /cannot be written to: EROFS.*Mount the file system read-write/,
    );
    remount(data, 'rw');
  });

  it.skipIf(!canMountThin())('without a journal is told from one with it', async () => {
    const without = await doctor(installation(undefined, ext4('^has_journal')));
    expect(without.line('file system')).toBe(
      'doubtful file system: The data directory is on ext4 without a journal; after a failed sync it may hold less than it says. tune2fs -O has_journal, while it is not mounted',
    );
    const sound = await doctor(installation(undefined, ext4('has_journal')));
    expect(sound.line('file system')).toBe('well file system: The data directory is on ext4');
  });
});

describe('the clock', () => {
  it.skipIf(!isHere('/usr/bin/faketime'))('that is years behind is doubtful', async () => {
    const data = installation();
    const command: [string, ...string[]] = [
      'faketime',
      '2001-02-03 04:05:06',
      ...NODE.command(data),
    ];
    const { code, line } = await doctor(data, [], { command });
    expect(code).toBe(0);
    expect(line('clock')).toMatch(
      /^doubtful clock: It is 2001-02-03T\d\d:05:\d\dZ, but this program is newer than that; the clock names the files/,
    );
  });

  it('that is behind the files, or behind when viewlog ran here, is doubtful', async () => {
    const data = installation();
    const seen = new Date(Date.now() + 3_600_000).toISOString();
    fs.writeFileSync(join(data, 'retention.json'), JSON.stringify({ seen }));
    const [second] = seen.split('.');
    expect((await doctor(data)).line('clock')).toContain(`, but viewlog ran here at ${second}Z; `);
    fs.writeFileSync(join(data, 'views-2099-01-01.ndjson'), '');
    expect((await doctor(data)).line('clock')).toContain(', but there are views of 2099-01-01; ');
  });

  it('that has jumped keeps old files longer', async () => {
    const data = installation();
    const note = { seen: new Date().toISOString(), steadyMs: 86_400_000 };
    fs.writeFileSync(join(data, 'retention.json'), JSON.stringify(note));
    expect((await doctor(data, ['--keep-days=30'])).line('clock')).toContain(
      ', but it has jumped, so --keep-days removes nothing for 29 days more; ',
    );
    expect((await doctor(data)).line('clock')).toMatch(/^well /);
  });
});

describe('the projects file', () => {
  it('that is missing is to be mended, and not made', async () => {
    const data = installation(null);
    const { code, line } = await doctor(data);
    expect(code).toBe(78);
    expect(line('projects file')).toBe(
      `to be mended projects file: Cannot read projects file "${data}/projects.json": it doesn't exist; create it: viewlog activate ID --projects ${data}/projects.json; viewlog does not start; one that runs keeps to the last good list. Mend it; "viewlog check" tells every fault`,
    );
    expect(namesIn(data)).toStrictEqual([]);
  });

  it('that is faulty is to be mended, its first fault told without obeying it', async () => {
    const data = installation({ projects: [{ id: 7 }, { id: '\u001b[2J' }] });
    const { code, line, out } = await doctor(data);
    expect(code).toBe(78);
    expect(line('projects file')).toMatch(/projects\[0\]\.id must be .* \(and 1 more fault\); /);
    // oxlint-disable-next-line no-control-regex
    expect(out).not.toMatch(/\u001b/);
  });

  it('with no active project, no operator, or an open project says so', async () => {
    const said = async (projects: object): Promise<string> =>
      (await doctor(installation(projects))).line('projects file');
    expect(await said({ projects: [{ id: '1', active: false }] })).toMatch(
      /^doubtful .* has 1 project, 0 active; every view is refused\. viewlog activate ID --projects \S+projects\.json$/,
    );
    expect(await said({ projects: [{ id: '1' }] })).toMatch(
      /^doubtful .*, 1 active, 1 open to every site, but no operator; .* viewlog activate 1 --projects \S+projects\.json --operator /,
    );
    expect(await said({ operator: 'a@b.c', projects: [{ id: '1' }] })).toMatch(
      /^well .* 1 open to/,
    );
  });
});

describe('the collector', () => {
  it('that runs is well, ready, and not disturbed', async () => {
    const data = installation();
    const viewlog = await startWatched({ data });
    const { code, line } = await doctor(data, of(viewlog));
    expect(code).toBe(0);
    expect(line('collector')).toBe(
      `well collector: viewlog answers at ${viewlog.url}, process ${viewlog.child.pid}`,
    );
    expect(line('health')).toBe(`well health: Ready, says ${viewlog.statusUrl}/readyz`);
    expect(viewlog.stderr()).toBe('');
    expect(
      namesIn(data).filter((name) => !/^(projects|retention|viewlog\.lock)/.test(name)),
    ).toStrictEqual([]);
  });

  it('that listens elsewhere, or writes elsewhere, is doubtful', async () => {
    const data = installation();
    const viewlog = await startWatched({ data });
    expect((await doctor(data)).line('collector')).toContain(
      `No collector runs at http://127.0.0.1:${usual[0]}, but process ${viewlog.child.pid} holds the data directory; it listens elsewhere. `,
    );
    const other = await doctor(installation(), of(viewlog));
    expect(other.code).toBe(0);
    expect(other.line('collector')).toContain(
      `viewlog answers at ${viewlog.url}, but writes elsewhere; `,
    );
  });

  it('whose port somebody else has is to be mended, and what that says is not obeyed', async () => {
    const server = http.createServer((_, response) => {
      response.setHeader('Server', 'other/1.0').end('<title>Hi\u001b[2J</title>');
    });
    const port = await listening(server);
    const { code, line } = await doctor(installation(), [`--port=${port}`]);
    expect(code).toBe(78);
    expect(line('collector')).toBe(
      `to be mended collector: Somebody else answers at http://127.0.0.1:${port}: 200 from other/1.0 ("Hi\\u001b[2J"); viewlog cannot listen there. Find it with ss -ltnp and stop it, or choose another --port`,
    );
    const status = await doctor(installation(), [`--status=127.0.0.1:${port}`]);
    expect([status.code, status.line('health')]).toStrictEqual([
      78,
      expect.stringContaining(
        `Somebody else answers at http://127.0.0.1:${port}: 200 from other/1.0`,
      ),
    ]);
  });

  it('whose port has somebody who speaks no HTTP is to be mended, one that nobody has is not', async () => {
    const server = net.createServer((socket) => socket.end('220 mail\r\n'));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => void server.close());
    const { port } = server.address() as net.AddressInfo;
    const { code, line } = await doctor(installation(), [`--port=${port}`]);
    expect(code).toBe(78);
    expect(line('collector')).toContain(`Somebody else answers at http://127.0.0.1:${port}: `);
    for (const place of ['--port=1', '--port=0', '--host=no-such-host.invalid']) {
      const none = await doctor(installation(), [place]);
      expect([none.code, none.line('collector')]).toStrictEqual([
        0,
        expect.stringMatching(
          /^doubtful collector: (http.* cannot be asked: |No collector runs at )/,
        ),
      ]);
    }
  });

  it('has its token shown to nobody else', async () => {
    const asked: (string | undefined)[] = [];
    const port = await listening(
      http.createServer(({ headers }, response) => {
        asked.push(headers.authorization);
        response.end('{}');
      }),
    );
    const env = { VIEWLOG_STATUS_TOKEN: 'a token of sixteen'.replaceAll(' ', '-') };
    const { code } = await doctor(installation(), [`--status=127.0.0.1:${port}`], { env });
    expect([code, ...new Set(asked)]).toStrictEqual([78, undefined]);
    const viewlog = await startWatched({ data: installation({ projects: [] }), env });
    expect((await doctor(viewlog.data, of(viewlog), { env })).line('health')).toContain(
      'No project is active',
    );
    expect((await doctor(viewlog.data, of(viewlog))).line('health')).toMatch(/^well health: Ready/);
  });

  it('that is not ready is to be mended, with the reasons', async () => {
    const data = installation();
    const viewlog = await startWatched({ data });
    viewlog.child.kill('SIGUSR2');
    await until(async () => (await fetch(`${viewlog.statusUrl}/readyz`)).status === 503);
    const { code, line } = await doctor(data, of(viewlog));
    expect(code).toBe(78);
    expect(line('health')).toBe(
      'to be mended health: Not ready: shutting down; every view is refused. "viewlog help trouble", and journalctl -u viewlog -p warning',
    );
  });

  it('that warns of a long path has the whole of it told', async () => {
    const dir = join(tempDir(), 'd'.repeat(200));
    const data = installation(undefined, dir);
    const viewlog = await startWatched({ data });
    fs.writeFileSync(join(data, 'projects.json'), '{"projects":[{"id":1},{}]}');
    viewlog.child.kill('SIGHUP');
    await until(() => viewlog.stderr().includes('last good'));
    const { line } = await doctor(data, of(viewlog));
    expect(line('health')).toContain('/projects.json); the collector warns of it');
  });

  it('that warns of something has it told', async () => {
    const data = installation({ operator: 'a@b.c', projects: [] });
    const viewlog = await startWatched({ data });
    const { code, line } = await doctor(data, of(viewlog));
    expect(code).toBe(0);
    expect(line('health')).toMatch(
      /^doubtful health: No project is active, .*the collector warns of it/,
    );
  });

  it('whose status is off, elsewhere, or without the token it needs is doubtful', async () => {
    const data = installation();
    const viewlog = await startWatched({ data });
    const port = `--port=${viewlog.port}`;
    const said = async (...args: string[]): Promise<string> =>
      (await doctor(data, [port, ...args])).line('health');
    expect(await said('--status=off')).toMatch(/^doubtful health: --status is off; nothing tells/);
    expect(await said()).toMatch(/^doubtful health: Nobody answers at http:\/\/127\.0\.0\.1:\d+; /);
    expect(await said('--status=0.0.0.0:8081')).toMatch(
      /^doubtful health: --status 0\.0\.0\.0 is not loopback, so it needs a token: .*viewlog does not start/,
    );
  });
});

describe('a proxy', () => {
  /** What the doctor says of a collector behind it. */
  async function behind(faults: ProxyFaults, args: readonly string[] = [], target?: string) {
    const data = installation();
    const viewlog = await startWatched({ data });
    const url = await startProxy(target ?? viewlog.url, faults);
    const said = await doctor(data, [...of(viewlog), '--url', url, ...args]);
    return { ...said, url, data, viewlog };
  }

  const CORS =
    'browsers let no page send, or read the answer. Have the proxy pass OPTIONS and Origin on';

  it('that passes everything on is well, and views leave no trace', async () => {
    const { code, line, url, data, viewlog } = await behind({});
    expect(code).toBe(0);
    expect(line('url')).toBe(`well url: ${url}/view reaches viewlog`);
    expect(line('preflight')).toBe(
      'well preflight: Preflights are granted, and answers can be read',
    );
    expect(line('size')).toBe('well size: A view of 16 KiB (--max-view) reaches viewlog');
    expect(line('view')).toBe('');
    await viewlog.signal('SIGTERM');
    expect(namesIn(data).filter((name) => /^(views|refused)/.test(name))).toStrictEqual([]);
  });

  it('is tried with one real view where a project is named', async () => {
    const { code, line, viewlog } = await behind({}, ['--project=1000001']);
    expect(code).toBe(0);
    expect(line('view')).toMatch(
      /^well view: A view of project 1000001 from https:\/\/www\.example\.com is stored, which reports count as a visitor's, of page \/viewlog-doctor: \{"id":"/,
    );
    const [, id] = /\{"id":"(.*)"\}$/.exec(line('view'))!;
    expect(viewlog.lines().map((text) => JSON.parse(text) as unknown)).toStrictEqual([
      expect.objectContaining({ id, pid: 'viewlog-doctor', url: '/viewlog-doctor' }),
    ]);
    const refused = await behind({}, ['--project=7']);
    expect(refused.code).toBe(78);
    expect(refused.line('view')).toContain(
      'is refused, project-not-activated: Project 7 is not activated',
    );
  });

  it.each<[string, ProxyFaults, string, string]>([
    [
      'takes bodies of 1 KB',
      { bodyBytesMax: 1000 },
      'size',
      'A view of 16 KiB (--max-view) does not reach viewlog: 413 from bad-proxy ("413 Too Large"); large views are lost. Let the proxy take larger bodies; nginx: client_max_body_size',
    ],
    [
      'drops the CORS headers of answers',
      { drops: ['access-control-allow-origin', 'access-control-allow-credentials'] },
      'preflight',
      `Access-Control-Allow-Origin of the answer to a preflight is missing; ${CORS}`,
    ],
    [
      'adds its own CORS header',
      { adds: { 'access-control-allow-origin': '*' } },
      'preflight',
      `Access-Control-Allow-Origin of the answer to a preflight is "*"; ${CORS}`,
    ],
    [
      'strips the Origin of requests',
      { strips: ['origin'] },
      'preflight',
      `Origin does not arrive at viewlog: the answer to a preflight names none; ${CORS}`,
    ],
    [
      'answers preflights itself',
      { answers: { method: 'OPTIONS', status: 405 } },
      'preflight',
      `A preflight is not granted: 405 from bad-proxy; ${CORS}`,
    ],
    [
      'strips the Content-Type',
      { strips: ['content-type'] },
      'url',
      'which says unsupported-media-type: ',
    ],
    [
      'passes another path on',
      { path: '/' },
      'url',
      'which says not-found: There is nothing at /; views are sent to /view; views of pages do not arrive. Have the proxy pass POST, /view',
    ],
    [
      'redirects',
      { answers: { status: 308, headers: { Location: 'https://views.example.com/view' } } },
      'url',
      'does not reach viewlog: 308 from bad-proxy, a redirect to https://views.example.com/view',
    ],
    [
      'reaches nobody',
      { answers: { status: 502, text: '<html><title>502 Bad Gateway</title>' } },
      'url',
      'does not reach viewlog: 502 from bad-proxy ("502 Bad Gateway"); views of pages do not arrive. Start viewlog, and have the proxy pass POST /view on to it',
    ],
    [
      'is a web server of its own',
      { answers: { status: 200, text: '<h1>Welcome</h1>' } },
      'url',
      'does not reach viewlog: 200 from bad-proxy ("<h1>Welcome</h1>"); views of pages do not arrive. Have the proxy pass',
    ],
  ])('that %s is to be mended', async (_, faults, check, what) => {
    const { code, line } = await behind(faults);
    expect(code).toBe(78);
    expect(line(check)).toMatch(/^to be mended /);
    expect(line(check)).toContain(what);
  });

  it('that is not there, or not to be trusted, is to be mended', async () => {
    const data = installation();
    const nowhere = await doctor(data, ['--url', `http://127.0.0.1:${usual[0]}`]);
    expect(nowhere.code).toBe(78);
    expect(nowhere.line('url')).toMatch(
      /does not reach viewlog: .*ECONNREFUSED.*Start the proxy, or open/,
    );
    const unknown = await doctor(data, ['--url', 'https://views.invalid']);
    expect(unknown.line('url')).toMatch(
      /views\.invalid\/view does not reach viewlog: .*Check the name in the DNS/,
    );
    const dir = tempDir();
    const [key, cert] = [join(dir, 'key.pem'), join(dir, 'cert.pem')];
    const args = ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-subj', '/CN=127.0.0.1'];
    execFileSync('openssl', [...args, '-keyout', key, '-out', cert], { stdio: 'pipe' });
    const tls = { key: fs.readFileSync(key, 'utf8'), cert: fs.readFileSync(cert, 'utf8') };
    const { code, line } = await behind({ tls });
    expect(code).toBe(78);
    expect(line('url')).toMatch(
      /does not reach viewlog: self-signed certificate; .*Mend the proxy's certificate/,
    );
  });

  it('that takes more than the collector says so', async () => {
    const { code, line } = await behind({}, ['--max-view=20KiB']);
    expect(code).toBe(0);
    expect(line('size')).toMatch(
      /^doubtful size: A view of 20 KiB \(--max-view\) is too large for the collector/,
    );
  });
});

describe('the doctor', () => {
  it('prints the same as JSON', async () => {
    const { code, out } = await doctor(installation(null), ['--json']);
    expect(code).toBe(78);
    const { version, state, findings } = JSON.parse(out) as Record<string, unknown>;
    expect([version, state]).toStrictEqual([
      expect.stringMatching(/^\d+\.\d+\.\d+/),
      'to be mended',
    ]);
    expect(findings).toContainEqual({
      check: 'runtime',
      state: 'well',
      what: expect.any(String) as string,
    });
    expect(findings).toContainEqual({
      check: 'projects file',
      state: 'to be mended',
      what: expect.any(String) as string,
      why: expect.any(String) as string,
      todo: expect.any(String) as string,
    });
  });

  it('sends a real view only where it is told where to', async () => {
    const { code, out } = await doctor(installation(), ['--project=1000001']);
    expect([code, out]).toStrictEqual([
      64,
      'error: --project sends one real view, so it needs --url\n',
    ]);
  });

  it('looks at no files where views go to a stream', async () => {
    const data = installation();
    const args = ['doctor', '--store=nats://127.0.0.1:1', '--projects', `${data}/projects.json`];
    const said = execFileSync(
      process.execPath,
      [BUNDLE, ...args, `--port=${usual[0]}`, '--status=off'],
      { encoding: 'utf8', cwd: data, env: {} },
    );
    expect(said).toMatch(/^well +projects file: /m);
    expect(said).not.toMatch(/directory|file system|free space/);
  });

  it.each([DENO, LTS_DENO, BUN].filter(isPresent))(
    'says on $name what it may not look at, and goes on',
    async (runtime) => {
      const data = installation();
      const viewlog = await startWatched({ data });
      const args = [...of(viewlog), '--url', viewlog.url];
      const { code, line, out } = await doctor(data, args, { command: runtime.command(data) });
      expect([code, out]).toStrictEqual([0, expect.not.stringMatching(/^error|    at /m)]);
      for (const check of [
        'write and sync',
        'clock',
        'collector',
        'health',
        'url',
        'preflight',
        'size',
      ]) {
        expect(line(check)).toMatch(/^well /);
      }
      if (runtime !== BUN) {
        expect(line('file system')).toMatch(
          /^doubtful file system: It cannot be looked at: Requires read access/,
        );
        expect(line('free space')).toContain('Nothing tells the free space');
      }
      expect(namesIn(data).filter((name) => name.startsWith('.'))).toStrictEqual([]);
    },
  );
});
