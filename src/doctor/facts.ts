import { fetchOnce, type Reply } from '../base/fetch-once.ts';
import { errorText, orElse } from '../base/exit.ts';
import { lastStart } from '../disk/last-start.ts';
import { askHolder, LOCK_NAME } from '../disk/lock.ts';
import type { HolderReply } from '../disk/lock-socket.ts';
import { ownAddress } from '../http/listener.ts';
import { ownUid } from '../installation/accounts.ts';
import { killCommand } from '../installation/commands.ts';
import {
  type Announced,
  type Chosen,
  type Installation,
  ownAnnouncement,
  readAnnounced,
  withOwners,
} from '../installation/installation.ts';
import { exampleOrigin } from '../projects/origins.ts';
import type { Parsed } from '../projects/parse.ts';
import { readProjectsFile, type Reading } from '../projects/projects-file.ts';
import {
  OPTIONS,
  readSettings,
  SERVE_OPTIONS,
  type ServeSettings,
  type Settings,
} from '../settings.ts';
import type { StatusModel } from '../status/model.ts';
import { readToken } from '../status/token.ts';
import { type ClusterFacts, probeCluster } from './cluster-checks.ts';
import { replyFields, preflightFrom } from './reply.ts';
import { type Probed, probeDisk } from './probe-disk.ts';
import { probeProxy, type ProxyReplies } from './proxy.ts';

/** Everything that the checks judge. */
export interface Facts {
  readonly nowMs: number;
  readonly runtime: ReturnType<typeof runtimeHere>;
  /** `undefined` if the runtime doesn't reveal the user (Deno without --allow-sys=uid). */
  readonly ownUid: number | undefined;
  /** The examined installation: a running one's settings, else the last one's, else the options. */
  readonly of: Installation;
  /** The source of its settings. */
  readonly source: 'running' | 'last start' | 'options';
  /** The command line's data directory, absolute; `undefined` if views go to a stream. */
  readonly askedData: string | undefined;
  /** The command line's port; `undefined` if it wasn't chosen. */
  readonly askedPort: number | undefined;
  /** Each option that differs from the running collector's: `--port 9000, not 8080`. */
  readonly different: readonly string[];
  /** The examined settings as values. */
  readonly settings: ServeSettings;
  /** `undefined` if views go to a stream. */
  readonly disk: Probed | undefined;
  readonly projects: Reading;
  /**
   * The process that holds the data directory; `undefined` if there is none, or if this user may
   * not ask.
   */
  readonly holder: HolderReply;
  /** The command that ends that process. */
  readonly kill: string | undefined;
  /** The answer at the collector's address. */
  readonly reply: Reply;
  readonly status: StatusFacts;
  /** Why the status server wouldn't start, if no start is known. */
  readonly tokenFault?: string | undefined;
  /** If `--store` is given. */
  readonly cluster: ClusterFacts | undefined;
  /** If `--url` is given. */
  readonly proxy: ProxyReplies | undefined;
}

/** The status server's answers. */
interface StatusFacts {
  readonly address?: string | undefined;
  /** The answer to `/readyz`. */
  readonly reply?: Reply;
  /** Missing if something else answers. */
  readonly isReady?: boolean;
  /** Why it isn't ready, if the status server says so. */
  readonly reasons?: readonly string[];
  /** Missing if it needs a token, and for an archive. */
  readonly overview?: StatusModel | undefined;
  readonly installation?: Announced | undefined;
}

type DoctorSettings = ServeSettings & Settings<'url' | 'probe-project'>;

/** An Origin that no page has: nobody can own a name under `.invalid`. */
const NO_ORIGIN = 'https://viewlog-doctor.invalid';

/**
 * Examines the installation, and changes nothing.
 * @param self the doctor's own process and options.
 */
