import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { createServer } from 'node:net';
import { fetchOnce, type Reply, type RequestOptions } from '../base/fetch-once.ts';
import { errorText, orElse } from '../base/exit.ts';
import { lastStart } from '../disk/last-start.ts';
import { askHolder, LOCK_NAME } from '../disk/lock.ts';
import type { HolderReply } from '../disk/lock-socket.ts';
import { type Address, ownAddress } from '../http/listener.ts';
import { type Owner, ownerIn, ownerOf, ownUid } from '../installation/accounts.ts';
import * as commands from '../installation/commands.ts';
import {
  type Announced,
  type Installation,
  ownAnnouncement,
  ownProgram,
  otherProjects,
  ownUnit,
  readAnnounced,
  realPath,
  UNIT,
  unitUser,
  withOwners,
} from '../installation/installation.ts';
import { exampleOrigin } from '../projects/origins.ts';
import type { Parsed } from '../projects/parse.ts';
import { readProjectsFile, type Reading } from '../projects/projects-file.ts';
import {
  OPTIONS,
  projectsIn,
  readSettings,
  SERVE_OPTIONS,
  type ServeSettings,
  type Settings,
} from '../settings.ts';
import type { StatusModel } from '../status/model.ts';
import { readToken } from '../status/token.ts';
import { type ClusterFacts, probeCluster } from './cluster-checks.ts';
import { isNobodyThere, preflightFrom, replyFields } from './reply.ts';
import { type Probed, probeDisk } from './probe-disk.ts';
import { probeProxy, type ProxyReplies } from './proxy.ts';

/** Everything that the checks judge. */
export interface Facts {
  readonly nowMs: number;
  /** True: systemd's time service has set the clock since the machine was started. */
  readonly isSynchronised: boolean;
  readonly runtime: ReturnType<typeof runtimeHere>;
  /** `undefined` if the runtime doesn't reveal the user (Deno without --allow-sys=uid). */
  readonly ownUid: number | undefined;
  /** True: this user is neither root nor viewlog's, so a denial need not be a fault of viewlog. */
  readonly isOutsider: boolean;
  /** The examined installation: a running one's settings, else the last one's, else the options. */
  readonly of: Installation;
  /**
   * The account in its systemd unit; missing if a running process or the last start shows the
   * account.
   */
  readonly unitUser?: Owner | undefined;
  /** The source of its settings. */
  readonly source: 'running' | 'last start' | 'options';
  /** The command line's data directory, absolute; `undefined` if views go to a stream. */
  readonly askedData: string | undefined;
  /** The command line's other options, by flag. */
  readonly asked: commands.Options;
  /** Each option that differs from the running collector's: `--port 9000 (not 8080)`. */
  readonly different: readonly string[];
  /** The examined settings as values. */
  readonly settings: ServeSettings;
  /** `undefined` if views go to a stream. */
  readonly disk: Probed | undefined;
  readonly projects: Reading;
  /** The process that holds the data directory; `unknown` if this user may not ask. */
  readonly holder: HolderReply | 'unknown';
  /** The command that ends that process. */
  readonly kill: string | undefined;
  /** The answer at the collector's address; `undefined` if none is known, or a process hangs. */
  readonly reply: Reply | undefined;
  readonly status: StatusFacts;
  /** Why viewlog can't listen at its address, although no other program does. */
  readonly listenFault?: string | undefined;
  /** Why the status server wouldn't start with these options; only if no start is known. */
  readonly tokenFault?: string | undefined;
  /** `undefined` without `--store`. */
  readonly cluster: ClusterFacts | undefined;
  /** `undefined` without `--url`. */
  readonly proxy: ProxyReplies | undefined;
}

/** The status server's answers. */
interface StatusFacts {
  readonly address?: string | undefined;
  /** The answer to `/readyz`. */
  readonly reply?: Reply;
  /** Missing unless a status server of viewlog answers. */
  readonly isReady?: boolean;
  /** True: the doctor has sent a token. */
  readonly hasToken?: boolean;
  /** Why it isn't ready, if the status server says so. */
  readonly reasons?: readonly string[];
  /** Missing if the status server requires a token that the doctor lacks, and for an archive. */
  readonly overview?: StatusModel | undefined;
  readonly installation?: Announced | undefined;
  /** Set if the status server belongs to another viewlog; its `data`, if the server shows that. */
  readonly another?: Pick<Announced, 'data'>;
}

