import { createCollector, refuseUnreadable } from './collector.ts';
import { EXIT, type ExitCode, Fatal } from './fatal.ts';
import { listen } from './listen.ts';
import { consoleLog as log } from './log.ts';
import { openProjects } from './projects/watch.ts';
import { createQueue } from './queue.ts';
import { LIMITS, type Settings } from './settings.ts';
import { createRefusedStore } from './store/refused.ts';
import { createViewStore } from './store/view-store.ts';

/**
 * Runs the collector until SIGTERM or SIGINT, or until the store cannot go on.
 * @throws {Fatal} where it cannot start, or could not keep what it promised when it stopped.
 */
export async function serve(settings: Settings): Promise<ExitCode> {
  const stop = stopSignal();
  const projects = await openProjects({ path: settings.projects, log });
  const disk = { dir: settings.data, minFreeBytes: settings['min-free'], now: Date.now, log };
  const store = await createViewStore({
    ...disk,
    durability: settings.durability,
    onFatal: stop.fail,
  });
  const refused = createRefusedStore({
    ...disk,
    bytesPerDayMax: settings['max-refused'],
    keepDays: settings['keep-refused-days'],
    isListed: (id) => projects.find(id) !== undefined,
  });
  const app = createCollector({
    projects,
    store,
    refused,
    queue: createQueue(settings['max-queue']),
    viewBytesMax: settings['max-view'],
    now: Date.now,
    log,
  });
  const { host, port } = settings;
  const listener = await listen({ host, port, handler: app.fetch, unreadable: refuseUnreadable });
  log.info(`viewlog listening on ${listener.url}`);
  process.on('SIGHUP', () => void projects.reload());

  const fatal = await stop.asked;
  if (fatal === undefined) log.info('viewlog stopping');
  projects.close();
  await listener.stop(LIMITS.stopTimeoutMs);
  await store.close(LIMITS.stopTimeoutMs);
  await refused.close();
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
