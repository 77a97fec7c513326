import { createCollector } from './collector/routes.ts';
import { EXIT, type ExitCode, Fatal } from './base/exit.ts';
import { LIMITS } from './base/limits.ts';
import type { Log } from './base/log.ts';
import { signals } from './base/signals.ts';
import { every, within } from './base/time.ts';
import { acquireLock, type Lock } from './disk/lock.ts';
import { systemFiles } from './disk/ops.ts';
import { type KeepDays, startRetention } from './disk/retention.ts';
import type { AsOwner } from './disk/root.ts';
import { listen } from './http/listen.ts';
import { ownAddress } from './http/listener.ts';
import { MemoryBudget } from './http/memory-budget.ts';
import { editorOf } from './installation/accounts.ts';
import { type Announced, type Installation, withOwners } from './installation/installation.ts';
import { connectCluster } from './jetstream/connect.ts';
import { followProjects } from './projects/follow.ts';
import type { ProjectList } from './projects/project-list.ts';
import type { ServeSettings } from './settings.ts';
import { collectorStatus } from './status/collector-status.ts';
import { settle } from './status/state.ts';
import { Counts } from './status/counts.ts';
import { everyMinute } from './status/every-minute.ts';
import { CountsFile } from './status/saved-counts.ts';
import { openStatus } from './status/server.ts';
import { readToken } from './status/token.ts';
import { LocalViewStore } from './store/files/view-store.ts';
import { RefusedFiles } from './store/refused/refused-files.ts';
import { createRefusedStream } from './store/refused/refused-stream.ts';
import { createStreamStore } from './store/stream/stream-store.ts';

/** The parameters of a long-running command, besides its settings. */
export interface ServiceOptions {
  /** The facts about this process. */
  readonly self: Announced;
  readonly asOwner: AsOwner;
  readonly log: Log;
}

/**
 * Runs the collector until SIGTERM or SIGINT, or until the store can't go on.
 * @throws {Fatal} if it can't start, or can't write everything that it accepted before it stops.
 */
export async function serve(
  settings: ServeSettings,
  { self, asOwner, log }: ServiceOptions,
): Promise<ExitCode> {
  const { stopped, fail, throwFailure } = stopOrFailure();
  const token = await readToken(settings, self.chosen);
  const counted = await countedProjects(settings, log);
  const { counts, projects, isListed, reload } = counted;
  const open = settings.store === undefined ? openFiles : openStreams;
  // Races with a stop, because a cluster that doesn't answer or a disk that hangs can delay this.
  const opening = open(settings, { self, asOwner, isListed, now: Date.now, log, onFatal: fail });
  const stores = await Promise.race([opening, stopped]);
  if (stores === undefined) return EXIT.done;
  if (stores instanceof Fatal) throw stores;
  const { store, refused, lock } = stores;
  const budget = new MemoryBudget(settings['max-queue']);
  const file = lock && (await countsFile(lock, counted, settings.data, log));
  const viewBytesMax = settings['max-view'];
  const parts = { projects, store, refused, counts, viewBytesMax, now: Date.now, log };

  let isStopping = false;
  let installation = followEditor(await withOwners(self));
  signals.on('SIGHUP', () => void reload());
  // Sent before a stop, so that a proxy that checks health has time to send views elsewhere.
  signals.on('SIGUSR2', () => {
    isStopping = true;
    log.info('viewlog is about to stop but accepts views until then');
  });
  const snapshot = () => ({
    counts,
    projects,
    store: store.state(),
    refused: refused.state(),
    queue: { bytes: budget.bytes, bytesMax: settings['max-queue'] },
    minFreeBytes: settings['min-free'],
    viewBytesMax,
    isStopping,
    nowMs: Date.now(),
  });
  const keepDays = keepDaysOf(settings);
  const service = collectorStatus({ keepDays, installation: () => installation, snapshot });
  const status = await openStatus(settings.status, token, service, log);
  const endMinutes = everyMinute({ snapshot, save: async () => file?.save(), ...service, log });
  const listener = await listen({ ...settings, budget, handler: createCollector(parts) });
  log.info(`viewlog listening on ${listener.url}`);
  installation = { ...installation, address: ownAddress(listener.address), status: status?.url };
  lock?.announce(installation);
  if (status !== undefined) log.info(`Status page on ${status.url}/`);
  const fatal = await stopped;
  isStopping = true;
  if (fatal === undefined) log.info('viewlog stopping');
  counted.close();
  // Answers the requests in flight before it closes the stores: each request waits for its line.
  await listener.stop(fatal === undefined ? LIMITS.drainTimeoutMs : LIMITS.closeTimeoutMs);
  const closing = stores.close(within(LIMITS.closeTimeoutMs, endMinutes()));
  const [closed] = await Promise.allSettled([closing]);
  await status?.stop();
  throwFailure();
  if (closed.status === 'rejected') throw closed.reason;
  return EXIT.done;
}

