import { createCollector } from './collector/routes.ts';
import { EXIT, type ExitCode, Fatal } from './base/exit.ts';
import { listen } from './http/listen.ts';
import type { Log } from './base/log.ts';
import { ownAddress } from './http/own-address.ts';
import { openProjects } from './projects/follow.ts';
import { MemoryBudget } from './http/memory-budget.ts';
import type { Settings } from './settings.ts';
import { LIMITS } from './base/limits.ts';
import { openStatus } from './status/open-status.ts';
import { Counts } from './status/counts.ts';
import { History } from './status/history.ts';
import { installationOf } from './status/shell-commands.ts';
import { readToken } from './status/token.ts';
import { watchedCollector } from './status/watched-collector.ts';
import { signals } from './base/signals.ts';
import { openStores } from './store/open-stores.ts';

/** What an operator chooses of a collector. */
export const SERVE_OPTIONS = [
  'host',
  'port',
  'data',
  'projects',
  'durability',
  'max-view',
  'max-queue',
  'min-free',
  'max-refused',
  'keep-refused-days',
  'keep-days',
  'store',
  'nats-stream',
  'nats-replicas',
  'nats-creds',
  'status',
  'status-token-file',
  'log',
] as const;

/**
 * Runs the collector until SIGTERM or SIGINT, or until the store cannot go on.
 * @throws {Fatal} where it cannot start, or could not keep what it promised when it stopped.
 */
export async function serve(
  settings: Settings<(typeof SERVE_OPTIONS)[number]>,
  log: Log,
): Promise<ExitCode> {
  let fail!: (fatal: Fatal) => void;
  const stopped = new Promise<Fatal | undefined>((resolve) => {
    signals.onStop(() => resolve(undefined));
    fail = resolve;
  });
  const now = Date.now;
  const { host, port } = settings;
  const token = await readToken(settings);
  const projects = await openProjects({ path: settings.projects, log });
  // Servers that say nothing, or a disk that hangs, can hold this up.
  const opening = openStores({ settings, projects, now, log, onFatal: fail });
  const stores = await Promise.race([opening, stopped]);
  if (stores === undefined) return EXIT.done;
  if (stores instanceof Fatal) throw stores;
  const { store, refused } = stores;
  const budget = new MemoryBudget(settings['max-queue']);
  const counts = new Counts({ now, isListed: (id) => projects.find(id) !== undefined });
  // Before a view is taken, so that none is counted twice.
  const history = historyOf(settings, counts, log);
  const viewBytesMax = settings['max-view'];
  const parts = { projects, store, refused, counts, viewBytesMax, now, log };

  let [isStopping, url] = [false, ''];
  signals.on('SIGHUP', () => void projects.reload());
  // Said before a stop, so that a proxy which asks for health sends elsewhere, or waits, in time.
  signals.on('SIGUSR2', () => {
    isStopping = true;
    log.info('viewlog about to stop: not ready, though it still takes views');
  });
  const watched = watchedCollector({
    counts,
    known: history ?? { sinceMs: counts.sinceMs, isReading: false },
    projects,
    installation: installationOf(settings),
    url: () => url,
    store,
    refused,
    queue: budget,
    queueBytesMax: settings['max-queue'],
    isStopping: () => isStopping,
    now,
  });
  const status = await openStatus(settings.status, token, watched);
  const listener = await listen({ host, port, budget, handler: createCollector(parts) });
  log.info(`viewlog listening on ${listener.url}`);
  url = ownAddress({ host, port: Number(new URL(listener.url).port) });
  stores.announce(url);
  void history?.read();
  if (status !== undefined) log.info(`status page on ${status.url}/`);
  const fatal = await stopped;
  isStopping = true;
  if (fatal === undefined) log.info('viewlog stopping');
  projects.close();
  history?.stop();
  // The requests under way first: each waits for its line.
  await listener.stop(fatal === undefined ? LIMITS.drainTimeoutMs : LIMITS.closeTimeoutMs);
  await stores.close();
  await status?.stop();
  if (fatal !== undefined) throw fatal;
  return EXIT.done;
}

/** Of the time before the start, for whoever looks; views that go elsewhere leave none here. */
function historyOf(
  settings: Settings<'data' | 'projects' | 'store' | 'status' | 'durability'>,
  counts: Counts,
  log: Log,
): History | undefined {
  const { dataDir: dir } = installationOf(settings);
  return dir === undefined || settings.status === 'off'
    ? undefined
    : new History({ dir, counts, log, durability: settings.durability });
}
