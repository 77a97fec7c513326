import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { buildSync } from 'esbuild';
import { expect } from 'vitest';
import { sleep } from '../../src/base/time.ts';
import { systemFiles } from '../../src/disk/ops.ts';
import type { Random } from '../simulation/random.ts';
import { NODE, type Runtime } from './runtimes.ts';
import { canMount, canMountThin, ext4, remount, smallDisk } from './small-disk.ts';
import { DISK_BYTES, parsed, Trial } from './trial.ts';
import { MINIMAL_VIEW } from './views.ts';
import { tempDir } from './temp-dir.ts';
import { startProgram, until, type Viewlog } from './viewlog.ts';

// Faults of a real collector. Each function gets its random numbers as an argument, so that the
// soak can repeat the fault for hours.

type Fault = (runtime: Runtime, random: Random) => Promise<void>;

/** Kills the collector under load or signals it twice, again and again on the same directory. */
async function endRepeatedly(runtime: Runtime, random: Random): Promise<void> {
  const trial = new Trial(runtime);
  let crashes = 0;
  for (const isKill of [true, false, true, false]) {
    const viewlog = await trial.start();
    await trial.underLoad(viewlog, 1 + random.below(64), async () => {
      await sleep(random.below(400));
      viewlog.child.kill(isKill ? 'SIGKILL' : 'SIGTERM');
      await sleep(random.below(30));
      await viewlog.signal(random.chance(0.5) ? 'SIGTERM' : 'SIGINT');
    });
    const { code, stderr } = await viewlog.ended;
    // The system delivers one of two pending signals first; a signal that arrives at the very end
    // ends the process.
    expect(isKill ? [null] : [0, 143, 130, null]).toContain(code);
    expect(stderr).not.toMatch(/error/i);
    if (code !== 0) crashes += 1;
    trial.expectGrown();
  }
  await trial.restart();
  trial.expectWhole(crashes);
}

/** Fills the disk and frees space: the collector then stores accepted and refused views again. */
async function fillAndFree(runtime: Runtime, random: Random): Promise<void> {
  const trial = Trial.onSmallDisk(runtime);
  const viewlog = await trial.start();
  const refuse = async (more: number): Promise<void> =>
    expect((await viewlog.post({ ...MINIMAL_VIEW, more })).status).toBe(422);
  await trial.fill(viewlog, 1 + random.below(64));
  await refuse(1);
  trial.free();
  await trial.expectResumed(viewlog);
  await refuse(2);
  await until(() => viewlog.refusedLines().some((line) => line.includes('"more":2')));
  const { code, stdout, stderr } = await viewlog.signal('SIGTERM');
  expect(code).toBe(0);
  expect(stderr.match(/^error: .*refusing views/gim)).toHaveLength(1);
  expect(stdout.match(/^Writing to .* again$/gm)).toHaveLength(1);
  trial.expectWhole();
}

/**
 * Fills the disk, ends the collector with SIGKILL or SIGTERM, and starts another on the full disk.
 */
const fillAndEnd =
  (signal: 'SIGKILL' | 'SIGTERM'): Fault =>
  async (runtime, random) => {
    const trial = Trial.onSmallDisk(runtime);
    const first = await trial.start();
    await trial.fill(first, 1 + random.below(64));
    const isTorn = [...trial.files().values()].some((bytes) => bytes.at(-1) !== 0x0a);
    const { code, stderr } = await first.signal(signal);
    if (signal === 'SIGTERM')
      expect([code, /may be incomplete/.test(stderr)]).toEqual([isTorn ? 74 : 0, isTorn]);
    const second = await trial.start();
    if (isTorn) expect((await second.post(MINIMAL_VIEW)).status).toBe(503);
    trial.free();
    await trial.expectResumed(second);
    expect((await second.signal('SIGTERM')).code).toBe(0);
    trial.expectWhole(1);
  };

