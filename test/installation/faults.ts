// Faults of installations. The first words that an operator reads must name the fault, and each
// printed command must do what its sentence says. Then the fault is gone, and nothing else has
// changed.
import { execFileSync } from 'node:child_process';
import * as fs from 'node:fs';
import { createServer } from 'node:http';
import { connect } from 'node:net';
import { dirname, join } from 'node:path';
import { expect, onTestFinished } from 'vitest';
import {
  accountOf,
  type How,
  type Only,
  type Place,
  type Ran,
  ROOT,
} from '../support/installations.ts';
import { postView } from '../support/viewlog.ts';

/** A fault, and the installations that can have it. */
export interface Fault {
  readonly only?: Only;
  /** Causes the fault, follows viewlog's advice, and leaves viewlog running without the fault. */
  readonly happen: (place: Place) => Promise<void>;
  /** Why the status page doesn't say "ended" afterwards, but only that views arrive. */
  readonly unfixed?: string;
}

/** A start that fails refuses no view and has no page. */
const NOT_RUNNING = "viewlog didn't run";
const NONE_REFUSED = 'no view was refused';

const today = new Date().toISOString().slice(0, 10);
const viewsOf = ({ data }: Place): string => join(data, `views-${today}.ndjson`);

/** Returns the command that the pattern finds in a text. */
function commandIn(text: string, pattern: RegExp): string {
  const [, command] = pattern.exec(text) ?? [];
  expect(command, `no command for ${pattern} in:\n${text}`).toBeDefined();
  return command!;
}

/** Returns the command on the line below a sentence of the status page or the doctor. */
const commandBelow = (text: string, sentence: RegExp): string =>
  commandIn(text, new RegExp(`${sentence.source}[^\\n]*\\n +(.+)`));

/**
 * Pastes the command. The command may change the owner, group, mode or content of `changed` only.
 */
async function paste(
  place: Place,
  command: string,
  changed: readonly string[] = [],
  how: How = {},
): Promise<Ran> {
  const before = place.state();
  const ran = await place.paste(command, how);
  const after = place.state();
  const names = new Set(changed.map((path) => path.slice(place.dir.length + 1)));
  const expected = Object.entries(before).filter(([name]) => !names.has(name));
  expect(after, `${command}\n${ran.text}`).toMatchObject(Object.fromEntries(expected));
  for (const name of Object.keys(after).filter((one) => !(one in before || names.has(one)))) {
    const owner = fs.statSync(dirname(join(place.dir, name))).uid;
    expect(after[name], `${name}, after ${command}`).toMatch(new RegExp(`^${owner}:`));
  }
  return ran;
}

/** Pastes a command that must succeed and returns what it prints. */
async function works(
  place: Place,
  command: string,
  changed?: readonly string[],
  how?: How,
): Promise<string> {
  const { code, text } = await paste(place, command, changed, how);
  expect(code, `${command}\n${text}`).toBe(0);
  return text;
}

/** Returns the account that pastes a command for root: root itself, if there is no sudo. */
const asRoot = ({ plan, operator }: Place): How => ({ as: plan.hasSudo ? operator : ROOT });

/** Returns the account that edits the projects file: a command for root's file names no account. */
const asEditor = ({ plan }: Place): How => (plan.projects === "root's" ? { as: ROOT } : {});

/** Pastes a command that edits the projects file, which keeps its owner, group and mode. */
async function edits(place: Place, command: string): Promise<void> {
  const [before, text] = [rights(place.projects), fs.readFileSync(place.projects, 'utf8')];
  await works(place, command, [place.projects], asEditor(place));
  expect(fs.readFileSync(place.projects, 'utf8'), command).not.toBe(text);
  expect(rights(place.projects)).toBe(before);
}

/** Returns a file's owner, group and mode. */
const rights = (path: string): string => {
  const { uid, gid, mode } = fs.statSync(path);
  return `${uid}:${gid} ${(mode & 0o777).toString(8)}`;
};

/** Edits the projects file in place, as an editor does. */
const edit = ({ projects }: Place, from: RegExp | string, to: string): void =>
  fs.writeFileSync(projects, fs.readFileSync(projects, 'utf8').replace(from, to));

/** Expects a start to fail with these words. Returns the command that the doctor prints. */
async function stopsStart(place: Place, code: number, log: RegExp, check: string, fix: RegExp) {
  expect(await place.failsToStart(code)).toMatch(log);
  const { code: exit, findings } = await place.doctor();
  expect([exit, findings[0]!.state]).toStrictEqual([78, 'error']);
  // Until the errors are corrected, a start would fail.
  const starts = findings.filter(({ fix = '' }) => /tart (viewlog|the archive)\b/.test(fix));
  for (const { fix } of starts)
    expect(fix).toMatch(
      /^Correct the errors above. If one is about an option, change it in this command. Then start viewlog/,
    );
  return commandBelow(await place.finding(check), fix);
}

const GIVE_DIRECTORY = / should run viewlog, give it the directory and everything in it:\s+(.*)/;

