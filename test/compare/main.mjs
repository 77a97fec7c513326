// Measures what collectors lose: sends views to each program, causes a fault, and looks for every
// acknowledged view in the program's files. Needs root, for the full disk and the power cut.
// npm run compare
// FLUENT_BIT=path VECTOR=path npm run compare: measures these programs too.
// COMPARE_ONLY=viewlog,nginx: measures only these. COMPARE_VIEWS=5000: sends this many views.
import { execFileSync } from 'node:child_process';
import { copyFileSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { start } from '../bench/server.mjs';
import { sendViews } from './send.mjs';
import { SUBJECTS } from './subjects.mjs';

const LOAD = { views: Number(process.env.COMPARE_VIEWS ?? 5000), perSecond: 1000 };
/** 40% of the space that the views need. */
const SMALL_DISK_BYTES = 200 * LOAD.views;
/** The time for programs to write buffers and to retry writes. */
const SETTLE_MS = 15_000;
const ONLY = process.env.COMPARE_ONLY?.split(',') ?? Object.keys(SUBJECTS);

const run = (program, ...args) => execFileSync(program, args, { stdio: 'pipe' });
const work = mkdtempSync(join(tmpdir(), 'viewlog-compare-'));
const mounted = [];
process.on('exit', () => {
  for (const dir of mounted) run('umount', '--lazy', dir);
  rmSync(work, { recursive: true, force: true });
});

let directories = 0;
function newDirectory() {
  const dir = join(work, String(++directories));
  mkdirSync(dir);
  return dir;
}

function mount(dir, ...args) {
  run('mount', ...args, dir);
  mounted.push(dir);
  return dir;
}

/** Starts the program again, so that it can write what it had buffered elsewhere. */
async function restart(subject, dir) {
  const server = await start(subject, dir);
  await setTimeout(SETTLE_MS);
  await server.stop();
}

/** Each fault gets a subject and returns the acknowledged views and the directory to look into. */
const FAULTS = {
  async 'kill -9'(subject) {
    const dir = newDirectory();
    const server = await start(subject, dir);
    const acknowledged = await sendViews(server.port, LOAD, () => server.kill('SIGKILL'));
    await restart(subject, dir);
    return { acknowledged, dir };
  },

  /** Fills a disk that is too small. After the load, enlarges the disk, as an operator would. */
  async 'full disk'(subject) {
    const dir = mount(
      newDirectory(),
      '-t',
      'tmpfs',
      '-o',
      `size=${SMALL_DISK_BYTES}`,
      'viewlog-compare',
    );
    const server = await start(subject, dir);
    const acknowledged = await sendViews(server.port, LOAD);
    run('mount', '-o', 'remount,size=512M', dir);
    await setTimeout(SETTLE_MS);
    await server.stop();
    return { acknowledged, dir };
  },

  /**
   * Cuts the power: data that ext4 has written to its disk survives; data in the kernel's memory is
   * lost.
   */
  async 'power cut'(subject) {
    const [image, copy] = [newDirectory(), newDirectory()].map((dir) => join(dir, 'image'));
    run('truncate', '--size=128M', image);
    run('mkfs.ext4', '-q', '-F', '-E', 'lazy_itable_init=0,nodiscard', image);
    const server = await start(subject, mount(newDirectory(), '-o', 'loop', image));
    const acknowledged = await sendViews(server.port, LOAD, () => {
      server.kill('SIGSTOP');
      copyFileSync(image, copy);
      server.kill('SIGKILL');
    });
    const dir = mount(newDirectory(), '-o', 'loop', copy);
    await restart(subject, dir);
    return { acknowledged, dir };
  },
};

/** Returns the numbers of the views that the program has written. */
function viewsIn(dir) {
  const found = new Set();
  for (const name of readdirSync(dir)) {
    if (!/^views.*(log|ndjson)$/.test(name)) continue;
    const text = readFileSync(join(dir, name), 'latin1');
    for (const [, number] of text.matchAll(/"pid":"view-(\d+)"/g)) found.add(Number(number));
  }
  return found;
}

const rows = [];
for (const [key, subject] of Object.entries(SUBJECTS)) {
  if (!ONLY.includes(key)) continue;
  if (subject.program === undefined) {
    console.log(`${subject.name}: set ${subject.variable} to its binary`);
    continue;
  }
  for (const [fault, tryIt] of Object.entries(FAULTS)) {
    const { acknowledged, dir } = await tryIt(subject);
    const found = viewsIn(dir);
    const lost = acknowledged.filter((number) => !found.has(number)).length;
    const share = `${((100 * lost) / Math.max(1, acknowledged.length)).toFixed(1)}%`;
    const counts = { sent: LOAD.views, acknowledged: acknowledged.length, found: found.size, lost };
    rows.push({ program: subject.name, fault, ...counts, share });
    console.log(JSON.stringify(rows.at(-1)));
  }
}
console.table(rows);