/** Remounts the disk read-only: views are refused until it is writable; a start fails. */
async function remountReadOnly(runtime: Runtime): Promise<void> {
  const trial = Trial.onSmallDisk(runtime);
  const viewlog = await trial.start();
  // viewlog stores its start after it listens, and no file may be open for writing.
  await until(() => existsSync(join(trial.data, 'last-start.json')));
  remount(trial.data, 'ro');
  expect((await viewlog.post(MINIMAL_VIEW)).status).toBe(503);
  await viewlog.says(
    /^error: Refusing views and retrying: Can't open .*; mount the file system read-write/m,
  );
  remount(trial.data, 'rw');
  await trial.expectResumed(viewlog);
  expect((await viewlog.signal('SIGTERM')).code).toBe(0);
  remount(trial.data, 'ro');
  await expect(trial.start()).rejects.toThrow(
    /ended with 73:\n.*^error: Can't use the lock .*; mount the file system read-write/ms,
  );
  remount(trial.data, 'rw');
  trial.expectWhole();
}

/**
 * Makes a sync fail by filling the disk below: viewlog must exit. On Linux 6.18, ext4 may report a
 * sync as successful although it has lost the transaction. So the test expects only views that were
 * acknowledged while the disk below had space.
 */
async function failSync(runtime: Runtime): Promise<void> {
  const backing = smallDisk(12 * DISK_BYTES);
  const disk = ext4({ backing });
  const trial = new Trial(runtime, ['--min-free=0'], disk.dir);
  const viewlog = await trial.start();
  let acknowledged = 0;
  await trial.underLoad(viewlog, 64, async (answers) => {
    await until(async () => (await systemFiles.freeBytes(backing)) < 3 * DISK_BYTES);
    acknowledged = answers.acknowledged.length;
    await viewlog.ended;
  });
  const { code, stderr } = await viewlog.ended;
  expect([code, stderr]).toStrictEqual([74, expect.stringMatching(/^error: Can't sync ".*/m)]);
  // ext4 can't recover its journal while the disk below is full.
  remount(backing, 'size=64M');
  disk.remount();
  const lines = [...trial.files().values()].join('').split('\n');
  const stored = new Set(lines.map((line) => parsed(line)?.id));
  const expected = trial.acknowledged.slice(0, acknowledged);
  expect(expected.filter((id) => !stored.has(id))).toStrictEqual([]);
}

/** Makes the collector's writes to a file fail until the returned process ends. */
async function failWrites({ child }: Viewlog, path: string, errno: string) {
  const errors = ['-e', `inject=write,pwrite64:error=${errno}`];
  const tracer = startProgram(['strace', '-f', '-p', `${child.pid}`, '-P', path, ...errors]);
  await tracer.says(/attached/);
  return tracer;
}

/**
 * Makes a write fail while a stop waits for the last request: exit code, log and answer report the
 * failure.
 */
async function failWriteAtStop(runtime: Runtime): Promise<void> {
  const trial = new Trial(runtime);
  const viewlog = await trial.start();
  expect((await viewlog.post(MINIMAL_VIEW)).status).toBe(201);
  const [name] = trial.files().keys();
  const path = join(trial.data, name!);
  const body = JSON.stringify(MINIMAL_VIEW);
  const head = `POST /view HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n`;
  const socket = connect(viewlog.port, '127.0.0.1');
  socket.write(head + body.slice(0, 9));
  await until(() => socket.bytesWritten > 0);
  await sleep(100);
  viewlog.child.kill('SIGTERM');
  await viewlog.says(/viewlog stopping/);
  const tracer = await failWrites(viewlog, path, 'EIO');
  socket.write(body.slice(9));
  const answer = await text(socket);
  const { code, stderr } = await viewlog.ended;
  await tracer.ended;
  expect(answer).toMatch(/^HTTP\/1.1 503 /);
  expect([code, stderr]).toStrictEqual([
    74,
    expect.stringMatching(`error: Can't write "${path}": .*; check the disk`),
  ]);
  await trial.restart();
  trial.expectWhole();
}

/** Makes writes fail with EDQUOT, as over a quota: views are refused until they succeed. */
async function exceedQuota(runtime: Runtime): Promise<void> {
  const trial = new Trial(runtime);
  const viewlog = await trial.start();
  expect((await viewlog.post(MINIMAL_VIEW)).status).toBe(201);
  const [name] = trial.files().keys();
  const path = join(trial.data, name!);
  const tracer = await failWrites(viewlog, path, 'EDQUOT');
  expect((await viewlog.post(MINIMAL_VIEW)).status).toBe(503);
  await viewlog.says(
    /^error: Refusing views and retrying: Can't write ".*": .*quota exceeded.*; delete files or raise the quota$/im,
  );
  tracer.child.kill('SIGINT');
  await tracer.ended;
  await trial.expectResumed(viewlog);
  expect((await viewlog.signal('SIGTERM')).code).toBe(0);
  trial.expectWhole();
}

/**
 * Hangs the disk: views get 503 after 10 seconds, `/readyz` answers 503, and viewlog recovers. If
 * the disk hangs during a stop, a second signal ends viewlog as soon as the disk answers.
 */
async function hangDisk(runtime: Runtime): Promise<void> {
  const disk = ext4();
  const trial = new Trial(runtime, ['--min-free=0', '--status=127.0.0.1:0'], disk.dir);
  const viewlog = await trial.start();
  const [, status] = await viewlog.says(/Status page on (\S+)\n/);
  const isReady = async (): Promise<boolean> => (await fetch(`${status}readyz`)).ok;
  const areViewsWaiting = async (): Promise<boolean> =>
    /^viewlog_queue_lines [1-9]/m.test(await (await fetch(`${status}metrics`)).text());
  const whileHanging = async (happen: () => Promise<void>): Promise<void> => {
    disk.hang();
    await happen().finally(() => disk.goOn());
  };
  await trial.underLoad(viewlog, 2, () =>
    whileHanging(async () => {
      const refused = await viewlog.post(MINIMAL_VIEW);
      expect(refused.status).toBe(503);
      expect(await refused.json()).toMatchObject({ code: 'storage-unavailable' });
      expect(await isReady()).toBe(false);
    }),
  );
  await until(isReady);
  await trial.underLoad(viewlog, 8, () =>
    whileHanging(async () => {
      await until(areViewsWaiting);
      viewlog.child.kill('SIGTERM');
      await viewlog.says(/viewlog stopping/);
      await viewlog.deliver('SIGTERM');
    }),
  );
  expect((await viewlog.ended).code).toBe(143);
  await trial.restart();
  trial.expectWhole(1);
}

/** Replaces each file with something else: viewlog must not write to it, and must recover later. */
const obstruct =
  (make: (path: string) => void): Fault =>
  async (runtime) => {
    const trial = new Trial(runtime);
    // The day may end during this fault.
    const days = [0, 1].map((n) => new Date(Date.now() + n * 86_400_000).toISOString());
    const paths = days.flatMap((day) =>
      ['views', 'refused'].map((kind) => join(trial.data, `${kind}-${day.slice(0, 10)}.ndjson`)),
    );
    for (const path of paths) make(path);
    const viewlog = await trial.start();
    const unlisted = { ...MINIMAL_VIEW, p: '9' };
    expect((await viewlog.post(MINIMAL_VIEW)).status).toBe(503);
    expect((await viewlog.post(unlisted)).status).toBe(403);
    await viewlog.says(/^warning: Refused views are lost until this is corrected: .*move it away/m);
    await viewlog.says(/^error: .*views-.*ndjson" for writing.*; move it away/m);
    for (const path of paths) rmSync(path, { recursive: true });
    await trial.expectResumed(viewlog);
    await viewlog.post(unlisted);
    await until(() => viewlog.refusedLines().length === 1);
    expect((await viewlog.signal('SIGTERM')).code).toBe(0);
    trial.expectWhole();
  };

/** Faults that this machine can have, on any runtime. */
export const FAULTS: Readonly<Record<string, Fault>> = {
  'kill -9 or a second signal under load': endRepeatedly,
  'a FIFO in place of a file': obstruct((path) => execFileSync('mkfifo', [path])),
  'a link to /dev/null in place of a file': obstruct((path) => symlinkSync('/dev/null', path)),
  'a directory in place of a file': obstruct((path) => mkdirSync(path)),
  'a write that fails during a stop': failWriteAtStop,
  'a quota': exceedQuota,
  ...(canMount() && {
    'a full disk that has space again': fillAndFree,
    'kill -9 on a full disk': fillAndEnd('SIGKILL'),
    'SIGTERM on a full disk': fillAndEnd('SIGTERM'),
    'a disk that is read-only for a while': remountReadOnly,
  }),
  ...(canMountThin() && {
    'a sync that fails': failSync,
    'a disk that hangs': hangDisk,
  }),
};

const peakKiB = ({ child }: Viewlog): number =>
  Number(/^VmHWM:\s+(\d+)/m.exec(readFileSync(`/proc/${child.pid}/status`, 'utf8'))?.[1]);

/** Returns the CPU time of the process, on which other processes have no effect. */
function cpuMs({ child }: Viewlog): number {
  const [, fields = ''] = readFileSync(`/proc/${child.pid}/stat`, 'utf8').split(') ');
  const [user, system] = fields.split(' ').slice(11);
  return (Number(user) + Number(system)) * 10;
}

interface Attack {
  readonly clients: number;
  readonly ms: number;
  readonly args?: readonly string[];
  /** By how much viewlog's memory may grow beyond `--max-queue`. */
  readonly growthMiB?: number | undefined;
}

/**
 * Attacks in these ways, with `clients` in each, for `ms`. Expects that viewlog answers other views
 * all the time, that its memory stays bounded, and that it loses no acknowledged view. Not for Deno
 * below 2.9.6, which reads a refused body to its end.
 */
export async function withstand(
  runtime: Runtime,
  ways: readonly string[],
  { clients, ms, args, growthMiB = 300 }: Attack,
): Promise<void> {
  const trial = new Trial(runtime, args);
  const viewlog = await trial.start();
  expect((await viewlog.post(MINIMAL_VIEW)).status).toBe(201);
  const firstKiB = peakKiB(viewlog);
  const program = join(tempDir(), 'attacker.mjs');
  const source = join(import.meta.dirname, 'attacker-process.ts');
  const asProgram = { bundle: true, format: 'esm', platform: 'node' } as const;
  buildSync({ entryPoints: [source], outfile: program, ...asProgram });
  const attackers = startProgram([
    ...NODE.command('', program),
    String(viewlog.port),
    String(clients),
    ...ways,
  ]);
  await attackers.says(/attacking/);
  for (const endMs = Date.now() + ms; Date.now() < endMs; await sleep(50)) {
    const before = cpuMs(viewlog);
    const answer = await viewlog.post(MINIMAL_VIEW);
    // viewlog promises an answer within 3 s on an idle machine. Its threads can use two cores.
    expect(cpuMs(viewlog) - before).toBeLessThan(6_000);
    const { id } = (await answer.json()) as { id?: string };
    if (id !== undefined) trial.acknowledged.push(id);
    else {
      expect(answer.status).toBe(503);
      expect(answer.headers.get('retry-after')).toMatch(/^\d+$/);
    }
  }
  await attackers.signal('SIGKILL');
  // A busy machine needs some seconds to see that the connections have ended, and the views until
  // then may get a 503.
  await until(async () => {
    const answer = await viewlog.post(MINIMAL_VIEW);
    if (answer.status !== 201) return false;
    const { id } = (await answer.json()) as { id: string };
    return trial.acknowledged.push(id);
  });
  // --max-queue is 32 MiB.
  expect((peakKiB(viewlog) - firstKiB) / 1024).toBeLessThan(32 + growthMiB);
  const { code, stderr } = await viewlog.signal('SIGTERM');
  // Deno lacks a permission; an attack with refused views may fill the refused file.
  const expected = /^warning: (.*--min-free is off|.*have used up .*--max-refused).*\n/gm;
  expect([code, stderr.replaceAll(expected, '')]).toStrictEqual([0, '']);
  trial.expectWhole();
}