export async function gatherFacts(options: DoctorSettings, self: Announced): Promise<Facts> {
  const { url, 'probe-project': project, port } = options;
  const dir = self.data;
  const holder = dir === undefined ? undefined : await askHolder(dir).catch(() => undefined);
  const held = typeof holder === 'object' ? holder : undefined;
  const status = await askStatus(held?.status, options);
  const running = held ?? status.installation;
  const found = running !== undefined || dir === undefined ? undefined : await lastStart(dir);
  const last = found && { ...found, chosen: { ...found.chosen, ...self.chosen } };
  const other = running ?? last;
  const of = await examined(self, other, held !== undefined || last !== undefined);
  const values = other === undefined ? options : valuesOf(options, other);
  const isMoved = ['host', 'port'].some((name) => name in self.chosen);
  const address = running?.address ?? (isMoved ? undefined : last?.address) ?? ownAddress(values);
  const { data, projects: path = '' } = of;
  const projects = await readProjectsFile(path);
  const origin = senderOf(projects, project) ?? NO_ORIGIN;
  const nowMs = Date.now();
  return {
    nowMs,
    runtime: runtimeHere(),
    ownUid: ownUid(),
    of: { ...of, address },
    source: running ? 'running' : last ? 'last start' : 'options',
    askedData: dir,
    askedPort: port === Number(OPTIONS.port.fallback) ? undefined : port,
    different: running === undefined ? [] : differences(self.chosen, running),
    settings: values,
    disk: data === undefined ? undefined : await probeDisk(data, path, values, nowMs),
    projects,
    holder,
    kill: held && (await killCommand(held, `${dir}/${LOCK_NAME}`)),
    reply: await fetchOnce(`${address}/view`, preflightFrom(NO_ORIGIN)),
    status,
    tokenFault: other ? undefined : await readToken(options).then(() => undefined, errorText),
    cluster: await probeCluster(values),
    proxy: url ? await probeProxy(url, origin, values['max-view'], project) : undefined,
  };
}

/** The options of another process that the checks need as values: the store's may be a secret. */
const NEEDED = SERVE_OPTIONS.filter((name) => name !== 'store');

/** Returns the values of another process's options; those of the command line if they are invalid. */
function valuesOf(settings: DoctorSettings, { chosen }: Announced): DoctorSettings {
  const flags = NEEDED.flatMap((name) => {
    const text = chosen[name]?.text;
    return text === undefined ? [] : [{ name, value: text }];
  });
  return { ...settings, ...orElse(() => readSettings(flags, NEEDED, () => undefined), {}) };
}

/** These options decide what is examined, or have checks of their own. */
const NOT_COMPARED = new Set('store nats-creds port status-token-file log'.split(' '));

/**
 * Returns `--max-view 16KiB, not 32KiB` for each option that differs from the running collector's.
 */
function differences(chosen: Chosen, running: Announced): string[] {
  return SERVE_OPTIONS.flatMap((name) => {
    const asked = chosen[name]?.text;
    const { fallback, parser } = OPTIONS[name];
    const { status = '' } = running;
    const shown = name === 'status' ? status.replace(/^.*\//, '') : '';
    const current = shown || (running.chosen[name]?.text ?? fallback ?? '');
    if (asked === undefined || NOT_COMPARED.has(name)) return [];
    const isThere = [running.address, running.status].some((url) => url?.includes(`//${asked}`));
    const [a, b] = [asked, current].map((text) => JSON.stringify(parser.read(text)));
    return isThere || a === b ? [] : [`--${name} ${current}, not ${asked}`];
  });
}

/**
 * Returns the installation to examine. Its program is this one: root must not run what another
 * process names.
 * @param isThere whether the other process is or was in the directory that was asked for.
 */
function examined(self: Announced, other: Announced | undefined, isThere: boolean) {
  if (other === undefined) return withOwners(self);
  const data = isThere ? self.data : other.data;
  const { program } = ownAnnouncement({ ...other, data });
  return withOwners({ ...other, data, program });
}

/**
 * Asks the status server.
 * @param named the address that the process with the lock names; by default that of the options.
 */
async function askStatus(named: string | undefined, options: ServeSettings): Promise<StatusFacts> {
  const configured = options.status === 'off' ? undefined : ownAddress(options.status);
  const address = named ?? configured;
  if (address === undefined) return {};
  const reply = await fetchOnce(`${address}/readyz`);
  const { status, reasons = [] } = replyFields(reply);
  if (status !== 'ready' && status !== 'not ready') return { address, reply };
  // Only this request carries the token. Without a token the status server answers with less.
  const token = await readToken(options).catch(() => undefined);
  const headers = token === undefined ? {} : { Authorization: `Bearer ${token}` };
  const fields = replyFields(await fetchOnce(`${address}/status.json`, { headers }));
  const overview = 'problems' in fields ? (fields as unknown as StatusModel) : undefined;
  return {
    address,
    reply,
    isReady: status === 'ready',
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