type DoctorSettings = ServeSettings & Settings<'url' | 'probe-project'>;

/** An Origin that no page has: nobody can own a name under `.invalid`. */
const NO_ORIGIN = 'https://viewlog-doctor.invalid';

/**
 * Examines the installation. Leaves nothing behind, except that `--url` adds one refused request to
 * the metrics, and `--project` stores one view.
 * @param self the doctor's own process and options.
 * @throws {Fatal} exit 73 if no lock is possible in the data directory.
 */
export async function gatherFacts(options: DoctorSettings, self: Announced): Promise<Facts> {
  const { url, 'probe-project': project } = options;
  const { holder, held, status, running, last } = await findViewlog(options, self);
  const { data: dir, chosen } = self;
  const other = running ?? last;
  const found = await examined(self, other, held !== undefined || last !== undefined);
  const values = valuesOf(options, other);
  const isMoved = ['host', 'port'].some((name) => name in chosen) || values.port === 0;
  const address = running?.address ?? (isMoved ? undefined : last?.address) ?? ownAddress(values);
  const { data, projects: path = '' } = found;
  const projects = await readProjectsFile(path, undefined, data);
  const origin = senderOf(projects, project) ?? NO_ORIGIN;
  const nowMs = Date.now();
  const { 'status-token-file': token, 'nats-creds': creds } = chosen;
  // Only the operator's own choices: another process could name any file, and a command for root
  // must not open that file to viewlog's account.
  const named = [self.projects, token?.text, creds?.text].filter((one) => one !== undefined);
  const paths = data === undefined ? [] : [data];
  const started = other && (await runnerOf(other, found));
  // Root may have started viewlog by hand.
  const ofUnit = running || started?.uid ? undefined : unitUser(paths);
  const runner = ofUnit ?? started;
  const disk = data === undefined ? undefined : await probeDisk(data, named, values, nowMs, runner);
  const owner = disk?.inside?.account ?? found.owners.data;
  const uid = ownUid();
  // A lock that viewlog's own account can't open is a fault, which another check reports.
  const isOwn = uid !== undefined && uid === disk?.inside?.account?.uid;
  const isDenied = holder === 'unknown' && !isOwn;
  const isOutsider = isDenied || ![undefined, 0, owner?.uid ?? uid].includes(uid);
  const isKnown = running === undefined ? holder === undefined : running.address !== undefined;
  const reply = isKnown ? await fetchAt(`${address}/view`, preflightFrom(NO_ORIGIN)) : undefined;
  const isFree = !running && !isOutsider && reply !== undefined && isNobodyThere(reply);
  // Before the first start, a unit must have the usual name and this data directory.
  const unit = other ? ownUnit(other.unit, [...paths, ownProgram().file]) : ownUnit(UNIT, paths);
  return {
    nowMs,
    isSynchronised: orElse(() => existsSync('/run/systemd/timesync/synchronized'), false),
    runtime: runtimeHere(),
    ownUid: uid,
    isOutsider,
    unitUser: ofUnit,
    of: { ...found, unit, address, owners: { ...found.owners, data: owner } },
    source: running ? 'running' : last ? 'last start' : 'options',
    askedData: dir,
    asked: { ...commands.picked(self, Object.keys(chosen)), url, project },
    different: running === undefined ? [] : differences(options, self, running),
    settings: values,
    disk,
    projects,
    holder,
    kill: held && (await commands.killCommand(held, `${dir}/${LOCK_NAME}`)),
    reply,
    status,
    // A unit can grant the right to use the ports below 1024.
    listenFault: isFree ? await listenFault(values, uid !== 0 && !unit) : undefined,
    tokenFault:
      other || isOutsider
        ? undefined
        : await readToken(options, chosen).then(() => undefined, errorText),
    cluster: await probeCluster(values),
    proxy: url ? await probeProxy(url, origin, values['max-view'], project, data) : undefined,
  };
}

