import { copyOf } from '../base/text.ts';
import type { ProjectEntry } from '../projects/projects-schema.ts';
import type { Calendar } from './calendar.ts';
import { campaignIn, withoutQuery } from './page-url.ts';
import type { ViewLine } from './report-line.ts';
import { INTERNAL, NONE, Sources } from './sources.ts';
import { type Entry, getOrCreate, Tally, TEXT_LENGTH_MAX } from './tally.ts';

interface Project {
  /** The local days with views, the previous period's too. */
  readonly days: Set<string>;
  readonly sources: Sources;
}

/** Adds up views. */
export class Totals {
  /** Views of yesterday before this time of day. */
  yesterdayViews = 0;
  invalidLines = 0;
  /** Compressed files that could be read only in part. */
  brokenFiles = 0;
  /** Views by local hour, for each local day with views, the previous period's too. */
  readonly days = new Map<string, number[]>();
  /** The local days, some of whose views can't be read. */
  readonly daysLeftOut = new Set<string>();
  readonly projectsById = new Map<string, Project>();
  // All counted texts have a character for each byte.
  readonly projects = new Tally();
  /** A project, a space and a page; the same for entry pages. */
  readonly pages = new Tally();
  /** The pages of views that didn't come from the project's own pages. */
  readonly entryPages = new Tally();
  readonly referrers = new Tally();
  /** Texts of `campaignIn`. */
  readonly campaigns = new Tally();
  readonly languages = new Tally();
  readonly templates = new Tally();
  readonly calendar: Calendar;
  readonly listed: readonly ProjectEntry[];
  /** False: only some view files were read, so that other days may have views, too. */
  isWhole = true;
  readonly #titles = new Tally(2 * TEXT_LENGTH_MAX);
  readonly #keepsQuery: boolean;

  /** @param keepsQuery true: pages keep their query. */
  constructor(calendar: Calendar, listed: readonly ProjectEntry[], keepsQuery: boolean) {
    this.calendar = calendar;
    this.listed = listed;
    this.#keepsQuery = keepsQuery;
  }

  /** Notes that the views of a UTC day can't be read. */
  leaveOut(day: string): void {
    for (const ts of [`${day}T00:00:00.000Z`, `${day}T23:59:59.999Z`]) {
      this.daysLeftOut.add(this.calendar.hourOf(ts)!.day);
    }
  }

  /** @param view `undefined` for a line that isn't a view. */
  addView(view: ViewLine | undefined): void {
    const at = view && this.calendar.hourOf(view.ts);
    if (view === undefined || at === undefined) {
      this.invalidLines += 1;
      return;
    }
    const { ts, p } = view;
    const { selection, yesterday, yesterdayEndTs, beforeEndTs } = this.calendar;
    if (selection.project !== undefined && p !== selection.project) return;
    if (at.day === yesterday && ts < yesterdayEndTs) this.yesterdayViews += 1;
    const isBefore = at.isBefore && ts < beforeEndTs;
    if (!at.isSelected && !isBefore) return;
    const hours = getOrCreate(this.days, at.day, () => Array.from({ length: 24 }, () => 0));
    hours[at.hour]! += 1;
    const project = this.#projectOf(p);
    project.days.add(at.day);
    this.#addParts(view, project.sources, isBefore);
  }

  #addParts(view: ViewLine, sources: Sources, isBefore: boolean): void {
    const { p, url, pn, ref, orgreferer } = view;
    const source = sources.of(orgreferer ?? ref);
    const isOwn = (ref === '' ? source : sources.of(ref)) === INTERNAL;
    // Later views of a visit have the visit's first referrer and a `ref` of their own.
    const isEntry = !isOwn && (orgreferer === undefined || orgreferer === ref);
    const page = this.pages.add(`${p} ${this.#keepsQuery ? url : withoutQuery(url)}`, isBefore);
    const campaign = campaignIn(url);
    this.projects.add(p, isBefore);
    if (pn !== '' && !isBefore) this.#addTitle(page, pn);
    if (isEntry) this.entryPages.add(page.text, isBefore);
    if (source !== INTERNAL) this.referrers.add(source, isBefore);
    if (campaign !== undefined) this.campaigns.add(campaign, isBefore);
    this.languages.add(view.ubl || NONE, isBefore);
    this.templates.add(view['content.templateId'] || NONE, isBefore);
  }

  /** Counts equal titles in a row at once: comparing a title is faster than counting it. */
  #addTitle(page: Entry, title: string): void {
    if (page.title !== title) {
      this.#countTitle(page);
      page.title = copyOf(title.slice(0, TEXT_LENGTH_MAX));
    }
    page.titled += 1;
  }

  #countTitle(page: Entry): void {
    const { text, title, titled } = page;
    if (titled > 0) this.#titles.add(`${text.length} ${text}${title}`, false, titled);
    page.titled = 0;
  }

  /** Returns the titles: the length of a text of `pages`, a space, the text, and its title. */
  titles(): Tally {
    for (const page of this.pages.all()) this.#countTitle(page);
    return this.#titles;
  }

  #projectOf(id: string): Project {
    return getOrCreate(this.projectsById, id, () => {
      const origins = this.listed.find((entry) => entry.id === id)?.origins;
      return { days: new Set(), sources: new Sources(origins) };
    });
  }
}
