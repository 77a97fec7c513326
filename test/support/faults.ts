import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { bundle } from './bundle.ts';
import { startChild } from './child.ts';
import { startLoad } from './load.ts';
import { NODE, type Runtime } from './runtimes.ts';
import { erringDisk, hangingDisk, remount, smallDisk } from './small-disk.ts';
import { MINIMAL_VIEW } from './views.ts';
import { dataDirectory, run, startViewlog, until, type Viewlog } from './viewlog.ts';

// Faults of a real collector. Each function takes its random numbers, so that the soak can repeat it
// for hours, and returns figures about what it did.

export type Figures = Record<string, number>;

/** Returns the same random numbers for the same seed (mulberry32). */
export function randomFrom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = state;
    t = Math.imul(t ^ (t >>> 15), t | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296;
  };
}

const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** Returns the view files by name. */
function viewFiles(data: string): Map<string, Buffer> {
  const names = readdirSync(data).filter((name) => /^views-.*\.ndjson$/.test(name));
  return new Map(names.toSorted().map((name) => [name, readFileSync(join(data, name))]));
}

/** Expects that no earlier byte has changed, and that no file has shrunk. */
function expectGrown(before: Map<string, Buffer>, after: Map<string, Buffer>): void {
  for (const [name, bytes] of before) {
    expect(after.get(name)?.subarray(0, bytes.length).equals(bytes)).toBe(true);
  }
}

/**
 * Expects a line for every acknowledgement, only whole views of the file's day except for one
 * fragment per crash, and ascending ids. Returns the ids of the lines.
 */
function expectWhole(
  data: string,
  acknowledged: readonly string[],
  fragmentsMax: number,
): Set<string> {
  const ids = new Set<string>();
  let fragments = 0;
  for (const [name, bytes] of viewFiles(data)) {
    const lines = bytes.toString().split('\n');
    expect(lines.pop()).toBe('');
    let last = '';
    for (const line of lines) {
      const view = parsed(line);
      if (view === undefined) {
        fragments += 1;
        continue;
      }
      expect(name).toBe(`views-${view.ts.slice(0, 10)}.ndjson`);
      expect(view.id > last).toBe(true);
      last = view.id;
      ids.add(view.id);
    }
  }
  expect(fragments).toBeLessThanOrEqual(fragmentsMax);
  expect(acknowledged.filter((id) => !ids.has(id))).toStrictEqual([]);
  expect(new Set(acknowledged).size).toBe(acknowledged.length);
  return ids;
}

function parsed(line: string): { ts: string; id: string } | undefined {
  try {
    return JSON.parse(line) as { ts: string; id: string };
  } catch {
    return undefined;
  }
}

/** Kills the collector under load, again and again, on the same directory. */
export async function killRepeatedly(
  runtime: Runtime,
  random: () => number,
  kills: number,
): Promise<Figures> {
  const data = dataDirectory();
  const acknowledged: string[] = [];
  let before = viewFiles(data);
  for (let kill = 1; kill <= kills; kill++) {
    const viewlog = await startViewlog({ runtime, data });
    const load = startLoad(viewlog.url, 1 + Math.floor(random() * 64));
    await until(() => load.told.acknowledged.length > 0);
    await sleep(random() * 400);
    await viewlog.signal('SIGKILL');
    await load.stop();
    acknowledged.push(...load.told.acknowledged);
    const after = viewFiles(data);
    expectGrown(before, after);
    before = after;
  }
  // The next start seals the fragment that the last kill left.
  const viewlog = await startViewlog({ runtime, data });
  await viewlog.signal('SIGTERM');
  expectGrown(before, viewFiles(data));
  const stored = expectWhole(data, acknowledged, kills);
  return { kills, acknowledged: acknowledged.length, stored: stored.size, lost: 0 };
}

const DISK_BYTES = 1024 * 1024;

/** Returns a data directory on a file system of its own, small enough to be filled. */
function onSmallDisk(): { data: string; free: () => void; args: string[] } {
  const data = smallDisk(DISK_BYTES);
  const projects = join(data, 'projects.json');
  writeFileSync(projects, JSON.stringify({ projects: [{ id: '1000001' }] }));
  writeFileSync(join(data, 'ballast'), Buffer.alloc(DISK_BYTES / 4));
  return {
    data,
    free: () => rmSync(join(data, 'ballast'), { force: true }),
    args: ['--min-free', '0', '--max-refused', '0'],
  };
}

