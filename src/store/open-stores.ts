import type { Fatal } from '../base/exit.ts';
import { connectCluster } from '../jetstream/connect.ts';
import type { ClusterAddress } from '../jetstream/address.ts';
import type { Log } from '../base/log.ts';
import type { Projects } from '../projects/project-list.ts';
import { LIMITS } from '../base/limits.ts';
import { within } from '../base/time.ts';
import { acquireLock } from '../disk/lock.ts';
import { systemFiles } from '../disk/ops.ts';
import { createRefusedStream } from './refused/refused-stream.ts';
import { type LocalRefusedStore, RefusedFiles } from './refused/refused-files.ts';
import { Retention } from '../disk/retention.ts';
import { createStreamStore, type StreamStore } from './stream/stream-store.ts';
import { LocalViewStore } from './files/view-store.ts';

interface Stores {
  readonly store: LocalViewStore | StreamStore;
  readonly refused: LocalRefusedStore;
  /** Makes this collector's addresses known to a second collector that starts in the directory. */
  announce(url: string, status: string | undefined): void;
  /** The data directory, if there is one. */
  readonly directory?: DataDirectory;
  /** @param save writes more to the data directory, while it is still locked. */
  close(save?: () => Promise<void>): Promise<void>;
}

interface DataDirectory {
  readonly dir: string;
  /** While it returns false, nothing may be written there. */
  readonly isLocked: () => boolean;
}

/** The operator's settings: sizes in bytes, ages in days. */
interface StoresSettings {
  readonly data: string;
  readonly durability: 'disk' | 'os';
  readonly 'max-view': number;
  readonly 'min-free': number;
  readonly 'max-refused': number;
  readonly 'keep-refused-days': number;
  readonly 'keep-days': number;
  readonly store: ClusterAddress | undefined;
  readonly 'nats-stream': string;
  readonly 'nats-replicas': number | undefined;
  readonly 'nats-creds': string | undefined;
}

interface StoresOptions {
  readonly settings: StoresSettings;
  readonly projects: Projects;
  readonly now: () => number;
  readonly log: Log;
  /** Called if a store can't continue and the process must end. */
  readonly onFatal: (fatal: Fatal) => void;
}

/**
 * Opens the stores that the settings choose.
 * @throws {Fatal} if the settings cannot be met.
 */
export function openStores(options: StoresOptions): Promise<Stores> {
  const { store: address } = options.settings;
  return address === undefined ? openFiles(options) : openStreams(options, address);
}

/** Locks the data directory, seals its view file, and begins to remove old files. */
async function openFiles({ settings, projects, now, log, onFatal }: StoresOptions) {
  const { data: dir, durability } = settings;
  const minFreeBytes = settings['min-free'];
  const lock = await acquireLock(dir, { log, onLost: onFatal });
  const store = new LocalViewStore({ dir, durability, minFreeBytes, now, log, onFatal });
  await store.start();
  const refused = new RefusedFiles({
    dir,
    maxBytesPerDay: settings['max-refused'],
    minFreeBytes,
    freeBytes: () => store.freeBytes(),
    isListed: (id) => projects.find(id) !== undefined,
    now,
    log,
  });
  const retention = new Retention({
    dir,
    keepDays: settings['keep-days'],
    keepRefusedDays: settings['keep-refused-days'],
    now,
    log,
    files: systemFiles,
    hasWritten: (kind, day) => (kind === 'views' ? store : refused).hasWritten(day),
    isLocked: () => lock.isHeld(),
  });
  return {
    store,
    refused,
    announce: (url: string, status: string | undefined) => lock.announce(url, status),
    directory: { dir, isLocked: () => lock.isHeld() },
    async close(save = () => Promise.resolve()) {
      const timeMs = LIMITS.closeTimeoutMs;
      retention.stop();
      await Promise.all([refused.close(timeMs), within(timeMs, save())]);
      await store.close(timeMs);
      await lock.release();
    },
  };
}

/** Opens the streams of views and of refused views in a cluster. */
async function openStreams(
  { settings, projects, now, log, onFatal }: StoresOptions,
  address: ClusterAddress,
) {
  const stream = settings['nats-stream'];
  const credsFile = settings['nats-creds'];
  const cluster = await connectCluster({ address, credsFile, log, now, onFatal });
  const store = await createStreamStore({
    cluster,
    stream,
    replicas: settings['nats-replicas'],
    viewBytesMax: settings['max-view'],
    now,
    log,
  });
  const refused = await createRefusedStream({
    cluster,
    stream: `${stream}_REFUSED`,
    replicas: store.state().stream.seen.replicas,
    maxBytes: settings['max-refused'],
    keepDays: settings['keep-refused-days'],
    isListed: (id) => projects.find(id) !== undefined,
    now,
    log,
  });
  const { server } = cluster;
  log.info(`Storing views in stream ${stream}, connected to NATS server ${server}`);
  return {
    store,
    refused,
    announce() {},
    async close() {
      // Called when every request has had its answer.
      store.close();
      await refused.close(LIMITS.closeTimeoutMs);
      await cluster.close(LIMITS.closeTimeoutMs);
    },
  };
}