const OWNED: Only = { account: ['service', 'person'], store: ['disk'] };
const WATCHED: Only = { status: ['on', 'token'] };

/** Sends views of an inactive project or of an unlisted id and then activates the project. */
const activated = (id: string, isListed: boolean) => async (place: Place) => {
  if (isListed) edit(place, '"name"', '"active": false, "name"');
  await place.starts();
  for (let i = 0; i < 3; i++) expect(await place.send({ p: id })).toBe(403);
  const said = await place.pageThatSays(/inactive but sending|Unlisted ids in the last 24 hours:/);
  const command = commandBelow(
    said,
    /[Tt]o count (?:it|the site under this id), activate the project/,
  );
  await edits(place, command);
  await accepted(place, { p: id });
  if (isListed) await isFixed(place);
  await replayed(place);
};

/** Expects the page to show within a minute that views arrive, and whether a problem has ended. */
export async function expectHealthy(
  place: Place,
  { unfixed }: Pick<Fault, 'unfixed'>,
): Promise<void> {
  const { findings, text } = await place.doctor(...statusOf(place));
  expect(findings.filter(({ state }) => state === 'error')).toStrictEqual([]);
  expect(text).not.toContain('Nothing answers');
  if (!place.hasPage || place.plan.role === 'archive') return;
  const ended = unfixed === undefined ? '; earlier problems have ended' : '';
  const headline = new RegExp(`^Views are arriving from .*${ended}\n`);
  const seen = async (): Promise<string> => {
    const page = await place.page();
    if (!headline.test(page)) await place.send();
    return page;
  };
  await expect.poll(seen, { timeout: 60_000, interval: 500 }).toMatch(headline);
  if (unfixed === undefined) await isFixed(place);
}

/** Waits until a view is accepted. */
async function accepted(place: Place, fields: object = {}, origin?: string): Promise<void> {
  await expect.poll(() => place.send(fields, origin), { timeout: 20_000 }).toBe(201);
}

const isFixed = (place: Place): Promise<string> =>
  place.pageThatSays(/: the problems? .*(?:ended on|have ended, the last on)/);

/** Sends the refused views again with the page's command and expects the page to say so. */
async function replayed(place: Place): Promise<void> {
  if (place.plan.store === 'stream') return;
  const said = await place.pageThatSays(/To send the views? again:/);
  const text = await works(place, commandBelow(said, /To send the views? again:/));
  const count = commandIn(text, /(\d+) sent$/m);
  await place.pageThatSays(new RegExp(`${count} .*sent again`));
}

/** Loses the projects file and restores it as viewlog says. */
async function loses(place: Place, what: string, lose: () => void): Promise<void> {
  await place.starts();
  const text = fs.readFileSync(place.projects, 'utf8');
  const rightsBefore = rights(place.projects);
  lose();
  const page = place.hasPage
    ? await place.pageThatSays(
        new RegExp(`^The projects file is ${what}(?:; views are still arriving)?\\n`),
      )
    : undefined;
  const { findings } = await place.doctor(...statusOf(place));
  expect(findings[0]).toMatchObject({ state: 'error', check: 'projects file' });
  const fixes = findings.map(({ fix = '' }) => fix).join('\n');
  expect(fixes).not.toContain('activate ID');
  if (place.plan.store === 'stream') return place.write(place.projects, text);
  const command = commandBelow(fixes, /To restore the last good list(?: \(.*\))?:/);
  if (page !== undefined) expect(commandBelow(page, /To restore it:/)).toBe(command);
  await works(place, command, [place.projects], asEditor(place));
  expect(fs.readFileSync(place.projects, 'utf8')).toBe(text);
  if (what === 'empty') expect(rights(place.projects)).toBe(rightsBefore);
  await expect.poll(() => place.finding('projects file')).toMatch(/^ok: /);
}

