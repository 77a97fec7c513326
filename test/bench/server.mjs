// Starts a subject, and stops it.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { cpuUsBetween, peakMemoryMiB, threadTimes } from './cost.mjs';

const START_MS = 30_000;
let nextPort = 20_000 + Math.floor(Math.random() * 10_000);

/** Ended with the bench, however it ends. */
const running = new Set();
process.on('exit', () => running.forEach((child) => child.kill('SIGKILL')));
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => process.exit(1));

function run([program, ...args], options) {
  const child = spawn(program, args, options);
  running.add(child);
  return child.once('exit', () => running.delete(child));
}

/** Starts a subject, and waits until it accepts connections. */
export async function start(subject) {
  const dir = mkdtempSync(join(process.env.BENCH_DIR ?? tmpdir(), 'viewlog-bench-'));
  const port = (nextPort += 2);
  const companions = (subject.companions?.(port, dir) ?? []).map((command) =>
    run(command, { stdio: 'ignore' }),
  );
  await subject.ready?.(port);
  const command = subject.command(port, dir);
  const startedMs = performance.now();
  const child = run(command, { cwd: dir, stdio: ['ignore', 'ignore', 'inherit'] });
  await listening(port, child, subject.name);
  return {
    subject,
    port,
    dir,
    startMs: performance.now() - startedMs,
    cpu: () => threadTimes(child.pid),
    cpuUsSince: (before) => cpuUsBetween(before, threadTimes(child.pid)),
    peakRssMiB: () => peakMemoryMiB(child.pid),
    async stop() {
      await end(child, subject.stopSignal ?? 'SIGTERM');
      for (const companion of companions) await end(companion, 'SIGKILL');
      rmSync(dir, { recursive: true, force: true });
    },
  };
}

async function end(child, signal) {
  if (child.exitCode !== null || child.signalCode !== null) return;
  child.kill(signal);
  await once(child, 'exit');
}

async function listening(port, child, name) {
  const untilMs = performance.now() + START_MS;
  for (;;) {
    const open = await new Promise((resolve) => {
      const socket = connect({ port, host: '127.0.0.1' }, () => resolve(true));
      socket.on('error', () => resolve(false));
      socket.on('connect', () => socket.destroy());
    });
    if (open) return;
    if (child.exitCode !== null) throw new Error(`${name} ended with ${child.exitCode}`);
    if (performance.now() > untilMs) throw new Error(`${name} does not listen`);
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
}
