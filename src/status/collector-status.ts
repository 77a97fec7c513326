import type { Context } from 'hono';
import { builtTexts } from '../base/built.ts';
import type { KeepDays } from '../disk/retention.ts';
import type { Service } from './app.ts';
import { type CollectorState, healthOf } from './health.ts';
import { type Installation, shownPart } from '../installation/installation.ts';
import { lookAround } from './look-around.ts';
import { collectorMetrics } from './metrics.ts';
import { Listing, meantBy, modelOf } from './model.ts';
import { page } from './page.tsx';
import { delistedStep, directoryNotice, fixLine, stepText } from './problem-words.ts';
import { type Judged, type JudgedReason, judgeAll } from './state.ts';
import { replayRecords } from './resent.ts';
import { statusText } from './text.ts';
import { arrivingWords, isStoringToday } from './words.ts';

/** A collector, as its status reads it. */
export interface CollectorSource {
  readonly keepDays: KeepDays;
  readonly installation: () => Installation;
  readonly snapshot: () => CollectorState;
}

const OPEN_MAX = 20;
const FILTER_LENGTH_MAX = 100;

/** A collector's status: as a page, as text, and as JSON for the doctor. */
export function collectorStatus({ keepDays, installation, snapshot }: CollectorSource) {
  const { data } = installation();
  const records = data === undefined ? undefined : replayRecords(data);
  const isRemoved = (id: string): boolean => snapshot().projects.removed(id) !== undefined;
  const filesNow = () => lookAround(data, keepDays, snapshot().nowMs, installation().owners.data);
  /** @param project the only id to judge; by default, all are judged. */
  const modelNow = async ({ req }: Context, project?: string) => {
    const filter = (req.query('filter') ?? '').trim().slice(0, FILTER_LENGTH_MAX);
    const files = await filesNow();
    const { nowMs, counts } = snapshot();
    const seen = await records?.(nowMs, counts.sinceMs);
    const state = { ...snapshot(), files, ...seen };
    const listing = new Listing(filter);
    await judgeAll(state, (one) => listing.add(one), project);
    return modelOf({ ...state, listing, installation: installation() });
  };
  const service: Service = {
    health: () => healthOf(snapshot()),
    metrics: async () => {
      const files = await filesNow();
      return collectorMetrics(snapshot(), files);
    },
    pages: {
      '/': async (context) => {
        const open = new Set(context.req.queries('open')?.slice(0, OPEN_MAX));
        return context.html(page({ model: await modelNow(context), open }));
      },
      '/arriving': async (context) => {
        const id = context.req.query('project');
        const model = await modelNow(context, id);
        const [status, text] = arrivingWords(model);
        if (id === undefined || model.projectsListed > 0) return context.text(`${text}\n`, status);
        // A monitor that names a removed id shouldn't see 200.
        return model.problemsInAll > 0
          ? context.text(`${text}\n`, 503)
          : context.text(`That project ${isRemoved(id) ? 'is no longer' : "isn't"} listed.\n`, 404);
      },
      '/page.css': (context) => pageFile(context, 'page.css', 'text/css'),
      '/page.js': (context) => pageFile(context, 'page.js', 'text/javascript'),
      '/status.txt': async (context) => context.text(statusText(await modelNow(context))),
      '/status.json': async (context) => {
        const self = shownPart(installation());
        return context.json({ ...(await modelNow(context)), installation: self });
      },
    },
  };
  const fixFor = (reason: JudgedReason, judged: Judged): string => {
    const of = installation();
    const { kind, activity } = judged;
    if (kind === 'unlisted') return stepText(delistedStep(judged, activity.lastAcceptedMs, of));
    const meant = meantBy(judged, snapshot().projects);
    return fixLine(reason, { ...judged, meant }, of);
  };
  /** Returns what is wrong with the data directory and its fix, in one line. */
  const directoryWarning = async (): Promise<string | undefined> => {
    const { closedDirectory } = await filesNow();
    if (closedDirectory === undefined) return undefined;
    const isStoring = isStoringToday(snapshot());
    const { title, steps } = directoryNotice(closedDirectory, installation(), undefined, isStoring);
    return [title, ...steps.map(stepText)].join(' ');
  };
  return { ...service, fixFor, directoryWarning };
}

function pageFile(context: Context, name: string, type: string): Response {
  return context.body(builtTexts()[name] ?? '', 200, { 'Content-Type': `${type}; charset=utf-8` });
}