async function fill(viewlog: Viewlog, clients: number): Promise<string[]> {
  const load = startLoad(viewlog.url, clients);
  await until(() => load.told.refused.has('storage-unavailable'));
  await sleep(300);
  await load.stop();
  expect([...load.told.refused.keys()]).toStrictEqual(['storage-unavailable']);
  return load.told.acknowledged;
}

/** Waits until views are accepted again, but sends too few to fill the disk once more. */
async function resume(viewlog: Viewlog): Promise<string[]> {
  await until(async () => (await viewlog.post(MINIMAL_VIEW)).status === 201);
  const load = startLoad(viewlog.url, 8, 100);
  await load.ended;
  await load.stop();
  expect(load.told.acknowledged).toHaveLength(100);
  return load.told.acknowledged;
}

/** Fills the disk and frees space: the collector continues by itself. */
export async function fillAndFree(runtime: Runtime, random: () => number): Promise<Figures> {
  const disk = onSmallDisk();
  const viewlog = await startViewlog({ runtime, data: disk.data, args: disk.args });
  const acknowledged = await fill(viewlog, 1 + Math.floor(random() * 64));
  const full = viewFiles(disk.data);
  expect(viewlog.stderr().match(/^error: .*refusing views/gm)).toHaveLength(1);
  disk.free();
  acknowledged.push(...(await resume(viewlog)));
  expect(viewlog.stdout().match(/^Writing to .* again$/gm)).toHaveLength(1);
  const { code } = await viewlog.signal('SIGTERM');
  expect(code).toBe(0);
  expectGrown(full, viewFiles(disk.data));
  const stored = expectWhole(disk.data, acknowledged, 0);
  return { acknowledged: acknowledged.length, stored: stored.size, lost: 0 };
}

/** Fills the disk, ends the collector by kill or SIGTERM, and starts another on the full disk. */
export async function fillAndEnd(
  runtime: Runtime,
  random: () => number,
  signal: 'SIGKILL' | 'SIGTERM',
): Promise<Figures> {
  const disk = onSmallDisk();
  const first = await startViewlog({ runtime, data: disk.data, args: disk.args });
  const acknowledged = await fill(first, 1 + Math.floor(random() * 64));
  const full = viewFiles(disk.data);
  const isTorn = [...full.values()].some((bytes) => bytes.length > 0 && bytes.at(-1) !== 0x0a);
  const { code, stderr } = await first.signal(signal);
  if (signal === 'SIGTERM') {
    expect(code).toBe(isTorn ? 74 : 0);
    if (isTorn) expect(stderr).toMatch(/half a line/);
  }
  // On the full disk it starts, and refuses.
  const second = await startViewlog({ runtime, data: disk.data, args: disk.args });
  const refused = await second.post(
    '{"p":"1000001","pid":"x","url":"/","ld":"2026-01-31T12:00:00.000Z"}',
  );
  if (isTorn) expect(refused.status).toBe(503);
  await refused.arrayBuffer();
  disk.free();
  acknowledged.push(...(await resume(second)));
  expect((await second.signal('SIGTERM')).code).toBe(0);
  expectGrown(full, viewFiles(disk.data));
  const stored = expectWhole(disk.data, acknowledged, 1);
  return { acknowledged: acknowledged.length, stored: stored.size, lost: 0 };
}

/** Fills the disk with refused views too: accepted ones are stored as before. */
export async function fillWithRefused(runtime: Runtime, random: () => number): Promise<Figures> {
  const disk = onSmallDisk();
  const args = ['--min-free', '0'];
  const viewlog = await startViewlog({ runtime, data: disk.data, args });
  let isStopped = false;
  const sendRefused = async (): Promise<void> => {
    while (!isStopped) {
      const answer = await viewlog.post({ ...MINIMAL_VIEW, pn: 'ü'.repeat(500), more: 1 });
      expect(answer.status).toBe(422);
      await answer.arrayBuffer();
    }
  };
  const sending = [sendRefused(), sendRefused()];
  const acknowledged = await fill(viewlog, 1 + Math.floor(random() * 16));
  await until(() => viewlog.stderr().includes('Cannot keep refused views in'));
  isStopped = true;
  await Promise.all(sending);
  const kept = viewlog.refusedLines();
  disk.free();
  acknowledged.push(...(await resume(viewlog)));
  const more = await viewlog.post({ ...MINIMAL_VIEW, more: 2 });
  expect(more.status).toBe(422);
  await until(() => viewlog.refusedLines().some((line) => line.includes('"more":2')));
  expect((await viewlog.signal('SIGTERM')).code).toBe(0);
  const stored = expectWhole(disk.data, acknowledged, 0);
  const refused = viewlog.refusedLines();
  expect(refused.slice(0, kept.length)).toStrictEqual(kept);
  const ids = refused.map((line) => (JSON.parse(line) as { id: string }).id);
  expect(ids).toStrictEqual([...new Set(ids)].toSorted());
  return { acknowledged: acknowledged.length, stored: stored.size, kept: ids.length, lost: 0 };
}

