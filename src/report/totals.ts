import { PROJECT_ID } from '../view/project-id.ts';
import { Calendar, type Hour, type Selection } from './calendar.ts';
import {
  campaignIn,
  type CampaignTags,
  readable,
  readableParameter,
  withoutQuery,
} from './page-url.ts';
import { copyOf, Tally } from './ranking.ts';
import { kept, parseLine, parseViewLine, short, type ViewLine } from './report-line.ts';
import { INTERNAL, Sources } from './sources.ts';

/** What a report knows besides the lines. */
export interface Surroundings {
  /** When it is made. */
  readonly now: Date;
  /** Whether pages keep their query. */
  readonly keepsQuery: boolean;
  /** The entries of the projects file, where it could be read. */
  readonly listed: readonly ListedEntry[];
}

export interface ListedEntry {
  readonly id: string;
  readonly name?: string | undefined;
  readonly active?: boolean | undefined;
  readonly origins?: readonly string[] | undefined;
}

export interface Page {
  readonly project: string;
  readonly url: string;
  /** As it was first seen. */
  readonly name: string;
}

export interface ProjectTotals {
  readonly id: string;
  views: number;
  /** In the span before. */
  before: number;
  readonly pages: Tally<Page>;
  /** Local days with views, those of the span before too. */
  readonly days: Set<string>;
  /** That of the view before, mostly of this one too. */
  lastDay: string;
  readonly sources: Sources;
}

export interface RefusedKind {
  readonly code: string;
  readonly project: string;
}

const HOURS = 24;
/** Far more than an operator lists. */
const PROJECTS_MAX = 1_000;
const OTHERS = '(others)';
const NONE = '(none)';

/** Adds up lines of view files and of refused files. */
export class Totals {
  views = 0;
  /** Of days up to this time; of a week ago `undefined` where that whole day had none. */
  readonly soFar: { today: number; yesterday: number; weekAgo: number | undefined } = {
    today: 0,
    yesterday: 0,
    weekAgo: undefined,
  };
  /** That came from elsewhere than the project's own pages. */
  entryViews = 0;
  internalViews = 0;
  campaignViews = 0;
  refusedViews = 0;
  invalidLines = 0;
  /** Packed ones that broke off, those of the span before too. */
  brokenFiles = 0;
  readonly calendar: Calendar;
  readonly surroundings: Surroundings;
  /** Views by local hour, for each local day that has any. */
  readonly days = new Map<string, number[]>();
  /** The same of the span before. */
  readonly daysBefore = new Map<string, number[]>();
  readonly projects = new Map<string, ProjectTotals>();
  // These are texts of bytes, which `summarize` makes readable: most are forgotten before.
  readonly referrers = new Tally<string>();
  /** Read by `tagsIn`. */
  readonly campaigns = new Tally<string>();
  readonly languages = new Tally<string>();
  readonly templates = new Tally<string>();
  readonly refused = new Tally<RefusedKind>();
  readonly #project: string | undefined;

  constructor(selection: Selection, surroundings: Partial<Surroundings> = {}) {
    const { now = new Date(), keepsQuery = false, listed = [] } = surroundings;
    this.surroundings = { now, keepsQuery, listed };
    this.calendar = new Calendar(selection, now);
    this.#project = selection.project;
  }

