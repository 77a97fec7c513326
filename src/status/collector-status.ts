import type { Context } from 'hono';
import { reasonOf } from '../base/exit.ts';
import type { Log } from '../base/log.ts';
import { unpacked } from '../base/built.ts';
import { MINUTE_MS, sleep } from '../base/time.ts';
import { BUILD } from '../base/built.ts';
import type { Projects } from '../projects/project-list.ts';
import type { Service } from './app.ts';
import type { Counts } from './counts.ts';
import { healthOf, isReady, warningsOf } from './health.ts';
import { lookAround } from './look-around.ts';
import { collectorMetrics, type RefusedState } from './metrics.ts';
import { type Asked, type StatusModel, aroundOf, modelOf } from './model.ts';
import { page } from './page.tsx';
import { RefusalLog } from './refusal-log.ts';
import { installationOf } from './shell-commands.ts';
import { type ShownSettings, shownSettings } from './shown-settings.ts';
import { type Judged, judgeAll } from './state.ts';
import type { WatchedState } from './store-facts.ts';
import { statusText } from './text.ts';
import { nearestIds } from './unlisted-ids.ts';

/** What is looked at of a collector. Nothing here changes anything. */
export interface CollectorSource {
  readonly settings: Parameters<typeof shownSettings>[0] & { readonly 'max-queue': number };
  readonly counts: Counts;
  readonly projects: Projects;
  /** The collector's own address, without a slash at its end. */
  readonly url: () => string;
  readonly store: { state(): WatchedState };
  readonly refused: { state(): RefusedState };
  readonly queue: { readonly bytes: number };
  readonly isStopping: () => boolean;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}

/** What `/status.json` says beside the model. */
export interface About {
  readonly version: string;
  readonly pid: number;
  readonly settings: ShownSettings;
}

/** What is in `page/`, put here by build.mjs, so that viewlog stays one file. */
declare const STATUS_PAGE: string;

const OPEN_MAX = 20;
const FILTER_LENGTH_MAX = 100;

/** A collector's status: its page, the same as text, and as JSON for the doctor. */
export function collectorStatus(source: CollectorSource): Service {
  const { settings, url } = source;
  const installation = installationOf(settings);
  const place = () => ({ ...installation, url: url(), viewBytesMax: settings['max-view'] });
  const keepDays = { views: settings['keep-days'], refused: settings['keep-refused-days'] };
  const nearestId = nearestIds();
  const look = async (asked: Asked): Promise<StatusModel> => {
    const files = await lookAround(installation.dataDir, keepDays, source.now());
    const judged = await judgeListed(source);
    const input = inputOf(source);
    return modelOf({ ...input, judged, files, warnings: warningsOf(input), nearestId }, asked);
  };
  return {
    health: () => healthOf(inputOf(source)),
    metrics: () => {
      const input = inputOf(source);
      return collectorMetrics(input, isReady(healthOf(input)));
    },
    pages: {
      '/': async (context) => {
        const asked = askedIn(context);
        const shown = { model: await look(asked), place: place(), asked, version: BUILD };
        return context.html(page(shown));
      },
      '/page.css': (context) => pageFile(context, 'css', 'text/css'),
      '/page.js': (context) => pageFile(context, 'js', 'text/javascript'),
      '/status.txt': async (context) =>
        context.text(statusText(await look(askedIn(context)), place(), BUILD)),
      '/status.json': async (context) => {
        const shown = shownSettings(settings, url());
        const about: About = { version: BUILD, pid: process.pid, settings: shown };
        return context.json({ ...(await look(askedIn(context))), ...about });
      },
    },
  };
}

const askedIn = ({ req }: Context): Asked => ({
  open: new Set(req.queries('open')?.slice(0, OPEN_MAX)),
  filter: (req.query('filter') ?? '').trim().slice(0, FILTER_LENGTH_MAX),
});

function pageFile(context: Context, name: string, type: string): Response {
  const text = typeof STATUS_PAGE === 'undefined' ? '' : unpacked(STATUS_PAGE)[name]!;
  return context.body(text, 200, { 'Content-Type': `${type}; charset=utf-8` });
}

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

const judgeListed = (source: CollectorSource): Promise<Judged[]> =>
  judgeAll(source.projects.all(), source.counts.projects, aroundOf(inputOf(source)));

/**
 * Once a minute saves the counts, and logs which projects' views begin to be refused.
 * @param save never rejects.
 * @returns a function that ends it; it resolves once the counts are saved for the last time.
 */
export function everyMinute(
  source: CollectorSource,
  save: () => Promise<void>,
  log: Log,
  everyMs = MINUTE_MS,
): () => Promise<void> {
  const ending = new AbortController();
  const refusals = new RefusalLog(log);
  const run = async (): Promise<void> => {
    for (let isLast = false; !isLast;) {
      await sleep(everyMs, ending.signal);
      isLast = ending.signal.aborted;
      await save();
      try {
        if (!isLast) refusals.look(await judgeListed(source), source.now());
      } catch (error) {
        log.error(`The status page’s minute failed: ${reasonOf(error)}`);
      }
    }
  };
  const running = run();
  return () => {
    ending.abort();
    return running;
  };
}