/** Remounts the disk read-only before a file exists: views are refused until it is writable. */
export async function remountReadOnly(runtime: Runtime): Promise<Figures> {
  const { data, args } = onSmallDisk();
  const viewlog = await startViewlog({ runtime, data, args });
  remount(data, 'ro');
  expect((await viewlog.post(MINIMAL_VIEW)).status).toBe(503);
  expect(viewlog.stderr()).toMatch(/^error: .*; mount the file system read-write.*refusing views/m);
  remount(data, 'rw');
  const acknowledged = await resume(viewlog);
  expect((await viewlog.signal('SIGTERM')).code).toBe(0);
  const stored = expectWhole(data, acknowledged, 0);
  return { acknowledged: acknowledged.length, stored: stored.size, lost: 0 };
}

/** Lets the kernel find a disk error under load and make the disk read-only: viewlog says so. */
export async function errOnDisk(runtime: Runtime): Promise<Figures> {
  const disk = erringDisk();
  const projects = JSON.stringify({ projects: [{ id: '1000001' }] });
  writeFileSync(join(disk.dir, 'projects.json'), projects, { flush: true });
  const viewlog = await startViewlog({ runtime, data: disk.dir, args: ['--min-free', '0'] });
  const load = startLoad(viewlog.url, 16);
  await until(() => load.told.acknowledged.length > 50);
  // Later acknowledgements are not checked: a sync that meets the error may succeed although its
  // transaction has failed, for any program (ext4 of Linux 6.18).
  const acknowledged = [...load.told.acknowledged];
  disk.err();
  const { code, stderr } = await viewlog.ended;
  await load.stop();
  expect(code).toBe(74);
  expect(stderr).toMatch(/^error: Cannot (write|sync) "\S+": .*; check the disk, then start/m);
  const again = await run(['serve', '--port', '0'], { runtime, data: disk.dir });
  expect(again.code).toBe(73);
  expect(again.stderr).toMatch(/^error: Cannot open "\S+viewlog\.lock" for writing: /m);
  disk.remount();
  const mended = await startViewlog({ runtime, data: disk.dir, args: ['--min-free', '0'] });
  expect((await mended.signal('SIGTERM')).code).toBe(0);
  const stored = expectWhole(disk.dir, acknowledged, 1);
  return { acknowledged: acknowledged.length, stored: stored.size, lost: 0 };
}

/** Sends a second signal while the collector stops under load, again and again. */
export async function stopTwice(
  runtime: Runtime,
  random: () => number,
  stops: number,
): Promise<Figures> {
  const data = dataDirectory();
  const acknowledged: string[] = [];
  const codes = { stopped: 0, ended: 0 };
  for (let stop = 0; stop < stops; stop++) {
    const viewlog = await startViewlog({ runtime, data });
    const load = startLoad(viewlog.url, 1 + Math.floor(random() * 64));
    await until(() => load.told.acknowledged.length > 50);
    viewlog.child.kill('SIGTERM');
    await sleep(random() * 30);
    const { code, stderr } = await viewlog.signal(random() < 0.5 ? 'SIGTERM' : 'SIGINT');
    await load.stop();
    // The system delivers two pending signals in any order. One that comes late ends the process.
    expect([0, 143, 130, null]).toContain(code);
    expect(stderr).not.toMatch(/error/i);
    if (code === 0) codes.stopped += 1;
    else codes.ended += 1;
    acknowledged.push(...load.told.acknowledged);
  }
  const viewlog = await startViewlog({ runtime, data });
  await viewlog.signal('SIGTERM');
  const stored = expectWhole(data, acknowledged, codes.ended);
  return { ...codes, acknowledged: acknowledged.length, stored: stored.size, lost: 0 };
}