/** Finds the viewlog that runs with these options or, if none runs, the last start. */
async function findViewlog(options: DoctorSettings, self: Announced) {
  const { data: dir } = self;
  const holder = dir === undefined ? undefined : await askHolder(dir);
  const held = typeof holder === 'object' ? holder : undefined;
  const started = held || dir === undefined ? undefined : await lastStart(dir);
  const last = started && { ...started, chosen: { ...started.chosen, ...self.chosen } };
  const status = await statusOf(holder, self, options, valuesOf(options, last).status);
  return { holder, held, status, running: held ?? status.installation, last };
}

/**
 * Returns the account that a viewlog runs or ran as. `undefined` if its process has a different
 * uid on this machine: it may run in a container that maps uids. Such a container can't create
 * files that this machine's root owns.
 */
async function runnerOf({ account, pid }: Announced, { owners }: Installation) {
  if (account === undefined) return undefined;
  const isRoots = owners.data?.uid === 0;
  const isSame = isRoots || (await ownerOf(`/proc/${pid}`))?.uid === account.uid;
  return isSame ? ownerIn(account) : undefined;
}

/**
 * Returns why this user can't listen at the address, by listening there for a moment.
 * @param isExact true: tries the port itself if it is below 1024, which requires a privilege. Other
 *   ports are never tried, because a collector that is starting could need them at that moment.
 */
async function listenFault({ host, port }: Address, isExact: boolean): Promise<string | undefined> {
  const server = createServer();
  try {
    await once(server.listen(isExact && port < 1024 ? port : 0, host), 'listening');
    return undefined;
  } catch (error) {
    return errorText(error);
  } finally {
    server.close();
  }
}

/** Asks the address, unless its port is 0: the doctor can't know which free port was chosen. */
const fetchAt = async (url: string, request?: RequestOptions): Promise<Reply> =>
  url.includes(':0/')
    ? { failure: 'port 0 means any free port', code: 'ECONNREFUSED' }
    : fetchOnce(url, request);

/** The options of another process that the checks need as values; `store` may contain a secret. */
const NEEDED = SERVE_OPTIONS.filter((name) => name !== 'store');

/**
 * Returns the values of another process's options; those of the command line if there is none, or
 * if they are invalid.
 */
function valuesOf(settings: DoctorSettings, other: Announced | undefined): DoctorSettings {
  if (other === undefined) return settings;
  const flags = NEEDED.flatMap((name) => {
    const text = other.chosen[name]?.text;
    return text === undefined ? [] : [{ name, value: text }];
  });
  return { ...settings, ...orElse(() => readSettings(flags, NEEDED, () => undefined), {}) };
}

/** These options decide what is examined, or have checks of their own. */
const NOT_COMPARED = new Set('store nats-creds port status-token-file log'.split(' '));

/**
 * Returns `--max-view 16KiB (not 32KiB)` for each option that differs from the running collector's.
 */
