import type { Context } from 'hono';
import { BUILD, unpacked } from '../base/built.ts';
import type { Service } from './app.ts';
import { type CollectorState, healthOf, warningsOf } from './health.ts';
import { lookAround } from './look-around.ts';
import { collectorMetrics } from './metrics.ts';
import { modelOf } from './model.ts';
import { page } from './page.tsx';
import { type Chosen, type Place, placeOf } from './shell-commands.ts';
import { judgeListed } from './state.ts';
import { statusText } from './text.ts';

/** A collector, as its status reads it. */
export interface CollectorSource {
  readonly settings: Chosen;
  /** Its own address, without a slash at its end. */
  readonly url: () => string;
  readonly look: () => CollectorState;
}

/** Facts in `/status.json` beside the model. */
export interface About {
  readonly version: string;
  readonly pid: number;
  readonly settings: Place;
}

/** The files of `page/`; put here by build.mjs, so that viewlog stays one file. */
declare const STATUS_PAGE: string;

const OPEN_MAX = 20;
const FILTER_LENGTH_MAX = 100;

/** A collector's status: its page, the same as text, and as JSON for the doctor. */
export function collectorStatus({ settings, url, look }: CollectorSource): Service {
  const placeAtStart = placeOf(settings, '');
  const keepDays = { views: settings['keep-days'], refused: settings['keep-refused-days'] };
  const shownFor = async ({ req }: Context) => {
    const open = new Set(req.queries('open')?.slice(0, OPEN_MAX));
    const filter = (req.query('filter') ?? '').trim().slice(0, FILTER_LENGTH_MAX);
    const files = await lookAround(placeAtStart.data, keepDays, look().nowMs);
    const judged = await judgeListed({ ...look(), files });
    const state = look();
    const model = modelOf({ ...state, judged, files, warnings: warningsOf(state) }, filter);
    const place = { ...placeAtStart, url: url() };
    return { model, place, asked: { open, filter }, version: BUILD };
  };
  return {
    health: () => healthOf(look()),
    metrics: () => collectorMetrics(look()),
    pages: {
      '/': async (context) => context.html(page(await shownFor(context))),
      '/page.css': (context) => pageFile(context, 'css', 'text/css'),
      '/page.js': (context) => pageFile(context, 'js', 'text/javascript'),
      '/status.txt': async (context) => {
        const { model, place } = await shownFor(context);
        return context.text(statusText(model, place, BUILD));
      },
      '/status.json': async (context) => {
        const { model, place } = await shownFor(context);
        const about: About = { version: BUILD, pid: process.pid, settings: place };
        return context.json({ ...model, ...about });
      },
    },
  };
}

function pageFile(context: Context, name: string, type: string): Response {
  const text = typeof STATUS_PAGE === 'undefined' ? '' : unpacked(STATUS_PAGE)[name]!;
  return context.body(text, 200, { 'Content-Type': `${type}; charset=utf-8` });
}