/** Follows the projects file and counts the projects' views. */
async function countedProjects(settings: ServeSettings, log: Log) {
  const isListed = (id: string): boolean => projects.find(id) !== undefined;
  const counts = new Counts(Date.now, isListed);
  const settleFor = (listed: ProjectList): void =>
    settle({ counts, projects: listed, viewBytesMax: settings['max-view'], nowMs: Date.now() });
  const following = await followProjects(settings, log, counts.isSending, settleFor);
  const { projects } = following;
  return { ...following, counts, isListed, settle: () => settleFor(projects) };
}

/**
 * Restores the counts of earlier processes. Saves them also when the projects change, because
 * commands read the entries of removed projects from them.
 */
async function countsFile(
  lock: Lock,
  { counts, projects, settle: settleNow, storeIn }: Awaited<ReturnType<typeof countedProjects>>,
  dir: string,
  log: Log,
): Promise<CountsFile> {
  const file = new CountsFile({ dir, counts, projects, settle: settleNow, lock, log });
  await file.restore();
  // The stored list is the only copy of a removed entry until the counts are saved.
  const storeProjects = (text: string): void =>
    void file.save().then(() => lock.storeProjects(text));
  await storeIn(dir, { storeProjects });
  return file;
}

const EDITOR_MS = 2_000;

/** Keeps `owners.editor` up to date, because the projects file may get another owner. */
function followEditor(of: Installation): Installation {
  const update = async () => Object.assign(of.owners, { editor: await editorOf(of.projects!) });
  every(EDITOR_MS, () => void update());
  return of;
}

const keepDaysOf = (settings: ServeSettings): KeepDays => {
  return { views: settings['keep-days'], refused: settings['keep-refused-days'] };
};

interface StoresOptions extends ServiceOptions {
  readonly isListed: (id: string) => boolean;
  readonly now: () => number;
  /** Called if a store can't continue and the process must end. */
  readonly onFatal: (fatal: Fatal) => void;
}

/**
 * Locks the data directory, seals its view file, and begins to remove old files.
 * @throws {Fatal} if the settings can't be met.
 */
async function openFiles(settings: ServeSettings, options: StoresOptions) {
  const { data: dir, durability, 'min-free': minFreeBytes } = settings;
  const { self, asOwner, log, onFatal } = options;
  const wanted = settings.port === 0 ? undefined : ownAddress(settings);
  const lock = await acquireLock(dir, { self, asOwner, wanted, log, onLost: onFatal });
  const common = { ...options, dir, files: systemFiles, minFreeBytes };
  const store = new LocalViewStore({ ...common, durability });
  await store.start();
  const freeBytes = () => store.state().freeBytes;
  const maxBytesPerDay = settings['max-refused'];
  const refused = new RefusedFiles({ ...common, maxBytesPerDay, freeBytes });
  startRetention({
    ...common,
    keepDays: keepDaysOf(settings),
    isInUse: (kind, day) => (kind === 'views' ? store : refused).isInUse(day),
    isLocked: () => lock.isHeld(),
  });
  return {
    store,
    refused,
    lock,
    /**
     * @param saving a write to the data directory, which must end before the lock is released.
     * @throws {Fatal} if a view couldn't be written or synced after the stop began.
     */
    async close(saving: Promise<unknown>) {
      await Promise.all([refused.close(LIMITS.closeTimeoutMs), saving]);
      try {
        await store.close(LIMITS.closeTimeoutMs);
      } finally {
        await lock.release();
      }
    },
  };
}

/**
 * Opens the streams of views and of refused views in a cluster.
 * @throws {Fatal} if the settings can't be met.
 */
async function openStreams(settings: ServeSettings, options: StoresOptions) {
  const { store: address, 'nats-stream': stream, 'nats-creds': credsFile } = settings;
  const cluster = await connectCluster({
    ...options,
    address: address!,
    credsFile,
    isCollector: true,
  });
  const common = { ...options, cluster };
  const store = await createStreamStore({
    ...common,
    stream,
    replicas: settings['nats-replicas'],
    viewBytesMax: settings['max-view'],
  });
  const refused = await createRefusedStream({
    ...common,
    stream: `${stream}_REFUSED`,
    replicas: store.state().stream.seen.replicas,
    maxBytes: settings['max-refused'],
    keepDays: settings['keep-refused-days'],
  });
  options.log.info(`Storing views in stream ${stream}, connected to NATS server ${cluster.server}`);
  return {
    store,
    refused,
    lock: undefined,
    async close(saving: Promise<unknown>) {
      await saving;
      // Every request has been answered.
      store.close();
      refused.close();
      await cluster.close(LIMITS.closeTimeoutMs);
    },
  };
}

/**
 * `stopped` resolves at SIGTERM or SIGINT, or to the error that `fail` is called with.
 * `throwFailure` throws the first such error, which may have come after the signal.
 */
export function stopOrFailure() {
  let failure: Fatal | undefined;
  let end!: (fatal?: Fatal) => void;
  const stopped = new Promise<Fatal | undefined>((resolve) => {
    end = resolve;
  });
  signals.onStop(() => end());
  const fail = (fatal: Fatal): void => {
    failure ??= fatal;
    end(failure);
  };
  const throwFailure = (): void => {
    if (failure !== undefined) throw failure;
  };
  return { stopped, fail, throwFailure };
}
