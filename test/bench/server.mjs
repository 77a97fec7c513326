// Starts a subject, and reads from /proc what it cost.
import { spawn } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const TICK_US = 10_000;
let nextPort = 20_000 + Math.floor(Math.random() * 10_000);

/** Starts it and waits until it takes connections. */
export async function start(subject) {
  const dir = mkdtempSync(join(process.env.BENCH_DIR ?? tmpdir(), 'viewlog-bench-'));
  const port = (nextPort += 2);
  const companions = (subject.companions?.(port, dir) ?? []).map(([program, ...args]) =>
    spawn(program, args, { stdio: 'ignore' }),
  );
  await subject.ready?.(port);
  const [program, ...args] = subject.command(port, dir);
  const startedMs = performance.now();
  const child = spawn(program, args, { stdio: ['ignore', 'ignore', 'inherit'] });
  await listening(port);
  const startMs = performance.now() - startedMs;
  return {
    port,
    dir,
    startMs,
    cpuUs: () => sum(family(child.pid), cpuTicks) * TICK_US,
    peakRssKiB: () => sum(family(child.pid), (pid) => statusKiB(pid, 'VmHWM')),
    rssKiB: () => sum(family(child.pid), (pid) => statusKiB(pid, 'VmRSS')),
    async stop() {
      child.kill('SIGTERM');
      await new Promise((resolve) => child.once('exit', resolve));
      for (const companion of companions) {
        companion.kill('SIGKILL');
        await new Promise((resolve) => companion.once('exit', resolve));
      }
      rmSync(dir, { recursive: true, force: true });
    },
  };
}

async function listening(port) {
  for (;;) {
    const open = await new Promise((resolve) => {
      const socket = connect({ port, host: '127.0.0.1' }, () => resolve(true));
      socket.on('error', () => resolve(false));
      socket.on('connect', () => socket.destroy());
    });
    if (open) return;
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
}

const sum = (pids, of) => pids.reduce((total, pid) => total + of(pid), 0);

/** The process and its children: nginx works in one. */
function family(pid) {
  const children = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .filter((name) => parentOf(name) === pid);
  return [pid, ...children.map(Number)];
}

const fieldsOf = (pid) => {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  return stat.slice(stat.lastIndexOf(')') + 2).split(' ');
};

function parentOf(pid) {
  try {
    return Number(fieldsOf(pid)[1]);
  } catch {
    return undefined;
  }
}

const cpuTicks = (pid) => Number(fieldsOf(pid)[11]) + Number(fieldsOf(pid)[12]);

const statusKiB = (pid, field) =>
  Number(
    new RegExp(`^${field}:\\s+(\\d+)`, 'm').exec(readFileSync(`/proc/${pid}/status`, 'utf8'))[1],
  );
