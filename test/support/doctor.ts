import * as fs from 'node:fs';
import { join } from 'node:path';
import type { Watched } from './status.ts';
import { tempDir } from './temp-dir.ts';
import { type RunOptions, start } from './viewlog.ts';

// Runs `viewlog doctor` on an installation, as an operator does.

/** The service's user. */
export const SERVICE = { uid: 4711, gid: 4712 };
export const isRoot = process.getuid?.() === 0;

/** Creates a correct data directory, owned by the service's user if the test may do that. */
export function installation(projects?: unknown, dir = join(tempDir(), 'data')): string {
  // Lets other users reach the directory.
  fs.chmodSync(join(dir, '..'), 0o755);
  fs.mkdirSync(dir, { mode: 0o750, recursive: true });
  fs.chmodSync(dir, 0o750);
  const valid = {
    operator: 'views@example.com',
    projects: [{ id: '1000001', origins: ['https://*.example.com'] }],
  };
  if (projects !== null)
    fs.writeFileSync(join(dir, 'projects.json'), JSON.stringify(projects ?? valid));
  for (const path of [dir, join(dir, 'projects.json')]) {
    if (isRoot && fs.existsSync(path)) fs.chownSync(path, SERVICE.uid, SERVICE.gid);
  }
  return dir;
}

/**
 * An address at which nothing listens. It isn't on 127.0.0.1, where other tests use any free port.
 */
export const NOWHERE = { host: '127.86.73.69', port: 18080 };

/** Runs the doctor. By default no collector is at its address. */
export async function doctor(
  data: string | undefined,
  args: readonly string[] = [],
  options: RunOptions = {},
) {
  const at = data === undefined ? [] : ['--data', data];
  const { host, port } = NOWHERE;
  const places = [`--host=${host}`, `--port=${port}`, `--status=${host}:${port + 1}`, ...at];
  const { ended } = start(['doctor', ...places, ...args], '/', options);
  const { code, stdout, stderr } = await ended;
  const out = stdout + stderr;
  // A fix is on indented lines below the line of its check.
  const lines = out.trimEnd().replaceAll(/\n +/g, ' ').split('\n');
  /** Returns the line of a check, or else the first line, without padding. */
  const line = (check?: string): string =>
    lines
      .find((one) => check === undefined || one.includes(`  ${check}: `))
      ?.replace(/ {2,}/, ' ') ?? '';
  /** Returns the exit code and that line. */
  const outcome = (check?: string): string => `${code} ${line(check)}`;
  return { code, out, lines, line, outcome };
}

/** Returns the options that name a collector. */
export const of = ({ port, statusPort }: Watched): string[] => [
  '--host=127.0.0.1',
  `--port=${port}`,
  `--status=127.0.0.1:${statusPort}`,
];

export const namesIn = (dir: string): string[] => fs.readdirSync(dir).toSorted();