/** Sends a second signal while the last write hangs: the collector ends when the disk answers. */
export async function stopTwiceHanging(runtime: Runtime): Promise<Figures> {
  const disk = hangingDisk();
  writeFileSync(join(disk.dir, 'projects.json'), JSON.stringify({ projects: [{ id: '1000001' }] }));
  const viewlog = await startViewlog({ runtime, data: disk.dir, args: ['--min-free', '0'] });
  const load = startLoad(viewlog.url, 8);
  await until(() => load.told.acknowledged.length > 50);
  disk.hang();
  try {
    await sleep(200);
    viewlog.child.kill('SIGTERM');
    await until(() => viewlog.stdout().includes('viewlog stopping'));
    viewlog.child.kill('SIGTERM');
    await sleep(200);
  } finally {
    disk.goOn();
  }
  const { code, stderr } = await viewlog.ended;
  await load.stop();
  expect([code, stderr.replace(/^warning: .*\n/gm, '')]).toStrictEqual([143, '']);
  const next = await startViewlog({ runtime, data: disk.dir, args: ['--min-free', '0'] });
  expect((await next.signal('SIGTERM')).code).toBe(0);
  const { acknowledged } = load.told;
  const stored = expectWhole(disk.dir, acknowledged, 1);
  return { acknowledged: acknowledged.length, stored: stored.size, lost: 0 };
}

/** Makes the disk hang: views get 503 after 10 seconds, and later are accepted again. */
export async function hangDisk(runtime: Runtime): Promise<Figures> {
  const disk = hangingDisk();
  writeFileSync(join(disk.dir, 'projects.json'), JSON.stringify({ projects: [{ id: '1000001' }] }));
  const args = ['--min-free', '0', '--status', '127.0.0.1:0'];
  const viewlog = await startViewlog({ runtime, data: disk.dir, args });
  const status = await until(() => /status page on (\S+)\n/.exec(viewlog.stdout())?.[1]);
  const isReady = async (): Promise<boolean> => (await fetch(`${status}readyz`)).ok;
  const acknowledged = [await acknowledgedId(viewlog)];
  disk.hang();
  try {
    const [first, second] = await Promise.all([
      viewlog.post(MINIMAL_VIEW),
      viewlog.post(MINIMAL_VIEW),
    ]);
    expect([first.status, second.status]).toStrictEqual([503, 503]);
    expect(await first.json()).toMatchObject({ code: 'storage-unavailable' });
    expect(await isReady()).toBe(false);
    expect((await viewlog.post(MINIMAL_VIEW)).status).toBe(503);
  } finally {
    disk.goOn();
  }
  await until(isReady);
  acknowledged.push(await acknowledgedId(viewlog));
  expect((await viewlog.signal('SIGTERM')).code).toBe(0);
  const stored = expectWhole(disk.dir, acknowledged, 0);
  return { acknowledged: acknowledged.length, stored: stored.size, lost: 0 };
}

async function acknowledgedId(viewlog: Viewlog): Promise<string> {
  const answer = await viewlog.post(MINIMAL_VIEW);
  expect(answer.status).toBe(201);
  return ((await answer.json()) as { id: string }).id;
}

/** Puts the moved file's lines before those of the file that replaced it. */
function putBefore(moved: string, path: string): void {
  const second = `${path}.second`;
  renameSync(path, second);
  writeFileSync(path, Buffer.concat([readFileSync(moved), readFileSync(second)]));
}

/** Moves, removes or empties the file that is being written, under load. */
export async function disturbFile(runtime: Runtime, random: () => number): Promise<Figures> {
  const data = dataDirectory();
  const viewlog = await startViewlog({ runtime, data });
  const load = startLoad(viewlog.url, 1 + Math.floor(random() * 16));
  await until(() => load.told.acknowledged.length > 50);
  const [name] = [...viewFiles(data).keys()];
  const moved = join(data, 'moved-away');
  renameSync(join(data, name!), moved);
  await until(() => viewFiles(data).has(name!));
  await sleep(random() * 300);
  await load.stop();
  await viewlog.signal('SIGTERM');
  expect(`${viewlog.stdout()}${viewlog.stderr()}`).toContain(name!);
  putBefore(moved, join(data, name!));
  const stored = expectWhole(data, load.told.acknowledged, 0);
  return { acknowledged: load.told.acknowledged.length, stored: stored.size, lost: 0 };
}

