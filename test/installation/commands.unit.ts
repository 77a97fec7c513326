import { chmodSync, chownSync, writeFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { isService } from '../../src/installation/accounts.ts';
import * as commands from '../../src/installation/commands.ts';
import type { Installation } from '../../src/installation/installation.ts';
import { isRoot } from '../support/doctor.ts';
import { INSTALLATION, SERVICE } from '../support/installation.ts';
import { tempDir } from '../support/temp-dir.ts';

// Tests the text of commands. installations.world.ts pastes and runs the commands.

const of = (change: Partial<Installation>): Installation => ({ ...INSTALLATION, ...change });
const owned = of({ owners: { data: SERVICE, projects: SERVICE, editor: SERVICE } });
const flag = (text: string) => ({ text, from: 'flag' as const });
const NAMELESS = { uid: 4711, gid: 4712, name: '#4711' };
const REFUSED = 'refused-2026-01-31.ndjson';

it.each<[what: string, text: string | undefined, command: string | undefined]>([
  [
    'activate with the program and the data directory',
    '/srv/viewlog activate 7 --data /data',
    commands.activate(INSTALLATION, '7'),
  ],
  [
    "the operator's address of a removed project's entry",
    '/srv/viewlog activate 7 --data /data --operator a@b.example',
    commands.activateAsWas(INSTALLATION, { id: '7', operator: 'a@b.example' }),
  ],
  [
    "no operator's address if the file lists one",
    '/srv/viewlog activate 7 --data /data',
    commands.activateAsWas(INSTALLATION, { id: '7', operator: 'a@b.example' }, 'c@d.example'),
  ],
  [
    'quotes around text that a shell would split or expand',
    `/usr/bin/node '/srv/my view.mjs' activate 7 --data /data --origin 'https://*.example'`,
    commands.activate(of({ program: ['/usr/bin/node', '/srv/my view.mjs'] }), '7', {
      origin: 'https://*.example',
    }),
  ],
  [
    "sudo -u before a command that writes the account's files",
    'sudo -u viewlog /srv/viewlog activate 7 --data /data',
    commands.activate(owned, '7'),
  ],
  // `example` runs as an account that may read the last start and the projects file.
  [
    "sudo -u before example, which reads the account's files",
    'sudo -u viewlog /srv/viewlog example nginx --data /data',
    commands.example(owned, 'nginx'),
  ],
  [
    'runuser if root has no sudo',
    'runuser -u viewlog -- /srv/viewlog activate 7 --data /data',
    commands.activate({ ...owned, hasSudo: false }, '7'),
  ],
  [
    'setpriv for an account without a name if root has no sudo',
    'setpriv --reuid=4711 --regid=4712 --clear-groups -- /srv/viewlog check --data /data',
    commands.check({ ...of({ owners: { data: NAMELESS } }), hasSudo: false }),
  ],
  // sudo and runuser know only accounts that have a name.
  [
    'sudo setpriv for an account without a name',
    'sudo setpriv --reuid=4711 --regid=4712 --clear-groups -- /srv/viewlog check --data /data',
    commands.check(of({ owners: { data: NAMELESS } })),
  ],
  [
    'escapes for characters that a terminal would obey or hide',
    String.raw`/srv/viewlog activate 7 --data /data --name $'Jo\'s\x0a\xe2\x80\xaeb'`,
    commands.activate(INSTALLATION, '7', { name: "Jo's\n\u202eb" }),
  ],
  // With root's projects file and the service's data, each command runs as the owner of the files
  // that it writes.
  [
    "activate without sudo -u for root's projects file",
    '/srv/viewlog activate 7 --data /data --projects /etc/p.json',
    commands.activate(of({ projects: '/etc/p.json', owners: { data: SERVICE } }), '7'),
  ],
  [
    "replay as the service for the service's data",
    `sudo -u viewlog /srv/viewlog replay /data/${REFUSED} --data /data --projects /etc/p.json --to http://127.0.0.1:8080 --project 7`,
    commands.replay(of({ projects: '/etc/p.json', owners: { data: SERVICE } }), '7', [REFUSED]),
  ],
  // A stream has no data directory, and no lock that knows the address.
  [
    'activate with the projects file and the port of a collector with a stream',
    '/srv/viewlog activate 7 --projects /etc/p.json --port 9000',
    commands.activate(
      of({ data: undefined, projects: '/etc/p.json', chosen: { port: flag('9000') } }),
      '7',
    ),
  ],
  [
    'explain with the view on its stdin',
    String.raw`printf %s '{"pn":"it'\''s"}' | sudo -u viewlog /srv/viewlog explain --data /data --max-view 32KiB`,
    commands.explain({ ...owned, chosen: { 'max-view': flag('32KiB') } }, '{"pn":"it\'s"}'),
  ],
  [
    "doctor with the status token's file",
    '/srv/viewlog doctor --data /data --status-token-file /t --url https://a.example',
    commands.doctor(of({ chosen: { 'status-token-file': flag('/t') } }), {
      url: 'https://a.example',
    }),
  ],
  [
    'serve with the chosen options, one of them changed',
    'sudo -u viewlog /srv/viewlog serve --data /data --port 9000 --status off --min-free 1MiB',
    commands.start(
      { ...owned, chosen: { port: flag('9000'), status: flag('off'), 'min-free': flag('64MiB') } },
      { 'min-free': '1MiB' },
    ),
  ],
  [
    'archive with the address of its stream',
    '/srv/viewlog archive --data /data --from nats://n:4222',
    commands.start(
      of({ role: 'archive', projects: undefined, chosen: { from: flag('nats://n:4222') } }),
    ),
  ],
  [
    'no serve command if the address of the stream is a secret',
    undefined,
    commands.start(of({ data: undefined })),
  ],
  [
    'chmod as the account for its own file',
    'sudo -u viewlog chmod u+rw /data/v',
    commands.grant(SERVICE, ['/data/v'], SERVICE, 'rw'),
  ],
  [
    "chgrp and chmod as root for root's file",
    'sudo chgrp 4712 /data/v && sudo chmod g+rw /data/v',
    commands.grant(NAMELESS, ['/data/v'], { uid: 0 }, 'rw'),
  ],
  [
    'chown for a directory that goes back to its account',
    "chown -R 4711:4712 '/my data'",
    commands.giveBack(of({ data: '/my data', hasSudo: false }), NAMELESS),
  ],
  [
    "install for a data directory of the projects file's account",
    'sudo install -d -o 4711 -g 4712 -m 750 /data',
    commands.create(of({ owners: { projects: NAMELESS } })),
  ],
  // Root's projects file names no account.
  [
    'useradd and install if only root owns anything',
    'id viewlog || useradd --system --user-group --shell /usr/sbin/nologin viewlog && install -d -o viewlog -g viewlog -m 750 /data',
    commands.create(of({ owners: { projects: { uid: 0, gid: 0, name: 'root' } }, hasSudo: false })),
  ],
  [
    'rm with quotes around an odd name',
    "sudo -u viewlog rm '/data/a b'",
    commands.remove(owned, ['a b']),
  ],
  ['ls of the data directory', 'sudo -u viewlog ls -lhS /data', commands.list(owned)],
  [
    'snippet with its address',
    'sudo -u viewlog /srv/viewlog snippet 7 --data /data --url https://a.example',
    commands.snippet(owned, '7', 'https://a.example'),
  ],
  [
    'systemctl restart for a unit',
    'sudo systemctl restart viewlog.service',
    commands.restart(of({ unit: 'viewlog.service' })),
  ],
  ['no systemctl command without a unit', undefined, commands.restart(INSTALLATION)],
])('viewlog prints %s', (_, text, command) => {
  expect(command).toBe(text);
});

it('isService recognises a service by its shell, a missing entry in passwd or a system id', () => {
  const users = [
    ['root', 'x', '0', '0', '', '/root', '/bin/sh'],
    ['system', 'x', '998', '997', '', '/', '/bin/sh'],
    ['person', 'x', '1001', '1001', '', '/', '/bin/bash'],
    ['tool', 'x', '1002', '1002', '', '/', '/usr/sbin/nologin'],
    ['other', 'x', '60000', '1', '', '/', '/bin/false'],
  ];
  const services = [0, 998, 1001, 1002, 60_000, 23_456].filter((uid) => isService({ uid }, users));
  expect(services).toStrictEqual([998, 1002, 60_000, 23_456]);
});

it("instead of a command, viewlog prints what to do about a directory that the account can't enter", () => {
  const dir = tempDir();
  chmodSync(dir, 0o700);
  const program = ['/usr/bin/node', `${dir}/viewlog.mjs`];
  const why = `user #4711 can't enter "${dir}", where "${dir}/viewlog.mjs" is; let that user enter it or move "${dir}/viewlog.mjs", for example to /usr/local/bin or /var/lib`;
  const first = `first let user #4711 enter "${dir}", or move "${dir}/viewlog.mjs", for example to /usr/local/bin or /var/lib`;
  expect(commands.check(of({ program, owners: { data: NAMELESS } }))).toBe(first);
  expect(commands.runAs(NAMELESS, { program }, 'x')).toStrictEqual({ words: why });
});

it("accessFix doesn't advise opening or moving a file in the data directory", () => {
  const dir = tempDir();
  chmodSync(dir, 0o700);
  const why = `let user #4711 enter "${dir}"`;
  expect(commands.accessFix(`${dir}/projects.json`, 'r', NAMELESS)).toStrictEqual({ words: why });
});

it('accessFix creates a missing directory for the account', () => {
  const dir = tempDir();
  chmodSync(dir, 0o755);
  const { command } = commands.accessFix(`${dir}/data`, 'rw', SERVICE);
  expect(command).toMatch(new RegExp(`install -d -o viewlog -g \\S+ -m 750 ${dir}/data$`));
});

it('accessFix gives the data directory back if another account owns all of it', () => {
  const dir = tempDir();
  chmodSync(dir, 0o755);
  const file = `${dir}/projects.json`;
  writeFileSync(file, '{}');
  const fix = (data?: string, wasUsed = true) =>
    commands.accessFix(file, 'r', SERVICE, data, wasUsed).command;
  expect(fix(dir)).toMatch(new RegExp(`chown -R viewlog:\\S+ ${dir}$`));
  // The directory may be another installation's.
  expect(fix('/data')).toMatch(/chgrp \S+ \S+projects\.json/);
  chmodSync(dir, 0o700);
  expect(fix(dir)).toMatch(/chown -R/);
  expect(fix()).toBeUndefined();
  // At a start, the directory may be another installation's.
  const doctor = new RegExp(` doctor --data ${dir}$`);
  expect(fix(dir, false)).toMatch(doctor);
  expect(commands.accessFix(`${dir}/viewlog.lock`, 'rw', SERVICE).command).toMatch(doctor);
});

it.runIf(isRoot)('accessFix gives a directory back after root has copied several files', () => {
  const dir = tempDir();
  chownSync(dir, SERVICE.uid, 54_321);
  chmodSync(dir, 0o755);
  const add = (name: string): string => {
    writeFileSync(`${dir}/${name}`, '', { mode: 0o600 });
    return `${dir}/${name}`;
  };
  const [projects, views] = [add('projects.json'), add('views-2026-01-01.ndjson')];
  const fix = (path: string) => commands.accessFix(path, 'r', SERVICE, dir).command;
  // Root may own the projects file for another reason.
  expect(fix(projects)).toMatch(/chgrp \S+ \S+projects\.json/);
  const refused = add('refused-2026-01-01.ndjson');
  for (const path of [projects, views, refused]) {
    expect(fix(path)).toMatch(new RegExp(`chown -R viewlog:54321 ${dir}$`));
  }
  // Nobody knows why another account owns a file.
  chownSync(add('status.json'), 54_322, 0);
  expect(fix(views)).toMatch(/chgrp \S+ \S+views-/);
});

it('runAs runs a command as the account and keeps a variable that sudo would drop', () => {
  const printed = commands.runAs(SERVICE, { program: [] }, 'x', 'TOKEN');
  const command = 'sudo --preserve-env=TOKEN -u viewlog x';
  expect(printed).toStrictEqual({ words: 'as viewlog, with TOKEN set', command });
});

it('unknownFacts names the facts that are unknown', () => {
  expect(commands.unknownFacts(owned)).toBeUndefined();
  expect(commands.unknownFacts({ ...owned, hasSudo: undefined })).toContain('whether sudo');
  expect(commands.unknownFacts(INSTALLATION)).toContain('who owns the files');
});
