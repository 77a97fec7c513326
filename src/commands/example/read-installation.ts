import * as fs from 'node:fs';
import * as path from 'node:path';
import { EXIT, Fatal } from '../../base/exit.ts';
import { printable } from '../../base/text.ts';
import type { Address } from '../../http/listener.ts';
import type { SERVE_OPTIONS } from '../../serve.ts';
import { type OptionName, OPTIONS, type Settings } from '../../settings.ts';
import { fromOwnMachine } from '../../http/own-address.ts';

export type ServeSettings = Settings<(typeof SERVE_OPTIONS)[number]>;

/** What an example is made of: this viewlog, with these settings, on this machine. */
export interface Installation {
  /** Every path absolute. */
  readonly settings: ServeSettings;
  /** Where its files are: `--data`, or the projects file's directory where a stream keeps the views. */
  readonly dir: string;
  readonly owner: Owner;
  /** Who is to own `dir`, where it is not there yet. */
  readonly isDirMissing: boolean;
  readonly program: Program;
}

/** Whom `dir` belongs to; names where the machine's own files tell them, else numbers. */
interface Owner {
  readonly user: string;
  readonly group: string;
  readonly uid: number;
  readonly gid: number;
}

/** The viewlog that runs. */
interface Program {
  /** What runs the bundle; `undefined` for an executable, which needs nothing. */
  readonly runtime: string | undefined;
  /** The bundle or the executable. */
  readonly file: string;
}

/** @throws {Fatal} exit 64 where a path has characters that no file of these could hold. */
export function readInstallation(given: ServeSettings): Installation {
  const settings = withAbsolutePaths(given);
  const dir = settings.store === undefined ? settings.data : path.dirname(settings.projects);
  const found = ownerOf(dir);
  return {
    settings,
    dir,
    owner: found ?? missingOwner(),
    isDirMissing: found === undefined,
    program: ownProgram(),
  };
}

const isPath = (name: OptionName): boolean => ['DIR', 'FILE'].includes(OPTIONS[name].value);

function withAbsolutePaths(settings: ServeSettings): ServeSettings {
  const entries = Object.entries(settings).map(([name, value]) => {
    if (typeof value !== 'string' || !isPath(name as OptionName)) return [name, value];
    const whole = path.resolve(value);
    // They would end the line that they stand on.
    if (!/[\p{Cc}\p{Zl}\p{Zp}]/u.test(whole)) return [name, whole];
    const shown = printable(whole, Infinity);
    throw new Fatal(EXIT.usage, `No file of settings would take "${shown}" as it is; rename it`);
  });
  return Object.fromEntries(entries) as ServeSettings;
}

function ownerOf(dir: string): Owner | undefined {
  try {
    const { uid, gid } = fs.statSync(dir);
    return { uid, gid, user: nameOf('/etc/passwd', uid), group: nameOf('/etc/group', gid) };
  } catch {
    return undefined;
  }
}

function nameOf(file: string, id: number): string {
  try {
    const lines = fs.readFileSync(file, 'utf8').split('\n');
    const fields = lines.map((line) => line.split(':'));
    return fields.find((field) => field[2] === String(id))?.[0] ?? String(id);
  } catch {
    // Deno would have to be allowed to read it.
    return String(id);
  }
}

/** The user that the manual makes, and the first one of a machine or an image. */
const missingOwner = (): Owner => ({ user: 'viewlog', group: 'viewlog', uid: 1000, gid: 1000 });

function ownProgram(): Program {
  const [, script = ''] = process.argv;
  const runtime = runtimePath();
  const isRuntime = /^(node|deno|bun)/.test(path.basename(runtime));
  return isRuntime
    ? { runtime, file: realPath(script) }
    : { runtime: undefined, file: realPath(runtime) };
}

/** Deno tells it only where it may read everything. */
function runtimePath(): string {
  try {
    return process.execPath || 'deno';
  } catch {
    return 'deno';
  }
}

export function realPath(file: string): string {
  try {
    return fs.realpathSync(file);
  } catch {
    return file;
  }
}

/**
 * An address that something is to connect to.
 * @param flag what it was given by.
 * @throws {Fatal} exit 64 where the port is only known once viewlog listens.
 */
export function reachable({ host, port }: Address, flag: string): Address {
  if (port === 0) {
    throw new Fatal(EXIT.usage, `${flag} 0 is any free port; name the one that others connect to`);
  }
  return { host: fromOwnMachine(host), port };
}

/** Where its metrics are. @throws {Fatal} exit 64 where they are nowhere. */
export function metricsAddress({ status }: ServeSettings): Address {
  if (status !== 'off') return reachable(status, '--status with port');
  throw new Fatal(EXIT.usage, 'There are no metrics with --status off; give it an address');
}