/** Returns the days that the clock may show before a test is over. */
const daysNow = (): string[] =>
  [0, 1].map((days) => new Date(Date.now() + days * 86_400_000).toISOString().slice(0, 10));

const REFUSED_VIEW = { ...MINIMAL_VIEW, p: '9' };

/**
 * Puts something that is not a file in the files' place, before the start and again under load. No
 * view is acknowledged unless it is in a file, and the collector continues by itself.
 * @param make creates it at the path.
 */
export async function standInTheWay(
  runtime: Runtime,
  make: (path: string) => void,
): Promise<Figures> {
  const data = dataDirectory();
  const paths = (kind: string): string[] =>
    daysNow().map((day) => join(data, `${kind}-${day}.ndjson`));
  const all = [...paths('views'), ...paths('refused')];
  for (const path of all) make(path);
  const viewlog = await startViewlog({ runtime, data });
  const refused = await viewlog.post(MINIMAL_VIEW);
  expect([refused.status, await refused.json()]).toMatchObject([
    503,
    { code: 'storage-unavailable' },
  ]);
  expect((await viewlog.post(REFUSED_VIEW)).status).toBe(403);
  await until(() => /Cannot keep refused views in .*move it away/.test(viewlog.stderr()));
  for (const path of all) rmSync(path, { recursive: true });
  await until(async () => (await viewlog.post(MINIMAL_VIEW)).status === 201);
  await viewlog.post(REFUSED_VIEW);
  await until(() => viewlog.refusedLines().length === 1);

  const load = startLoad(viewlog.url, 4);
  await until(() => load.told.acknowledged.length > 50);
  const path = join(data, [...viewFiles(data).keys()][0]!);
  const moved = [moveAway(path, 0)];
  for (;;) {
    try {
      make(path);
      break;
    } catch (error) {
      // The collector may have been faster, and created a new file.
      if (!existsSync(path)) throw error;
      moved.push(moveAway(path, moved.length));
    }
  }
  await until(() => load.told.refused.has('storage-unavailable'));
  rmSync(path, { recursive: true });
  const before = load.told.acknowledged.length;
  await until(() => load.told.acknowledged.length > before + 50);
  await load.stop();
  expect(viewlog.stderr().match(/^error: .*ndjson" for writing.*; move it away/gm)).toHaveLength(2);
  expect((await viewlog.signal('SIGTERM')).code).toBe(0);
  for (const older of moved.toReversed()) putBefore(older, path);
  const stored = expectWhole(data, load.told.acknowledged, 0);
  return { acknowledged: load.told.acknowledged.length, stored: stored.size, lost: 0 };
}

function moveAway(path: string, number: number): string {
  const away = `${path}.moved${number}`;
  renameSync(path, away);
  return away;
}

/** Starts several collectors at once on one directory: exactly one runs, and the others name it. */
export async function startAtOnce(runtime: Runtime, starters: number): Promise<Figures> {
  const data = dataDirectory();
  const started = await Promise.allSettled(
    Array.from({ length: starters }, () => startViewlog({ runtime, data })),
  );
  const winners = started.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []));
  expect(winners).toHaveLength(1);
  for (const one of started) {
    if (one.status === 'fulfilled') continue;
    expect(String(one.reason)).toMatch(/ended with 73/);
    expect(String(one.reason)).toContain('Another viewlog writes to');
  }
  const late = await run(['serve', '--port', '0'], { runtime, data });
  expect(late.code).toBe(73);
  expect(late.stderr).toContain(`process ${winners[0]!.child.pid}`);
  await winners[0]!.signal('SIGKILL');
  const next = await startViewlog({ runtime, data });
  await next.signal('SIGTERM');
  return { starters, winners: winners.length };
}

/** Returns the process's memory now (VmRSS) or at its peak (VmHWM), in KiB. */
const memoryKiB = (viewlog: Viewlog, field: 'VmRSS' | 'VmHWM'): number => {
  const status = readFileSync(`/proc/${viewlog.child.pid}/status`, 'utf8');
  return Number(new RegExp(`^${field}:\\s+(\\d+)`, 'm').exec(status)?.[1]);
};

const peakMiB = (viewlog: Viewlog): number => Math.round(memoryKiB(viewlog, 'VmHWM') / 1024);

