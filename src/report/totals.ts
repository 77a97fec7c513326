import { PROJECT_ID } from '../view/project-id.ts';
import { localHours } from './local-hour.ts';
import { kept, parseLine, parseViewLine, short, type ViewLine } from './report-line.ts';
import { copyOf, Tally } from './ranking.ts';

export interface Selection {
  readonly timeZone: string;
  /** Local days, both included. */
  readonly fromDay: string | undefined;
  readonly toDay: string | undefined;
  readonly project: string | undefined;
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
  readonly pages: Tally<Page>;
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
const OTHER_ADDRESS = '(not an address)';

/** Adds up lines of view files and of refused files. */
export class Totals {
  views = 0;
  refusedViews = 0;
  invalidLines = 0;
  /** Views by local hour, for each local day that has any. */
  readonly days = new Map<string, number[]>();
  readonly projects = new Map<string, ProjectTotals>();
  readonly referrers = new Tally<string>();
  readonly languages = new Tally<string>();
  readonly templates = new Tally<string>();
  readonly refused = new Tally<RefusedKind>();
  readonly #selection: Selection;
  readonly #localHour: ReturnType<typeof localHours>;

  constructor(selection: Selection) {
    this.#selection = selection;
    this.#localHour = localHours(selection.timeZone);
  }

  /** @param text a character for each byte, as in all that follows. */
  addView(text: string): void {
    const line = parseViewLine(text);
    const { ts, p, url } = line ?? {};
    if (typeof ts !== 'string' || typeof p !== 'string' || typeof url !== 'string') {
      this.invalidLines += 1;
      return;
    }
    const at = this.#localHour(ts);
    if (at === undefined) {
      this.invalidLines += 1;
      return;
    }
    if (!this.#isSelected(at.day, p)) return;
    this.views += 1;
    this.#hoursOf(at.day)[at.hour]! += 1;
    this.#addParts(line!, p, url);
  }

  addRefused(text: string): void {
    const line = parseLine(text);
    const { ts, code } = line ?? {};
    const at = typeof ts === 'string' ? this.#localHour(ts) : undefined;
    if (at === undefined || typeof code !== 'string') {
      this.invalidLines += 1;
      return;
    }
    const project = projectOf(line!.view);
    if (!this.#isSelected(at.day, project)) return;
    this.refusedViews += 1;
    this.refused.add(`${short(code)} ${project}`, () => ({ code: kept(code), project }));
  }

  #addParts(line: ViewLine, p: string, url: string): void {
    const { pn, ubl, ref, orgreferer, template } = line;
    const project = this.#projectOf(p);
    project.views += 1;
    project.pages.add(short(url), () => ({
      project: project.id,
      url: kept(url),
      name: typeof pn === 'string' ? kept(pn) : '',
    }));
    this.referrers.add(hostOf(isText(orgreferer) ? orgreferer : ref), kept);
    this.languages.add(isText(ubl) ? short(ubl) : NONE, kept);
    this.templates.add(isText(template) ? short(template) : NONE, kept);
  }

  #projectOf(p: string): ProjectTotals {
    const id = this.projects.size < PROJECTS_MAX ? p : OTHERS;
    let project = this.projects.get(p) ?? this.projects.get(id);
    if (project === undefined) {
      project = { id: kept(id), views: 0, pages: new Tally() };
      this.projects.set(copyOf(short(id)), project);
    }
    return project;
  }

  #isSelected(day: string, p: string): boolean {
    const { fromDay, toDay, project } = this.#selection;
    if (project !== undefined && p !== project) return false;
    return (fromDay === undefined || day >= fromDay) && (toDay === undefined || day <= toDay);
  }

  #hoursOf(day: string): number[] {
    let hours = this.days.get(day);
    if (hours === undefined) {
      hours = Array.from({ length: HOURS }, () => 0);
      this.days.set(day, hours);
    }
    return hours;
  }
}

const isText = (value: unknown): value is string => typeof value === 'string' && value !== '';

/** Of a refused view, which may be anything; nested too deep it is kept as text. */
function projectOf(view: unknown): string {
  const value =
    typeof view === 'string' ? parseLine(view) : (view as { p?: unknown } | null | undefined);
  const p = value?.['p'];
  return typeof p === 'string' && PROJECT_ID.test(p) ? p : NONE;
}

const HOST = /^[a-z][a-z0-9+.-]*:\/\/(?:[^/?#@]*@)?([^/?#:]+)/i;

function hostOf(referrer: unknown): string {
  if (!isText(referrer)) return NONE;
  const host = HOST.exec(referrer)?.[1];
  if (host === undefined) return OTHER_ADDRESS;
  // Bytes beyond ASCII are parts of characters.
  return short(host.replace(/[A-Z]+/g, (letters) => letters.toLowerCase()));
}
