import type { ProjectEntry } from '../projects/projects-schema.ts';
import type { Calendar } from './calendar.ts';
import { campaignIn, pathOf, withoutQuery } from './page-url.ts';
import type { ViewLine } from './report-line.ts';
import { INTERNAL, NONE, Sources } from './sources.ts';
import { getOrCreate, Tally, TEXT_LENGTH_MAX } from './tally.ts';

interface Project {
  /** The local days with views, the previous period's too. */
  readonly days: Set<string>;
  readonly sources: Sources;
}

/** A host from which a project's pages were reached so often within visits is its own. */
const SETTLED_FROM = 20;

/** Adds up views. */
export class Totals {
  /** Views of yesterday before this time of day. */
  yesterdayViews = 0;
  invalidLines = 0;
  /** Packed files that could be read only in part. */
  brokenFiles = 0;
  /** Views by local hour, for each local day with views, the previous period's too. */
  readonly days = new Map<string, number[]>();
  readonly projectsById = new Map<string, Project>();
  // All counted texts have a character for each byte.
  readonly projects = new Tally();
  /** A project, a space and a page. */
  readonly pages = new Tally();
  /** The length of a text of `pages`, a space, the text, and a title that it had. */
  readonly titles = new Tally(2 * TEXT_LENGTH_MAX);
  /**
   * The pages of views that did not come from the project's own pages: a host that may be the
   * project's own, or nothing; a space, and a text of `pages`.
   */
  readonly entryPages = new Tally(2 * TEXT_LENGTH_MAX);
  /** A project if the source may be its own host, or nothing; a space, and the source. */
  readonly referrers = new Tally();
  /** A project, a space, and a host that its pages were probably reached from within a visit. */
  readonly hostsWithin = new Tally();
  /** Texts of `campaignIn`. */
  readonly campaigns = new Tally();
  readonly languages = new Tally();
  readonly templates = new Tally();
  readonly calendar: Calendar;
  readonly listed: readonly ProjectEntry[];
  readonly #keepsQuery: boolean;

  /** @param keepsQuery true: pages keep their query. */
  constructor(calendar: Calendar, listed: readonly ProjectEntry[], keepsQuery: boolean) {
    this.calendar = calendar;
    this.listed = listed;
    this.#keepsQuery = keepsQuery;
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
    const cameFrom = ref === '' ? source : sources.of(ref);
    const page = `${p} ${this.#keepsQuery ? url : withoutQuery(url)}`.slice(0, TEXT_LENGTH_MAX);
    const campaign = campaignIn(url);
    const mayBeOwn = sources.mayBeOwn(cameFrom);
    if (mayBeOwn && this.#isWithinVisit(view)) {
      const host = `${p} ${cameFrom}`;
      this.hostsWithin.add(host);
      // Until then, each page is counted for each host that may be its own.
      if (this.hostsWithin.countOf(host) === SETTLED_FROM) sources.setOwn(cameFrom);
    }
    this.projects.add(p, isBefore);
    this.pages.add(page, isBefore);
    if (pn !== '') this.titles.add(`${page.length} ${page}${pn}`, isBefore);
    if (cameFrom !== INTERNAL) this.entryPages.add(`${mayBeOwn ? cameFrom : ''} ${page}`, isBefore);
    if (source !== INTERNAL) {
      this.referrers.add(`${sources.mayBeOwn(source) ? p : ''} ${source}`, isBefore);
    }
    if (campaign !== undefined) this.campaigns.add(campaign, isBefore);
    this.languages.add(view.ubl || NONE, isBefore);
    this.templates.add(view['content.templateId'] || NONE, isBefore);
  }

  /** Returns whether the view's referrer is probably another page of its site. */
  #isWithinVisit({ p, url, ref, orgreferer }: ViewLine): boolean {
    const path = pathOf(ref);
    // Other sites' referrers have the path `/`, unless their pages ask browsers to send more.
    const isLikely = path !== '/' || (orgreferer !== undefined && orgreferer !== ref);
    return ref !== '' && isLikely && path !== withoutQuery(url) && this.pages.has(`${p} ${path}`);
  }

  #projectOf(id: string): Project {
    return getOrCreate(this.projectsById, id, () => {
      const origins = this.listed.find((entry) => entry.id === id)?.origins;
      return { days: new Set(), sources: new Sources(origins) };
    });
  }
}