/** Sends more views than the queue accepts: the collector refuses, and its memory stays bounded. */
export async function overload(
  runtime: Runtime,
  rounds: number,
  roundMs: number,
): Promise<Figures> {
  const viewlog = await startViewlog({ runtime, args: ['--max-queue', '64KiB'] });
  const told = { acknowledged: 0, overloaded: 0 };
  let firstKiB = 0;
  for (let round = 0; round < rounds; round++) {
    const load = startLoad(viewlog.url, 256);
    await sleep(roundMs);
    await load.stop();
    told.acknowledged += load.told.acknowledged.length;
    told.overloaded += load.told.refused.get('overloaded') ?? 0;
    if (round === 0) firstKiB = memoryKiB(viewlog, 'VmRSS');
  }
  const lastKiB = memoryKiB(viewlog, 'VmRSS');
  expect(viewlog.lines()).toHaveLength(told.acknowledged);
  // If refused views leaked, they would take hundreds of megabytes.
  expect(lastKiB).toBeLessThan(2 * firstKiB + 64 * 1024);
  return { ...told, firstKiB, lastKiB };
}

/**
 * Attacks in these ways, with `clients` clients each, and stops. Honest views are answered all the
 * time, memory stays bounded, and nothing acknowledged is lost. Not for Deno before 2.9.6, which
 * reads a refused body to its end.
 */
export async function withstand(
  runtime: Runtime,
  ways: readonly string[],
  {
    clients,
    ms,
    args = [],
  }: { readonly clients: number; readonly ms: number; readonly args?: readonly string[] },
): Promise<Figures> {
  const viewlog = await startViewlog({ runtime, args });
  expect((await viewlog.post(MINIMAL_VIEW)).status).toBe(201);
  const firstMiB = peakMiB(viewlog);
  const attackers = startChild([
    ...NODE.command('', bundle('attacker-process')),
    String(viewlog.port),
    String(clients),
    ...ways,
  ]);
  await attackers.next();
  const acknowledged: string[] = [];
  const figures = { honest: 0, overloaded: 0, slowestMs: 0 };
  for (const endMs = Date.now() + ms; Date.now() < endMs; await sleep(50)) {
    const sentMs = Date.now();
    const answer = await viewlog.post(MINIMAL_VIEW);
    figures.slowestMs = Math.max(figures.slowestMs, Date.now() - sentMs);
    figures.honest += 1;
    const { id } = (await answer.json()) as { id?: string };
    if (id === undefined) {
      expect([answer.status, answer.headers.get('retry-after')]).toStrictEqual([
        503,
        expect.stringMatching(/^\d+$/),
      ]);
      figures.overloaded += 1;
    } else acknowledged.push(id);
  }
  attackers.kill('SIGKILL');
  await attackers.ended;
  await sleep(2_000);
  expect((await viewlog.post(MINIMAL_VIEW)).status).toBe(201);
  const overMiB = peakMiB(viewlog) - firstMiB;
  // --max-queue is 32 MiB.
  expect(overMiB).toBeLessThan(32 + 300);
  const { code, stderr } = await viewlog.signal('SIGTERM');
  expect(code).toBe(0);
  expect(stderr.replace(/^warning: .*--min-free is off.*\n/m, '')).toBe('');
  expectWhole(viewlog.data, acknowledged, 0);
  return { ...figures, acknowledged: acknowledged.length, lost: 0, overMiB };
}

/** Lets midnight pass under load, by the clock of `faketime`. */
export async function passMidnight(runtime: Runtime, faketime: string): Promise<Figures> {
  const faked: Runtime = {
    ...runtime,
    command: (path) => [faketime, '-f', '@2026-03-31 23:59:57', ...runtime.command(path)],
  };
  const viewlog = await startViewlog({ runtime: faked, env: { TZ: 'UTC' } });
  const load = startLoad(viewlog.url, 16);
  await until(() => viewFiles(viewlog.data).size === 2);
  await sleep(300);
  await load.stop();
  execFileSync('pkill', ['-TERM', '-P', String(viewlog.child.pid)], { stdio: 'ignore' });
  await viewlog.ended;
  expect([...viewFiles(viewlog.data).keys()]).toStrictEqual([
    'views-2026-03-31.ndjson',
    'views-2026-04-01.ndjson',
  ]);
  const stored = expectWhole(viewlog.data, load.told.acknowledged, 0);
  return { acknowledged: load.told.acknowledged.length, stored: stored.size, lost: 0 };
}
