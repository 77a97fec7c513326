// Starts and stops a subject and reads its CPU time and memory from /proc.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';

let nextPort = 20_000 + Math.floor(Math.random() * 10_000);

/** The running subject, which is killed however the bench ends. */
let running;
process.on('exit', () => running?.kill('SIGKILL'));
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => process.exit(1));

/**
 * Starts a subject and waits until it accepts connections.
 * @param givenDir a directory to keep after the stop. By default, the subject gets a temporary
 *   directory.
 */
export async function start({ name, program, args }, givenDir) {
  const dir = givenDir ?? mkdtempSync(join(process.env.BENCH_DIR ?? tmpdir(), 'viewlog-bench-'));
  const port = (nextPort += 2);
  const all = args(port, dir);
  const startedMs = performance.now();
  const child = spawn(program, all, { cwd: dir, stdio: ['ignore', 'ignore', 'inherit'] });
  running = child;
  await listening(port, child, name);
  return {
    name,
    port,
    dir,
    startMs: performance.now() - startedMs,
    cpuUs: () => cpuUsOf(child.pid),
    peakRssMiB: () => peakRssMiBOf(child.pid),
    kill: (signal) => child.kill(signal),
    async stop() {
      child.kill('SIGTERM');
      if (child.exitCode === null) await once(child, 'exit');
      if (givenDir === undefined) rmSync(dir, { recursive: true, force: true });
    },
  };
}

async function listening(port, child, name) {
  for (;;) {
    const socket = connect(port, '127.0.0.1');
    const outcome = await once(socket, 'connect').catch(() => undefined);
    socket.destroy();
    if (outcome !== undefined) return;
    if (child.exitCode !== null) throw new Error(`${name} ended with ${child.exitCode}`);
    await setTimeout(2);
  }
}

/** Returns the process's time on a CPU, in steps of 10 ms. */
function cpuUsOf(pid) {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[11]) + Number(fields[12])) * 10_000; // in user mode, and in the kernel
}

const peakRssMiBOf = (pid) =>
  Number(/^VmHWM:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))[1]) / 1024;