function differences(options: DoctorSettings, self: Announced, running: Announced): string[] {
  const { projects } = running;
  const isNamed = options.projects !== projectsIn(options.data);
  const isOther = isNamed && projects !== undefined && projects !== self.projects;
  const files = isOther ? [`--projects ${projects} (not ${self.projects})`] : [];
  const others = SERVE_OPTIONS.flatMap((name) => {
    const asked = self.chosen[name]?.text;
    if (asked === undefined || NOT_COMPARED.has(name)) return [];
    const { fallback, parser } = OPTIONS[name];
    const { status = '' } = running;
    const shown = name === 'status' ? status.replace(/^.*\//, '') : '';
    const current = shown || (running.chosen[name]?.text ?? fallback ?? '');
    const isThere = [running.address, running.status].some((url) => url?.includes(`//${asked}`));
    const [a, b] = [asked, current].map((text) => JSON.stringify(parser.read(text)));
    return isThere || a === b ? [] : [`--${name} ${current} (not ${asked})`];
  });
  return [...files, ...others];
}

/**
 * Returns the installation to examine. Its program is this one: root must not run what another
 * process names.
 * @param isThere whether the other process is or was in the directory that was asked for.
 */
function examined(self: Announced, other: Announced | undefined, isThere: boolean) {
  if (other === undefined) return withOwners(self);
  const data = isThere ? self.data : other.data;
  // A directory may have another name here: it was copied, or a container mounts it.
  const isInside = isThere && other.data !== undefined && otherProjects(other) === undefined;
  const inside = isInside ? `${data}/projects.json` : other.projects;
  const projects = inside ?? (other.role === 'archive' ? undefined : self.projects);
  const { program } = ownAnnouncement({ ...other, data, projects });
  return withOwners({ ...other, data, projects, program });
}

/**
 * Asks the status server. If a process holds the data directory, only that process knows the
 * address of its status server; otherwise the configured address is used. Leaves out the answers of
 * a server that belongs to another installation.
 */
async function statusOf(
  holder: Facts['holder'],
  { data }: Announced,
  options: ServeSettings,
  configured: ServeSettings['status'],
): Promise<StatusFacts> {
  if (holder === 'unresponsive') return {};
  const held = typeof holder === 'object' ? holder : undefined;
  const configuredAt = configured === 'off' ? undefined : ownAddress(configured);
  const address = held === undefined ? configuredAt : held.status;
  if (address === undefined) return {};
  const given = await readToken(options).catch(() => undefined);
  const answers = await askStatus(address, given ?? (await ownToken(held, data, options)));
  const { installation: shown, isReady } = answers;
  if (held !== undefined) {
    const isSame = !shown || (shown.pid === held.pid && shown.sinceMs === held.sinceMs);
    return isSame ? answers : { address, another: {} };
  }
  if (holder === 'unknown') {
    return shown?.data !== undefined && realPath(shown.data) === realPath(data!) ? answers : {};
  }
  // The operator can't mean the default directory if it doesn't exist.
  const isMeant =
    options.data !== OPTIONS.data.fallback || orElse(() => existsSync(data ?? ''), true);
  const isOurs = data === undefined ? shown?.data === undefined : !isMeant;
  return isOurs || isReady === undefined ? answers : { address, another: shown ?? {} };
}

/**
 * Returns the token of the process that holds the data directory, from the file that it names. Only
 * the process's own user reads that file: root would read any file, and send it to the process.
 */
async function ownToken(held: Announced | undefined, data = '', options: ServeSettings) {
  const { text: file } = held?.chosen['status-token-file'] ?? {};
  const owner = await ownerOf(`${data}/${LOCK_NAME}`);
  if (file === undefined || owner === undefined || owner.uid !== ownUid()) return undefined;
  return readToken({ ...options, 'status-token-file': file }).catch(() => undefined);
}

async function askStatus(address: string, token: string | undefined): Promise<StatusFacts> {
  const reply = await fetchAt(`${address}/readyz`);
  const { status, reasons = [] } = replyFields(reply);
  if (status !== 'ready' && status !== 'not ready') return { address, reply };
  // Only this request carries the token. Without a token, the status server shows fewer fields.
  const headers = token === undefined ? {} : { Authorization: `Bearer ${token}` };
  const fields = replyFields(await fetchOnce(`${address}/status.json`, { headers }));
  const overview = 'problems' in fields ? (fields as unknown as StatusModel) : undefined;
  return {
    address,
    reply,
    isReady: status === 'ready',
    hasToken: token !== undefined,
    reasons: Array.isArray(reasons) ? reasons.map(String) : [],
    overview,
    installation: readAnnounced(JSON.stringify(fields['installation'] ?? null)),
  };
}

/** Returns an origin from which a project's pages may send. */
function senderOf(reading: Parsed, project: string | undefined): string | undefined {
  const sender = activeIn(reading).find(({ id, origins }) => (project ? id === project : origins));
  return sender?.origins?.map(exampleOrigin)[0];
}

export const activeIn = (reading: Parsed) =>
  'faults' in reading ? [] : reading.file.projects.filter(({ active }) => active ?? true);

function runtimeHere() {
  const { versions, platform } = process;
  const { deno, bun, node } = versions as Record<string, string | undefined>;
  const name = deno ? ('Deno' as const) : bun ? ('Bun' as const) : ('Node' as const);
  return { name, version: deno ?? bun ?? node ?? '', platform: platform as string };
}
