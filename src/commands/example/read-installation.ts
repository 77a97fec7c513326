import * as fs from 'node:fs';
import * as path from 'node:path';
import { EXIT, Fatal } from '../../base/exit.ts';
import { printable } from '../../base/text.ts';
import type { Address } from '../../http/listener.ts';
import type { SERVE_OPTIONS } from '../../serve.ts';
import { type OptionName, OPTIONS, type Settings } from '../../settings.ts';
import { fromOwnMachine } from '../../http/own-address.ts';

export type ServeSettings = Settings<(typeof SERVE_OPTIONS)[number]>;

/** The values that an example is filled in with: this viewlog, its settings, this machine. */
export interface Installation {
  /** Every path absolute. */
  readonly settings: ServeSettings;
  /** `--data`; with a stream store, the projects file's directory. */
  readonly dir: string;
  readonly owner: Owner;
  /** Whether `dir` does not exist; `owner` is then a guess. */
  readonly isDirMissing: boolean;
  readonly program: Program;
}

/** Whom `dir` belongs to. Names are numbers if the machine's files do not name them. */
interface Owner {
  readonly user: string;
  readonly group: string;
  readonly uid: number;
  readonly gid: number;
}

/** The viewlog that runs this command. */
interface Program {
  /** The program that runs the bundle; `undefined` for the single executable. */
  readonly runtime: string | undefined;
  /** The bundle or the executable. */
  readonly file: string;
}

/** @throws {Fatal} exit 64 if a path has characters that no configuration file could contain. */
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
    // These would end the line.
    if (!/[\p{Cc}\p{Zl}\p{Zp}]/u.test(whole)) return [name, whole];
    const shown = printable(whole, Infinity);
    const message = `"${shown}" has characters that no configuration file can contain; rename it`;
    throw new Fatal(EXIT.usage, message);
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
    // Deno without permission to read it.
    return String(id);
  }
}

/** The user that the manual creates, with the first id of a machine or an image. */
const missingOwner = (): Owner => ({ user: 'viewlog', group: 'viewlog', uid: 1000, gid: 1000 });

function ownProgram(): Program {
  const [, script = ''] = process.argv;
  const runtime = runtimePath();
  const isRuntime = /^(node|deno|bun)/.test(path.basename(runtime));
  return isRuntime
    ? { runtime, file: realPath(script) }
    : { runtime: undefined, file: realPath(runtime) };
}

/** Deno tells it only if it may read everything. */
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
 * Returns the address that other programs connect to.
 * @param flag the option that gave it.
 * @throws {Fatal} exit 64 for port 0, which is known only once viewlog listens.
 */
export function reachable({ host, port }: Address, flag: string): Address {
  if (port === 0) {
    throw new Fatal(EXIT.usage, `${flag} 0 means any free port; give the one to connect to`);
  }
  return { host: fromOwnMachine(host), port };
}

/** Returns the metrics' address. @throws {Fatal} exit 64 with `--status off`. */
export function metricsAddress({ status }: ServeSettings): Address {
  if (status !== 'off') return reachable(status, '--status with port');
  throw new Fatal(EXIT.usage, '--status off has no metrics; give --status an address');
}
