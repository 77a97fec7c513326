import type { Log } from '../base/log.ts';
import { BUILD } from '../base/version.ts';
import { MINUTE_MS } from '../base/time.ts';
import { reasonOf } from '../base/exit.ts';
import type { Projects } from '../projects/project-list.ts';
import type { Service } from './app.ts';
import type { Counts } from './counts.ts';
import { healthOf, isReady, warningsOf } from './health.ts';
import { lookAround } from './look-around.ts';
import { collectorMetrics, type RefusedCounts } from './metrics.ts';
import { type Asked, type StatusModel, aroundOf, modelOf } from './model.ts';
import { page } from './page.tsx';
import { pageFiles } from './page-files.ts';
import { RefusalLog } from './refusal-log.ts';
import { json, reply } from './replies.ts';
import { judgeAll } from './state.ts';
import type { WatchedState } from './store-facts.ts';
import { type ShownSettings, shownSettings } from './shown-settings.ts';
import { statusText } from './text.ts';
import { type Installation, installationOf } from './shell-commands.ts';
import { nearestIds } from './unlisted-ids.ts';
import type { Place } from './words.ts';

/** What is looked at of a collector. Nothing here changes anything. */
export interface CollectorSource {
  readonly settings: Parameters<typeof shownSettings>[0] & { readonly 'max-queue': number };
  readonly counts: Counts;
  readonly projects: Projects;
  /** The collector's own address, without a slash at its end. */
  readonly url: () => string;
  readonly store: { state(): WatchedState };
  readonly refused: { state(): RefusedCounts };
  readonly queue: { readonly bytes: number };
  readonly isStopping: () => boolean;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}

/** A collector's status: its page, the same as text, and as JSON for the doctor. */
export function collectorStatus(source: CollectorSource): Service {
  const { settings, url } = source;
  const installation = installationOf(settings);
  const place = (): Place => ({ ...installation, url: url(), viewBytesMax: settings['max-view'] });
  const look = looker(source, installation);
  return {
    health: () => healthOf(inputOf(source)),
    metrics: () => {
      const input = inputOf(source);
      return collectorMetrics({ ...input, isReady: isReady(healthOf(input)) });
    },
    pages: {
      '/': async (query) => {
        const asked = askedIn(query);
        const shown = { model: await look(asked), place: place(), asked, version: BUILD };
        return reply(200, 'text/html; charset=utf-8', page(shown));
      },
      '/page.css': () => reply(200, 'text/css; charset=utf-8', pageFiles().css),
      '/page.js': () => reply(200, 'text/javascript; charset=utf-8', pageFiles().js),
      '/status.txt': async (query) =>
        reply(200, TEXT, statusText(await look(askedIn(query)), place(), BUILD)),
      '/status.json': async (query) => {
        const about: About = {
          version: BUILD,
          pid: process.pid,
          settings: shownSettings(settings, url()),
        };
        return json({ ...(await look(askedIn(query))), ...about });
      },
    },
  };
}

/** What `/status.json` says beside the model. */
export interface About {
  readonly version: string;
  readonly pid: number;
  readonly settings: ShownSettings;
}

const TEXT = 'text/plain; charset=utf-8';
const OPEN_MAX = 20;
const FILTER_LENGTH_MAX = 100;

const askedIn = (query: URLSearchParams): Asked => ({
  open: new Set(query.getAll('open').slice(0, OPEN_MAX)),
  filter: (query.get('filter') ?? '').trim().slice(0, FILTER_LENGTH_MAX),
});

const inputOf = (source: CollectorSource) => ({
  counts: source.counts,
  projects: source.projects,
  minFreeBytes: source.settings['min-free'],
  store: source.store.state(),
  refused: source.refused.state(),
  queue: { bytes: source.queue.bytes, bytesMax: source.settings['max-queue'] },
  isStopping: source.isStopping(),
  nowMs: source.now(),
});

function looker(
  source: CollectorSource,
  { dataDir: dir }: Installation,
): (asked: Asked) => Promise<StatusModel> {
  const nearestId = nearestIds();
  const { projects, counts, settings, now } = source;
  const keepDays = { views: settings['keep-days'], refused: settings['keep-refused-days'] };
  return async (asked) => {
    const files = await lookAround(dir, keepDays, now());
    const judged = await judgeAll(projects.all(), counts.projects, aroundOf(inputOf(source)));
    const input = inputOf(source);
    return modelOf({ ...input, judged, files, warnings: warningsOf(input), nearestId }, asked);
  };
}

/**
 * Once a minute logs which projects' views begin to be refused, and saves the counts.
 * @returns what ends it.
 */
export function everyMinute(
  source: CollectorSource,
  save: (() => Promise<void>) | undefined,
  log: Log,
  everyMs = MINUTE_MS,
): () => void {
  const refusals = new RefusalLog(log);
  const run = async (): Promise<void> => {
    try {
      const { projects, counts } = source;
      const input = inputOf(source);
      refusals.look(await judgeAll(projects.all(), counts.projects, aroundOf(input)), input.nowMs);
      await save?.();
    } catch (error) {
      log.error(`The status page’s minute failed: ${reasonOf(error)}`);
    }
  };
  const timer = setInterval(() => void run(), everyMs);
  timer.unref();
  return () => clearInterval(timer);
}