export const FAULTS: Readonly<Record<string, Fault>> = {
  'the projects file is missing': {
    unfixed: NOT_RUNNING,
    async happen(place) {
      fs.rmSync(place.projects);
      const said = await place.failsToStart(78);
      expect(said).toContain(`projects file "${place.projects}": it doesn't exist`);
      const command = commandIn(said, /or create the file \(replace ID .*?\): (.*)/).replace(
        'activate ID',
        'activate 1',
      );
      await works(place, command, [], asEditor(place));
      await place.starts();
      await accepted(place);
    },
  },
  'the projects file is removed': {
    unfixed: NONE_REFUSED,
    happen: (place) => loses(place, 'missing', () => fs.rmSync(place.projects)),
  },
  'the projects file is emptied': {
    unfixed: NONE_REFUSED,
    happen: (place) => loses(place, 'empty', () => fs.truncateSync(place.projects)),
  },
  'a comma is missing in the projects file': {
    unfixed: NONE_REFUSED,
    async happen(place) {
      await place.starts();
      edit(place, '"Aurora",', '"Aurora"');
      const name = `${place.projects}:6:7: `;
      if (place.hasPage) {
        const page = await place.pageThatSays(/The line:\n +"origins": \[/);
        expect(page).toMatch(/^The projects file is invalid/);
        expect(page.split('\n\n')[1]).toContain(name);
      }
      const { findings } = await place.doctor();
      expect(findings[0]).toMatchObject({ state: 'error', check: 'projects file' });
      const command = commandBelow(findings[0]!.fix!, /check it again, run:/);
      expect(await paste(place, command)).toMatchObject({
        code: 78,
        text: expect.stringContaining(name) as string,
      });
      edit(place, '"Aurora"', '"Aurora",');
      expect(await place.finding('projects file')).toMatch(/^ok: /);
    },
  },
  'an id is a number when viewlog starts': {
    unfixed: NOT_RUNNING,
    async happen(place) {
      edit(place, '"1"', '1');
      const fault = /projects\[0\]\.id must be a string .* found 1/;
      const command = await stopsStart(place, 78, fault, 'projects file', /check it again, run:/);
      expect((await paste(place, command)).text).toMatch(fault);
      edit(place, '"id": 1', '"id": "1"');
      await place.starts();
    },
  },
  "viewlog can't read its projects file": {
    unfixed: NOT_RUNNING,
    only: { ...OWNED, projects: ['inside'] },
    async happen(place) {
      const running = await place.starts();
      const take = (): void => {
        fs.chownSync(place.projects, 0, 0);
        fs.chmodSync(place.projects, 0o600);
      };
      take();
      const denied = await place.viewlog(['check', ...place.files]);
      expect(denied.code).toBe(78);
      const opens = commandIn(denied.text, /permission denied; run(?: as root)?: (.*)/);
      await works(place, opens, [place.projects], asRoot(place));
      expect((await place.viewlog(['check', ...place.files])).text).toContain('1 project');
      take();
      const added = await place.viewlog(['activate', '2', ...place.files], ROOT);
      const again = commandIn(added.text, /warning: .* can't read .*; run: (.*)/);
      await works(place, again, [place.projects], asRoot(place));
      expect((await place.viewlog(['check', ...place.files])).text).toContain('2 projects');
      take();
      if (place.hasPage) {
        const said = await place.pageThatSays(/^The projects file is unreadable/);
        const grants = commandBelow(said, /To correct this, let .* read the file:/);
        await works(place, grants, [place.projects], asRoot(place));
        await place.pageThatSays(/^(?!.*permission denied)/s);
        take();
      }
      await running.stop();
      const command = await stopsStart(
        place,
        78,
        /projects\.json": permission denied/,
        'permissions',
        /Give the account access:/,
      );
      await works(place, command, [place.projects], asRoot(place));
      expect(rights(place.projects)).toBe(`0:${place.account.gid} 640`);
      await place.starts();
    },
  },
  "the projects file is hardened, which isn't a fault": {
    unfixed: NONE_REFUSED,
    only: { ...OWNED, projects: ['inside', "root's"] },
    async happen(place) {
      fs.chownSync(place.projects, 0, place.account.gid);
      await place.starts();
      const { code, text, findings } = await place.doctor();
      expect([code, findings.filter(({ check }) => check === 'permissions')]).toStrictEqual([
        0,
        [],
      ]);
      expect(text).not.toMatch(/chown|chgrp|chmod/);
      // For a user with fewer rights, the doctor reports no error either.
      const otherUser = accountOf(place.plan.account === 'service' ? 'person' : 'service');
      const denied = await place.viewlog(['doctor', ...place.files], otherUser);
      expect([denied.code, denied.text]).toStrictEqual([0, expect.not.stringMatching(/^error/m)]);
      const command = commandBelow(denied.text, /Run the doctor as [^:]+:/);
      expect(await works(place, command, [], asRoot(place))).toContain(place.address);
    },
  },
  'the data directory is missing': {
    unfixed: NOT_RUNNING,
    // A projects file elsewhere shows the account; without it, the command would create one.
    only: { ...OWNED, projects: ['elsewhere'] },
    async happen(place) {
      fs.rmSync(place.data, { recursive: true });
      expect(await place.failsToStart(73)).toContain(place.data);
      const command = commandBelow(await place.finding('data directory'), /isn't allowed to, run:/);
      await works(place, command, [place.data], asRoot(place));
      expect(rights(place.data)).toBe(`${place.account.uid}:${place.account.gid} 750`);
      await place.starts();
    },
  },
  'root owns the data directory, and later its files too': {
    unfixed: NONE_REFUSED,
    // The doctor sees less when a person runs it. Deno lacks the permission to reveal its account.
    only: { account: ['service'], store: ['disk'], start: ['Node', 'Bun', 'unit file'] },
    async happen(place) {
      const { data, account } = place;
      await (await place.starts()).stop();
      fs.chownSync(data, 0, 0);
      fs.chmodSync(data, 0o755);
      const asked = commandIn(
        await place.failsToStart(73),
        /viewlog\.lock": .*; to find the cause, run(?: as root)?: (.*)/,
      );
      const { text } = await paste(place, asked, [], asRoot(place));
      const given = commandIn(text, GIVE_DIRECTORY);
      const { code } = await place.doctor();
      expect(code).toBe(78);
      expect(await place.finding('user')).toMatch(/^error: .* root and has mode /);
      expect(commandIn(await place.finding('user'), GIVE_DIRECTORY)).toBe(given);
      const all = [data, ...fs.readdirSync(data).map((name) => join(data, name))];
      await works(place, given, all, asRoot(place));
      fs.chmodSync(data, 0o750);
      expect(await place.finding('user')).toMatch(/^ok: /);
      const lastStart = join(data, 'last-start.json');
      fs.rmSync(lastStart, { force: true });
      const running = await place.starts();
      await expect.poll(() => fs.existsSync(lastStart)).toBe(true);
      const paths: string[] = [];
      const takeOver = (): void => {
        paths.splice(0, Infinity, data, ...fs.readdirSync(data).map((name) => join(data, name)));
        for (const path of paths) fs.lchownSync(path, 0, 0);
      };
      const giveBack = async (said: string): Promise<void> => {
        const command = commandIn(
          said.replaceAll(/\n +/g, ' '),
          /the owner of the directory and of [^:]*: (.*)/,
        );
        await works(place, command, paths, asRoot(place));
        expect(paths.map((path) => fs.lstatSync(path).uid)).not.toContain(0);
      };
      takeOver();
      if (place.hasPage) {
        const said = await place.pageThatSays(/^The data directory ".*" belongs to root/m);
        const notice = said.split('\n\n')[1]!;
        expect(notice).toMatch(/^The data directory ".*" belongs to root/);
        expect(said).not.toMatch(/projects file|let that account enter/);
        await giveBack(notice);
        await place.pageThatSays(/^(?![^]*The data directory ".*" belongs)/);
      }
      for (const runs of ['runs', 'last ran']) {
        takeOver();
        const { code: exit, findings, text: all } = await place.doctor();
        expect([exit, findings[0]!.check]).toStrictEqual([78, 'user']);
        expect(findings[0]!.what).toMatch(
          new RegExp(`root and .*viewlog ${runs} as ${account.name}`),
        );
        expect(all).not.toMatch(/Start viewlog|is writable|let that account enter/);
        await giveBack(findings[0]!.fix!);
        await running.stop();
      }
      await place.starts();
    },
  },
  "today's file is read-only": {
    unfixed: NOT_RUNNING,
    only: { ...OWNED, account: ['service', 'person'] },
    async happen(place) {
      place.write(viewsOf(place), '', 0o440);
      const log = /Can't open ".*views-.*" for writing: .*; run(?: as root)?: (.*)/;
      const said = await place.failsToStart(73);
      const fix = await stopsStart(place, 73, log, 'permissions', /Give the account access:/);
      expect(commandIn(said, log)).toBe(fix);
      await works(place, fix, [viewsOf(place)]);
      expect(rights(viewsOf(place))).toBe(`${place.account.uid}:${place.account.gid} 640`);
      await place.starts();
    },
  },
  "root has created today's file": {
    unfixed: NOT_RUNNING,
    only: OWNED,
    async happen(place) {
      await (await place.starts()).stop();
      const lock = join(place.data, 'viewlog.lock');
      fs.lchownSync(lock, 0, 0);
      fs.chmodSync(lock, 0o755);
      // Deno doesn't reveal its user.
      const found = /viewlog\.lock": .*; (run|let the user that runs viewlog)/;
      const joins = await stopsStart(place, 73, found, 'permissions', /Give the account access:/);
      await works(place, joins, [lock], asRoot(place));
      place.give(lock);
      const makeRoots = (path: string): void => {
        fs.writeFileSync(path, '');
        fs.chownSync(path, 0, 0);
        fs.chmodSync(path, 0o600);
      };
      makeRoots(viewsOf(place));
      const log = /Can't open ".*views-.*" for writing: .*; run(?: as root)?: /;
      const fix = await stopsStart(place, 73, log, 'permissions', /Give the account access:/);
      await works(place, fix, [viewsOf(place)], asRoot(place));
      expect(rights(viewsOf(place))).toBe(`0:${place.account.gid} 660`);
      place.give(viewsOf(place));
      const restored = join(place.data, 'views-2026-01-01.ndjson');
      makeRoots(restored);
      const reads = commandIn(await place.finding('permissions'), /can't read it\.\n.*\n +(.*)/);
      await works(place, reads, [restored], asRoot(place));
      expect(rights(restored)).toBe(`0:${place.account.gid} 640`);
      place.give(restored);
      const refused = join(place.data, `refused-${today}.ndjson`);
      fs.writeFileSync(refused, '', { mode: 0o600 });
      await place.starts();
      await accepted(place);
      if (!place.hasPage) return;
      const said = await place.pageThatSays(
        /^viewlog can't read or write ".*", a file of refused views,/m,
      );
      const replay = ['replay', refused, ...place.files, '--to', place.address];
      commandIn(
        (await place.viewlog(replay)).text,
        /permission denied; run(?: as root)?: (.*chmod g\+rw .*)/,
      );
      const opens = commandBelow(said, /To give viewlog read and write access:/);
      await works(place, opens, [refused], asRoot(place));
      await place.pageThatSays(/^(?![^]*can't read or write)/);
    },
  },
  'root has copied all files': {
    unfixed: NOT_RUNNING,
    only: OWNED,
    async happen(place) {
      const running = await place.starts();
      await accepted(place);
      expect(await place.send({ p: '99' })).toBe(403);
      await running.stop();
      const own = fs.readdirSync(place.data).filter((name) => !name.startsWith('projects.'));
      const paths = fs.readdirSync(place.data).map((name) => join(place.data, name));
      for (const path of paths) fs.lchownSync(path, 0, 0);
      const log = /Can't (read|open|use) .*; (run|let the user that runs viewlog)/;
      const code = place.plan.projects === 'inside' ? 78 : 73;
      const fix = await stopsStart(place, code, log, 'permissions', /to that account:/);
      const { findings } = await place.doctor();
      expect(findings.filter(({ check }) => check === 'permissions')).toHaveLength(1);
      await works(place, fix, paths, asRoot(place));
      for (const name of own) {
        expect(fs.lstatSync(join(place.data, name)).uid, name).toBe(place.account.uid);
      }
      await place.starts();
      await accepted(place);
      expect(await place.send({ p: '99' })).toBe(403);
      if (place.hasPage) await place.pageThatSays(/^(?![^]*can't read or write)/);
      const added = await place.viewlog(['activate', '2', ...place.files], asEditor(place).as);
      expect(added.code, added.text).toBe(0);
    },
  },
  'an old process holds the data directory': {
    unfixed: NONE_REFUSED,
    only: {
      store: ['disk'],
      start: ['Node', 'Bun', 'executable', 'npm start', 'unit file'],
      // Two processes can't listen on the same socket.
      address: ['flags', 'variables'],
    },
    async happen(place) {
      const old = await place.starts();
      const said = await place.failsToStart(73);
      expect(said).toMatch(/: process \d+, viewlog \d[^,]*, running since 20\S+, at http/);
      await works(place, commandIn(said, /or end it: (.*)/));
      await expect.poll(() => old.code, { timeout: 20_000 }).toBeDefined();
      await place.starts();
    },
  },
  'another program has the port': {
    unfixed: NOT_RUNNING,
    only: { address: ['flags', 'variables'] },
    async happen(place) {
      const other = createServer((_, answer) => void answer.end()).listen(place.port, place.host);
      onTestFinished(() => void other.close());
      expect(await place.failsToStart(69)).toContain(`${place.host}:${place.port}`);
      const said = await place.finding('collector', ...place.flags);
      expect(said).toMatch(/^error: Another program listens at/);
      const { text } = await place.paste(
        commandBelow(said, /To find the process, run:/),
        asRoot(place),
      );
      expect(text).toContain(`pid=${process.pid}`);
      other.close();
      other.closeAllConnections();
      await place.starts();
    },
  },
  "a project isn't active": { only: WATCHED, happen: activated('1', true) },
  "a project isn't listed": { only: WATCHED, happen: activated('7', false) },
  "an origin isn't listed": {
    only: WATCHED,
    async happen(place) {
      await place.starts();
      const origin = 'https://b.example';
      for (let i = 0; i < 3; i++) expect(await place.send({}, origin)).toBe(403);
      const said = await place.pageThatSays(/^Aurora: all 3 views .*began on/m);
      const add = commandBelow(said, /If it is, add it/);
      if (place.plan.account === 'service' && place.plan.projects === 'inside') {
        // Root takes the file and lets viewlog read it: from now on, only root can edit it.
        fs.chownSync(place.projects, 0, place.account.gid);
        fs.chmodSync(place.projects, 0o640);
        const now = async (): Promise<string> =>
          commandBelow(await place.page(), /If it is, add it/);
        await expect.poll(now, { timeout: 20_000 }).not.toBe(add);
        await works(place, await now(), [place.projects], { as: ROOT });
      } else {
        await edits(place, add);
      }
      await accepted(place, {}, origin);
      await isFixed(place);
      await replayed(place);
    },
  },
  'a page sends its project id as a number': {
    only: { ...WATCHED, store: ['disk'] },
    async happen(place) {
      await place.starts();
      await place.send();
      for (let i = 0; i < 2; i++) expect(await place.send({ p: 1 })).toBe(422);
      const said = await place.pageThatSays(/"p" must be a string/);
      const { code, text } = await paste(
        place,
        commandBelow(said, /To check a corrected view, change it in this command:/),
      );
      expect([code, text]).toStrictEqual([
        65,
        expect.stringMatching(/422 invalid-view[^]*"p" must/),
      ]);
    },
  },
  'a proxy cuts bodies': {
    unfixed: "smaller views don't show that the proxy lets large ones through",
    only: WATCHED,
    async happen(place) {
      await place.starts();
      // First, a proxy changes the path.
      const origin = 'https://a.example';
      expect((await postView(`${place.address}/sub`, {}, { origin })).status).toBe(404);
      const lost = await place.pageThatSays(/not found \(there is nothing at \/sub\/view\)/);
      await works(
        place,
        commandBelow(lost, /a proxy is changing the path\. To see how to configure it:/),
      );
      for (let i = 0; i < 3; i++) await sendHalf(place);
      const said = await place.pageThatSays(/^Requests without a project/m);
      expect(said).toMatch(/ended after 9 bytes[^]*nginx: client_max_body_size 80k/);
      const command = commandBelow(
        said,
        /replace the address after --url with the one that your pages post to:/,
      );
      const url = command.replace(/https:\/\/views\.example\.com/, place.address);
      expect(url).not.toBe(command);
      expect(await works(place, url)).toMatch(/ok +url: .*reaches viewlog/);
      // The page reports no problem once few of an hour's requests were refused.
      for (let i = 0; i < 40; i++) expect(await place.send()).toBe(201);
    },
  },
  'files are overdue': {
    unfixed: NONE_REFUSED,
    only: { store: ['disk'] },
    async happen(place) {
      const names = ['01', '02'].map((day) => `refused-2026-01-${day}.ndjson`);
      const old = names.map((name) => join(place.data, name));
      const kept = join(place.data, `refused-${today}.ndjson`);
      for (const path of [...old, kept]) place.write(path, '');
      await place.starts();
      const said = await place.finding('overdue files');
      expect(said).toContain('2 files are older than --keep-days or --keep-refused-days allows');
      await works(place, commandBelow(said, /remove these files now:/), old);
      expect([...old, kept].filter((path) => fs.existsSync(path))).toStrictEqual([kept]);
      expect(await place.finding('overdue files')).toBe('');
    },
  },
  'a limit is too low': {
    // Only counts in files outlive a start.
    only: { ...WATCHED, store: ['disk'], start: ['Node', 'unit file'] },
    async happen(place) {
      edit(place, '"name"', '"maxViewsPerMinute": 5, "name"');
      // viewlog knows the limit to set after a full minute.
      const early = await place.start(...clock('-3m'));
      expect(early.text).toContain('listening on');
      for (let i = 0; i < 12; i++) expect(await place.send()).toBe(i < 5 ? 201 : 429);
      await early.stop();
      await place.starts();
      const said = await place.pageThatSays(
        /The project's limit is 5 views per minute, and \d+ were sent/,
      );
      await edits(place, commandBelow(said, /raise the limit to twice that/));
      await expectHealthy(place, {});
      for (let i = 0; i < 6; i++) expect(await place.send()).toBe(201);
    },
  },
  '--min-free is more than the disk can have free': {
    only: { ...WATCHED, store: ['disk'] },
    async happen(place) {
      place.options['min-free'] = '900TiB';
      const first = await place.starts();
      expect(await place.send()).toBe(503);
      const said = await place.pageThatSays(/^Every view is refused: /);
      expect((await place.doctor()).findings[0]).toMatchObject({
        state: 'error',
        check: 'free space',
      });
      const [by, option] = place.hasVariables
        ? ['by VIEWLOG_MIN_FREE', 'VIEWLOG_MIN_FREE=']
        : ['on the command line', '--min-free '];
      expect(said).toContain(`(set ${by})`);
      place.options['min-free'] = commandIn(said, new RegExp(`viewlog with ${option}(\\d+MiB)`));
      await first.stop();
      await place.starts();
      expect(await place.send()).toBe(201);
      await place.pageThatSays(/^Views are arriving/);
    },
  },
  'the disk is full': {
    only: { ...WATCHED, store: ['disk'], projects: ['elsewhere', "root's"] },
    async happen(place) {
      const { uid, gid } = place.account;
      const options = `size=8M,mode=0750,uid=${uid},gid=${gid}`;
      execFileSync('mount', ['-t', 'tmpfs', '-o', options, 'viewlog-test', place.data]);
      onTestFinished(() => void execFileSync('umount', ['--lazy', place.data]));
      place.options['min-free'] = '2MiB';
      const old = join(place.data, 'views-2026-01-01.ndjson');
      place.write(old, 'x'.repeat(7 * 2 ** 20));
      await place.starts();
      expect(await place.send()).toBe(503);
      const said = await place.pageThatSays(/^Every view is refused: /);
      expect(said).toMatch(
        / is free, but viewlog needs .* To free at least .*, delete view files /,
      );
      expect(await works(place, commandBelow(said, /then accepts views again/))).toContain(
        'views-2026-01-01',
      );
      fs.rmSync(old);
      await accepted(place);
      await place.pageThatSays(/^Views are arriving/);
    },
  },
  'the status page has no token': {
    unfixed: NOT_RUNNING,
    only: { status: ['on'] },
    async happen(place) {
      const { statusPort, dir } = place;
      place.options['status'] = `0.0.0.0:${statusPort}`;
      const what = "0.0.0.0 isn't a loopback address, so it needs a token";
      const needed = new RegExp(`(?:--status|VIEWLOG_STATUS) ${what}; pass (--\\S+) FILE`);
      // An empty variable counts as unset.
      const { code, text } = await place.start('VIEWLOG_STATUS_TOKEN=');
      expect([code, text]).toStrictEqual([78, expect.stringMatching(needed)]);
      const { findings } = await place.doctor(...place.flags);
      expect(findings[0]).toMatchObject({ state: 'error', what: expect.stringContaining(what) });
      expect(findings[0]!.fix).toMatch(/^Pass --status-token-file FILE or set /);
      place.options[commandIn(text, needed).slice(2)] = `${dir}/token`;
      await place.starts();
    },
  },
  'nothing is wrong with an archive': {
    unfixed: NONE_REFUSED,
    only: { role: ['archive'] },
    async happen(place) {
      const { data } = place;
      await place.starts();
      const { code, findings, text } = await place.doctor();
      expect([code, text]).toStrictEqual([0, expect.stringContaining('An archive writes to')]);
      expect(findings.filter(({ state }) => state === 'error')).toStrictEqual([]);
      expect(text).not.toContain('kill ');
      expect(await place.failsToStart(73)).toContain(`An archive is writing to "${data}": process`);
    },
  },
  "root starts viewlog in another account's directory": {
    unfixed: NOT_RUNNING,
    only: { ...OWNED, address: ['flags', 'variables'] },
    async happen(place) {
      const args = ['serve', ...place.files, ...(place.hasVariables ? [] : place.flags)];
      fs.chmodSync(place.dir, 0o700);
      const closed = await place.viewlog(args, ROOT, place.env);
      // If sudo is installed, Deno has no permission to look at the directory: see `Place.program`.
      const isSeen = place.plan.start !== 'Deno' || !place.plan.hasSudo;
      const isInside = isSeen && place.program.some((word) => word.startsWith(place.dir));
      const reason = `user ${place.account.name} can't enter "${place.dir}", where "`;
      expect(closed.text).toContain(isInside ? reason : 'run the command as');
      fs.chmodSync(place.dir, 0o755);
      const { code, text } = await place.viewlog(args, ROOT, place.env);
      expect([code, text]).toStrictEqual([73, expect.stringContaining('run there as root')]);
      const command = commandIn(text, /run the command as [^:]+: (.*)/);
      const how = { ...asRoot(place), words: place.hasPage ? /Status page on/ : /listening on/ };
      const ran = await paste(place, command, [], how);
      expect(ran.text).toContain(`listening on ${place.address}`);
      expect(ran.text.includes('Status page on')).toBe(place.hasPage);
    },
  },
  'another account edits the projects file': {
    unfixed: NOT_RUNNING,
    only: { account: ['root', 'service'], store: ['disk'], projects: ['inside', 'elsewhere'] },
    async happen(place) {
      fs.chmodSync(dirname(place.projects), 0o777);
      fs.chmodSync(place.projects, 0o666);
      const [before, own] = [place.state(), rights(place.projects)];
      const args = ['activate', '2', '--name', "Jo's", '--data', place.data];
      const files = ['--projects', place.projects];
      const { code, text } = await place.viewlog([...args, ...files], accountOf('person'));
      expect([code, place.state()], text).toStrictEqual([73, before]);
      const command = commandIn(text, /run the command as [^:]+: (.*)/);
      const pasted = await paste(place, command, [place.projects], asRoot(place));
      expect([pasted.code, rights(place.projects)], pasted.text).toStrictEqual([0, own]);
      expect(fs.readFileSync(place.projects, 'utf8')).toContain("Jo's");
      await place.starts();
    },
  },
  'a site is new': {
    unfixed: NONE_REFUSED,
    only: { store: ['disk'] },
    async happen(place) {
      const service = await place.starts();
      const own = rights(place.projects);
      const files = ['--data', place.data, '--projects', place.projects];
      const args = ['activate', '7', '--origin', 'https://b.example', ...files];
      const as = place.plan.account === 'person' ? place.account : ROOT;
      const { code, text } = await place.viewlog(args, as);
      if (place.plan.account === 'person' && place.plan.projects === "root's") {
        expect([code, text]).toStrictEqual([
          73,
          expect.stringContaining('run the command as root: '),
        ]);
        return;
      }
      expect([code, rights(place.projects)], text).toStrictEqual([0, own]);
      const script = await works(place, commandIn(text, /^ {2}(.* snippet 7 .*)$/m));
      expect(script).toContain('https://b.example/view');
      const curl = commandIn(text, /^ {2}(curl .*)$/m);
      const logged = (): string => service.text;
      await expect.poll(logged, { timeout: 20_000 }).toMatch(/Projects file .*: 2 projects/);
      expect((await place.paste(`${curl} -sS`)).text).toContain('{"id":"');
    },
  },
  "an option differs from the running collector's": {
    unfixed: NONE_REFUSED,
    only: { store: ['disk'] },
    async happen(place) {
      await place.starts();
      const said = await place.finding('settings', '--max-view', '32KiB');
      expect(said).toContain('runs with --max-view 16KiB (not 32KiB)');
    },
  },
  'views are too large': {
    only: { ...WATCHED, store: ['disk'] },
    async happen(place) {
      const first = await place.starts();
      expect(await place.send({ pn: 'x'.repeat(20_000) })).toBe(413);
      const said = await place.pageThatSays(/start viewlog with --max-view/);
      place.options['max-view'] = commandIn(said, /start viewlog with --max-view (\d+KiB)\./);
      await first.stop();
      await place.starts();
      expect(await place.send({ pn: 'x'.repeat(20_000) })).toBe(201);
    },
  },
  "the account can't enter a directory above the data directory": {
    unfixed: NOT_RUNNING,
    // Deno lacks the permission to reveal its account.
    only: { ...OWNED, start: ['Node', 'Bun', 'executable', 'unit file'] },
    async happen(place) {
      const { data, files, account } = place;
      fs.chmodSync(dirname(data), 0o700);
      const closed = new RegExp(`user ${account.name} (?:can't )?enter "${dirname(data)}"`, 'i');
      const exit = place.plan.projects === 'inside' ? 78 : 73;
      expect(await place.failsToStart(exit)).toMatch(closed);
      const args = ['doctor', '--json', ...files];
      const { code, text } = await place.viewlog(args, ROOT);
      expect([code, text.replaceAll('\\"', '"')]).toStrictEqual([
        78,
        expect.stringMatching(closed),
      ]);
      const unit = await place.viewlog(['example', 'systemd', ...files], ROOT);
      expect(unit.code).toBe(64);
      if (place.plan.start === 'unit file') expect(unit.text).toMatch(closed);
      fs.chmodSync(dirname(data), 0o755);
      await place.starts();
    },
  },
  'no project is active': {
    async happen(place) {
      edit(place, '"name"', '"active": false, "name"');
      await place.starts();
      expect(await place.send()).toBe(403);
      const said = await place.finding('projects file', ...statusOf(place));
      expect(said).toMatch(/^warning: .*every view is refused/);
      await edits(place, commandBelow(said, /Activate a project:/));
      await accepted(place);
      expect(await place.finding('projects file', ...statusOf(place))).toMatch(/^ok: /);
    },
  },
  'an old process hangs': {
    unfixed: NONE_REFUSED,
    only: {
      store: ['disk'],
      start: ['Node', 'Bun', 'unit file'],
      projects: ['inside'],
      // Two processes can't listen on the same socket.
      address: ['flags', 'variables'],
    },
    async happen(place) {
      const old = await place.starts();
      old.signal('SIGSTOP');
      const said = await place.failsToStart(73);
      const find = commandIn(said, /to find it: (.*)/);
      const { text } = await place.paste(find, asRoot(place));
      expect(text).toMatch(/viewlog\.lock.*pid=\d+/);
      expect(await place.finding('lock')).toContain(`process id (PID), run:\n  ${find}`);
      old.signal('SIGCONT');
    },
  },
  "viewlog doesn't run": {
    unfixed: NOT_RUNNING,
    only: { role: ['collector', 'archive'], store: ['disk'], address: ['flags', 'variables'] },
    async happen(place) {
      await (await place.starts()).stop();
      const said = await place.finding('collector');
      const listens = place.plan.role === 'archive' ? /archiving stream "/ : /listening on/;
      const ran = await paste(place, commandBelow(said, /Start (?:viewlog|the archive):/), [], {
        words: listens,
      });
      expect(ran.text).toMatch(listens);
      if (place.plan.role === 'collector') expect(ran.text).toContain(place.address);
      await ran.stop();
      await place.starts();
    },
  },
};

/** The doctor can find a collector with a stream only by its status page. */
const statusOf = ({ plan, flags }: Place): string[] => (plan.store === 'stream' ? flags : []);

/**
 * Returns the variables that make a process see a different time. Its timeouts still use the real
 * clock.
 */
const clock = (offset: string): string[] => {
  const libraries = fs
    .readdirSync('/usr/lib')
    .map((name) => `/usr/lib/${name}/faketime/libfaketime.so.1`);
  const library = libraries.find((path) => fs.existsSync(path));
  return [`LD_PRELOAD=${library}`, `FAKETIME=${offset}`, 'FAKETIME_DONT_FAKE_MONOTONIC=1'];
};

/** Sends a request whose body ends early, as a proxy with a limit passes it on. */
async function sendHalf({ host, port }: Place): Promise<void> {
  const socket = connect(port, host);
  const head = 'POST /view HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n';
  socket.end(`${head}Content-Length: 9\r\nConnection: close\r\n\r\n{"p":"1",`);
  for await (const _ of socket);
}
