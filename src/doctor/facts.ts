import * as fs from 'node:fs';
import { askHolder } from '../disk/lock.ts';
import type { Answer } from '../disk/lock-socket.ts';
import { ownAddress } from '../http/own-address.ts';
import type { Faulty, Sound } from '../projects/parse.ts';
import { readProjectsFile } from '../projects/projects-file.ts';
import type { About } from '../status/collector-status.ts';
import type { StatusModel } from '../status/model.ts';
import { type ShownSettings, shownSettings } from '../status/shown-settings.ts';
import { readToken } from '../status/token.ts';
import { type Ask, fieldsOf, preflightFrom, type Reply } from './ask.ts';
import type { Probe } from './finding.ts';
import { type Disk, probe, probeDisk } from './probe-disk.ts';
import { probeProxy, type ProxyReplies } from './probe-proxy.ts';

/** Everything that the checks judge. */
export interface Facts {
  readonly nowMs: number;
  /** The command line, without the program. */
  readonly args: readonly string[];
  readonly runtime: Runtime;
  /** `undefined` if the runtime does not tell (Deno without --allow-sys=uid). */
  readonly ownUid: number | undefined;
  /** Whether systemd has a service called viewlog. */
  readonly hasUnit: boolean;
  readonly commandLine: ShownSettings;
  /** The running collector's own settings, else those of the command line. */
  readonly settings: ShownSettings;
  /** `undefined` if views go to a stream. */
  readonly disk: Disk | undefined;
  readonly projects: Sound | Faulty;
  /** What answers at the collector's address. */
  readonly reply: Reply;
  /** Which process holds the data directory. */
  readonly holder: Probe<Answer>;
  readonly status: StatusServer;
  /** If `--url` is given. */
  readonly proxy: ProxyReplies | undefined;
  /** The project of which one real view was sent. */
  readonly project: string | undefined;
}

export interface Runtime {
  readonly name: 'Node' | 'Deno' | 'Bun';
  readonly version: string;
  readonly platform: string;
}

interface StatusServer {
  /** `undefined` if it is off. */
  readonly address: string | undefined;
  /** Whether only the holder of the lock named this address. */
  readonly isFromLock: boolean;
  /** To `/readyz`. */
  readonly reply?: Reply;
  /** `undefined` if something else answers. */
  readonly isReady?: boolean | undefined;
  readonly overview?: (StatusModel & About) | undefined;
}

type Options = Parameters<typeof shownSettings>[0] &
  Parameters<typeof readToken>[0] & {
    readonly status: 'off' | { readonly host: string; readonly port: number };
  };

interface Asked {
  /** With `/view`. */
  readonly url: string | undefined;
  readonly project: string | undefined;
}

interface Seams {
  readonly now: () => number;
  readonly ask: Ask;
  readonly args: readonly string[];
}

/** Of no page: a name under `.invalid` belongs to nobody. */
const NO_ORIGIN = 'https://viewlog-doctor.invalid';
const UNIT_DIRS = ['/etc', '/run', '/usr/lib', '/lib'];

/** Looks at the installation, and changes nothing. */
export async function gatherFacts(
  options: Options,
  { url, project }: Asked,
  { now, ask, args }: Seams,
): Promise<Facts> {
  const commandLine = shownSettings(options);
  const { status, holder: named } = await findCollector(options, commandLine.data, ask);
  const settings = status.overview?.settings ?? commandLine;
  const { data } = settings;
  const projects = await readProjectsFile(settings.projects);
  const origin = senderOf(projects, project) ?? NO_ORIGIN;
  // Any of the collectors that share a stream is the right one.
  const latestRefused = async () =>
    data === undefined
      ? undefined
      : (await askStatus(status.address, options, ask)).overview?.latestRefused;
  const way = { origin, viewBytesMax: settings['max-view'], project, latestRefused, now };
  return {
    nowMs: now(),
    args,
    runtime: runtimeHere(),
    ownUid: ownUid(),
    hasUnit: hasUnit(),
    commandLine,
    settings,
    disk: data === undefined ? undefined : await probeDisk(data, settings, now()),
    projects,
    reply: await ask(`${ownAddress(settings)}/view`, preflightFrom(NO_ORIGIN)),
    holder: data === commandLine.data ? named : await holderOf(data),
    status,
    proxy: url === undefined ? undefined : await probeProxy({ ...way, url }, ask),
    project,
  };
}

/** The status server at the address of the options, or else the one that the lock's holder names. */
async function findCollector(options: Options, data: string | undefined, ask: Ask) {
  const { status: own } = options;
  const status = await askStatus(own === 'off' ? undefined : ownAddress(own), options, ask);
  const holder = await holderOf(data);
  const seen = 'seen' in holder ? holder.seen : undefined;
  if (status.overview !== undefined || typeof seen !== 'object') return { status, holder };
  const other = await askStatus(seen.status, options, ask);
  return { status: other.overview ? { ...other, isFromLock: true } : status, holder };
}

const holderOf = (data: string | undefined): Promise<Probe<Answer>> =>
  probe(() => (data === undefined ? undefined : askHolder(data)));

async function askStatus(
  address: string | undefined,
  options: Options,
  ask: Ask,
): Promise<StatusServer> {
  const server = { address, isFromLock: false };
  if (address === undefined) return server;
  const reply = await ask(`${address}/readyz`);
  const { status } = fieldsOf(reply);
  if (status !== 'ready' && status !== 'not ready') return { ...server, reply };
  // Nothing else is shown the token. Without it the status server says less.
  const token = await readToken(options).catch(() => undefined);
  const headers = token === undefined ? {} : { Authorization: `Bearer ${token}` };
  const fields = fieldsOf(await ask(`${address}/status.json`, { headers }));
  const overview = 'settings' in fields ? (fields as unknown as StatusModel & About) : undefined;
  return { ...server, reply, isReady: status === 'ready', overview };
}

/** An origin from which a project's pages may send. */
function senderOf(reading: Sound | Faulty, project: string | undefined): string | undefined {
  const sender = activeIn(reading).find(({ id, origins }) => (project ? id === project : origins));
  return sender?.origins?.[0]?.replace('*', 'www');
}

export const activeIn = (reading: Sound | Faulty) =>
  'faults' in reading ? [] : reading.file.projects.filter(({ active }) => active ?? true);

function runtimeHere(): Runtime {
  const { versions, platform } = process;
  const { deno, bun, node } = versions as Record<string, string | undefined>;
  const name = deno ? 'Deno' : bun ? 'Bun' : 'Node';
  return { name, version: deno ?? bun ?? node ?? '', platform };
}

function hasUnit(): boolean {
  try {
    return UNIT_DIRS.some((dir) => fs.existsSync(`${dir}/systemd/system/viewlog.service`));
  } catch {
    // Deno may not be allowed to look.
    return false;
  }
}

function ownUid(): number | undefined {
  try {
    return process.getuid?.();
  } catch {
    return undefined;
  }
}
