import { createCollector } from './collector/routes.ts';
import { EXIT, type ExitCode, Fatal } from './base/exit.ts';
import { listen } from './http/listen.ts';
import type { Log } from './base/log.ts';
import { ownAddress, portOf } from './http/listener.ts';
import { openProjects } from './projects/follow.ts';
import { MemoryBudget } from './http/memory-budget.ts';
import type { ServeSettings } from './settings.ts';
import { LIMITS } from './base/limits.ts';
import { collectorStatus, everyMinute } from './status/collector-status.ts';
import { Counts } from './status/counts.ts';
import { CountsFile } from './status/saved-counts.ts';
import { openStatus } from './status/server.ts';
import { readToken } from './status/token.ts';
import { signals } from './base/signals.ts';
import { openStores } from './store/open-stores.ts';

/**
 * Runs the collector until SIGTERM or SIGINT, or until the store cannot go on.
 * @throws {Fatal} if it cannot start, or cannot write what it accepted when it stops.
 */
export async function serve(settings: ServeSettings, log: Log): Promise<ExitCode> {
  const { stopped, fail } = stopOrFailure();
  const now = Date.now;
  const { host, port } = settings;
  const token = await readToken(settings);
  const projects = await openProjects({ path: settings.projects, log });
  // A cluster that does not answer, or a disk that hangs, can delay this.
  const opening = openStores({ settings, projects, now, log, onFatal: fail });
  const stores = await Promise.race([opening, stopped]);
  if (stores === undefined) return EXIT.done;
  if (stores instanceof Fatal) throw stores;
  const { store, refused } = stores;
  const budget = new MemoryBudget(settings['max-queue']);
  const counts = new Counts(now, (id) => projects.find(id) !== undefined);
  const file = stores.directory && new CountsFile({ ...stores.directory, counts, log });
  await file?.restore();
  const viewBytesMax = settings['max-view'];
  const parts = { projects, store, refused, counts, viewBytesMax, now, log };

  let isStopping = false;
  let url = '';
  signals.on('SIGHUP', () => void projects.reload());
  // Sent before a stop, so that a proxy that checks health has time to send views elsewhere.
  signals.on('SIGUSR2', () => {
    isStopping = true;
    log.info('viewlog is about to stop: not ready, but still accepting views');
  });
  const look = () => ({
    counts,
    projects,
    store: store.state(),
    refused: refused.state(),
    queue: { bytes: budget.bytes, bytesMax: settings['max-queue'] },
    minFreeBytes: settings['min-free'],
    isStopping,
    nowMs: now(),
  });
  const service = collectorStatus({ settings, url: () => url, look });
  const status = await openStatus(settings.status, token, service, log);
  const endMinutes = everyMinute(look, async () => file?.save(), log);
  const listener = await listen({ host, port, budget, handler: createCollector(parts) });
  log.info(`viewlog listening on ${listener.url}`);
  url = ownAddress({ host, port: portOf(listener.url)! });
  stores.announce(url, status?.url);
  if (status !== undefined) log.info(`status page on ${status.url}/`);
  const fatal = await stopped;
  isStopping = true;
  if (fatal === undefined) log.info('viewlog stopping');
  projects.close();
  // Stops with the requests in flight first: each of them waits for its line.
  await listener.stop(fatal === undefined ? LIMITS.drainTimeoutMs : LIMITS.closeTimeoutMs);
  await stores.close(endMinutes);
  await status?.stop();
  if (fatal !== undefined) throw fatal;
  return EXIT.done;
}

/** `stopped` resolves at SIGTERM or SIGINT, or to the error that `fail` is called with. */
export function stopOrFailure() {
  let fail!: (fatal: Fatal) => void;
  const stopped = new Promise<Fatal | undefined>((resolve) => {
    signals.onStop(() => resolve(undefined));
    fail = resolve;
  });
  return { stopped, fail };
}
