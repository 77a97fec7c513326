import { createCollector, refuseUnreadable } from './collector.ts';
import { EXIT, type ExitCode, type Fatal } from './fatal.ts';
import { listen } from './listen.ts';
import { consoleLog as log } from './log.ts';
import { openProjects } from './projects/watch.ts';
import { createQueue } from './queue.ts';
import { LIMITS, type Settings } from './settings.ts';
import { prepareDirectory } from './store/directory.ts';
import { systemFiles } from './store/file-ops.ts';
import { acquireLock } from './store/lock.ts';
import { createRefusedStore } from './store/refused.ts';
import { startRetention } from './store/retention.ts';
import { createViewStore } from './store/view-store.ts';

/**
 * Runs the collector until SIGTERM or SIGINT, or until the store cannot go on.
 * @throws {Fatal} where it cannot start, or could not keep what it promised when it stopped.
 */
export async function serve(settings: Settings): Promise<ExitCode> {
  const stop = stopSignal();
  const { host, port, data: dir } = settings;
  const projects = await openProjects({ path: settings.projects, log });
  await prepareDirectory(dir, systemFiles);
  const lock = await acquireLock(dir);
  const now = Date.now;
  const minFreeBytes = settings['min-free'];
  const { durability } = settings;
  const store = await createViewStore({
    dir,
    durability,
    minFreeBytes,
    now,
    log,
    onFatal: stop.fail,
  });
  const refused = createRefusedStore({
    dir,
    maxBytesPerDay: settings['max-refused'],
    minFreeBytes,
    freeBytes: () => store.state().freeBytes,
    isListed: (id) => projects.find(id) !== undefined,
    now,
    log,
  });
  const keepRefusedDays = settings['keep-refused-days'];
  const retention = startRetention({
    dir,
    keepDays: settings['keep-days'],
    keepRefusedDays,
    now,
    log,
  });
  const queue = createQueue(settings['max-queue']);
  const viewBytesMax = settings['max-view'];
  const app = createCollector({ projects, store, refused, queue, viewBytesMax, now, log });
  const listener = await listen({ host, port, handler: app.fetch, unreadable: refuseUnreadable });
  log.info(`viewlog listening on ${listener.url}`);
  process.on('SIGHUP', () => void projects.reload());

  const fatal = await stop.asked;
  if (fatal === undefined) log.info('viewlog stopping');
  projects.close();
  retention.stop();
  // The requests under way first: each waits for its line.
  await listener.stop(fatal === undefined ? LIMITS.drainTimeoutMs : LIMITS.closeTimeoutMs);
  await refused.close(LIMITS.closeTimeoutMs);
  await store.close(LIMITS.closeTimeoutMs);
  await lock.release();
  if (fatal !== undefined) throw fatal;
  return EXIT.done;
}

/** The first SIGTERM or SIGINT asks for a stop, the second ends the process at once. */
function stopSignal(): { asked: Promise<Fatal | undefined>; fail: (fatal: Fatal) => void } {
  let fail!: (fatal: Fatal) => void;
  const asked = new Promise<Fatal | undefined>((resolve) => {
    let signals = 0;
    const onSignal = (_: NodeJS.Signals, number: number): void => {
      signals += 1;
      if (signals > 1) process.exit(128 + number);
      resolve(undefined);
    };
    process.on('SIGTERM', onSignal).on('SIGINT', onSignal);
    fail = resolve;
  });
  return { asked, fail };
}
