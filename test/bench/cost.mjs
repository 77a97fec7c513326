// The cost of a process and its children, read from /proc.
import { readdirSync, readFileSync } from 'node:fs';

/** Nanoseconds on a CPU of each thread: exact, where the process's own figure has steps of 10 ms. */
export function threadTimes(pid) {
  const times = new Map();
  for (const member of family(pid)) {
    for (const thread of readdirSync(`/proc/${member}/task`)) {
      const text = read(`/proc/${member}/task/${thread}/schedstat`);
      if (text !== undefined) times.set(thread, Number(text.split(' ')[0]));
    }
  }
  return times;
}

/** Microseconds on a CPU between two readings; threads that ended meanwhile do not count. */
export function cpuUsBetween(before, after) {
  let ns = 0;
  for (const [thread, time] of after) ns += time - (before.get(thread) ?? 0);
  return ns / 1000;
}

export function peakMemoryMiB(pid) {
  const kiB = family(pid).map(
    (member) => /^VmHWM:\s+(\d+)/m.exec(read(`/proc/${member}/status`) ?? '')?.[1] ?? 0,
  );
  return kiB.reduce((total, each) => total + Number(each), 0) / 1024;
}

/** The process and its children: nginx works in one. */
function family(pid) {
  const children = readdirSync('/proc').filter(
    (name) => Number.isInteger(Number(name)) && parentOf(name) === pid,
  );
  return [pid, ...children.map(Number)];
}

function parentOf(pid) {
  const stat = read(`/proc/${pid}/stat`);
  return stat && Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]);
}

/** Returns undefined if the process has ended. */
function read(path) {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined;
  }
}