  /** @param text a character for each byte, as in all that follows. */
  addView(text: string): void {
    const line = parseViewLine(text);
    const { ts, p, url } = line ?? {};
    const isView = typeof ts === 'string' && typeof p === 'string' && typeof url === 'string';
    const hour = isView ? this.calendar.hourOf(ts) : undefined;
    if (!isView || hour === undefined) {
      this.invalidLines += 1;
      return;
    }
    if (this.#project !== undefined && p !== this.#project) return;
    const { soFar } = hour;
    if (soFar !== undefined) {
      this.soFar[soFar.name] = (this.soFar[soFar.name] ?? 0) + (ts < soFar.end ? 1 : 0);
    }
    if (hour.isSelected) {
      this.views += 1;
      hoursOf(this.days, hour.day)[hour.hour]! += 1;
      this.#addParts(line!, p, url, hour, false);
    } else if (hour.isBefore && ts < this.calendar.beforeEnd) {
      hoursOf(this.daysBefore, hour.day)[hour.hour]! += 1;
      this.#addParts(line!, p, url, hour, true);
    }
  }

  addRefused(text: string): void {
    const line = parseLine(text);
    const { ts, code } = line ?? {};
    const hour = typeof ts === 'string' ? this.calendar.hourOf(ts) : undefined;
    if (hour === undefined || typeof code !== 'string') {
      this.invalidLines += 1;
      return;
    }
    const project = projectOf(line!.view);
    if (!hour.isSelected || (this.#project !== undefined && project !== this.#project)) return;
    this.refusedViews += 1;
    this.refused.add(`${short(code)} ${project}`, () => ({ code: kept(code), project }));
  }

  #addParts(line: ViewLine, p: string, url: string, { day }: Hour, isBefore: boolean): void {
    const { pn, ref, orgreferer } = line;
    const project = this.#projectOf(p);
    if (isBefore) project.before += 1;
    else project.views += 1;
    if (day !== project.lastDay) {
      project.lastDay = day;
      project.days.add(day);
    }
    const source = project.sources.of(isText(orgreferer) ? orgreferer : ref);
    const isSame = !isText(orgreferer) || !isText(ref) || ref === orgreferer;
    const previous = isSame ? source : project.sources.of(ref);
    const page = this.surroundings.keepsQuery ? url : withoutQuery(url);
    const makePage = (): Page => ({
      project: project.id,
      url: kept(page, readable),
      name: typeof pn === 'string' ? kept(pn) : '',
    });
    const isEntry = previous !== INTERNAL;
    project.pages.add(short(page), makePage, isBefore, isEntry);
    if (source !== INTERNAL) this.referrers.add(source, itself, isBefore);
    this.#addCampaign(campaignIn(url), isBefore);
    if (isBefore) return;
    if (source === INTERNAL) this.internalViews += 1;
    if (isEntry) this.entryViews += 1;
    this.#addRest(line);
  }

  #addCampaign(tags: CampaignTags | undefined, isBefore: boolean): void {
    if (tags === undefined) return;
    const { campaign, source, medium } = tags;
    // None of them has an "&".
    const id = `${short(campaign)}&${short(source)}&${short(medium)}`;
    this.campaigns.add(id, itself, isBefore);
    if (!isBefore) this.campaignViews += 1;
  }

  /** What is not compared. */
  #addRest({ ubl, template }: ViewLine): void {
    this.languages.add(isText(ubl) ? short(ubl) : NONE, itself);
    this.templates.add(isText(template) ? short(template) : NONE, itself);
  }

  #projectOf(p: string): ProjectTotals {
    const id = this.projects.size < PROJECTS_MAX ? p : OTHERS;
    let project = this.projects.get(p) ?? this.projects.get(id);
    if (project === undefined) {
      const origins = this.surroundings.listed.find((entry) => entry.id === id)?.origins;
      project = {
        id: kept(id),
        views: 0,
        before: 0,
        pages: new Tally(),
        days: new Set(),
        lastDay: '',
        sources: new Sources(origins),
      };
      this.projects.set(copyOf(short(id)), project);
    }
    return project;
  }
}

function hoursOf(days: Map<string, number[]>, day: string): number[] {
  let hours = days.get(day);
  if (hours === undefined) {
    hours = Array.from({ length: HOURS }, () => 0);
    days.set(day, hours);
  }
  return hours;
}

const itself = (id: string): string => id;

/** What is counted in `campaigns`, readable. */
export function tagsIn(id: string): CampaignTags {
  const tags = id.split('&').map((tag) => kept(tag, readableParameter));
  const [campaign, source, medium] = tags as [string, string, string];
  return { campaign, source, medium };
}

const isText = (value: unknown): value is string => typeof value === 'string' && value !== '';

/** Of a refused view, which may be anything; nested too deep it is kept as text. */
function projectOf(view: unknown): string {
  const value =
    typeof view === 'string' ? parseLine(view) : (view as { p?: unknown } | null | undefined);
  const p = value?.['p'];
  return typeof p === 'string' && PROJECT_ID.test(p) ? p : NONE;
}
