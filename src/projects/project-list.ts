import { plural } from '../base/format.ts';
import { printable } from '../base/text.ts';
import type { AccessFix } from '../installation/commands.ts';
import { originLike, originTest } from './origins.ts';
import { readProjectsFile, fileOrFatal, type SavedList } from './projects-file.ts';
import type { ProjectEntry, ProjectsFile } from './projects-schema.ts';
import { TokenBucket } from './rate-limit.ts';

// The projects as the collector sees them. This list doesn't read the file; `follow.ts` keeps it up
// to date.

export type Projects = Pick<
  ProjectList,
  'operator' | 'fault' | 'find' | 'all' | 'removed' | 'allRemoved' | 'opened' | 'allOpened'
>;

/** A projects file that can't be used. */
export interface ProjectsFault {
  /** One line for the log and for warnings. */
  readonly message: string;
  /** The first fault, with the file's name and the place, and how many more there are. */
  readonly first: string;
  /** The line of the fault, split at its place; `undefined` if the fault has no place. */
  readonly line: readonly [before: string, after: string] | undefined;
  /** When the file became invalid, in milliseconds since the epoch. */
  readonly sinceMs: number;
  /** Set if the file has no list: it no longer exists, or it is empty. */
  readonly loss: 'missing' | 'empty' | undefined;
  /** How to let viewlog read the file, if it isn't allowed to. */
  readonly access?: AccessFix | undefined;
  /** The copy of the last good list, if there is one. */
  readonly saved?: SavedList | undefined;
}

export interface Project extends Omit<ProjectEntry, 'active'> {
  readonly active: boolean;
  /** See `rulesOf`. */
  readonly rules: string;
  /** When that part changed, in milliseconds since the epoch; 0: not since the start. */
  readonly changedMs: number;
  /** @param origin the request's `Origin` header, if it has one. */
  allowsOrigin(origin: string | undefined): boolean;
  /** Returns the listed origin of the same host, so that only its scheme or port differs. */
  originLike(origin: string): string | undefined;
  /**
   * Spends one view of the project's limit; with `spend` false, only checks it.
   * @returns 0 if there is one to spend, otherwise the whole seconds until then (at least 1).
   */
  takeToken(nowMs: number, spend?: boolean): number;
  /** Refunds a view that was spent but not stored. */
  returnToken(): void;
}

/** The last entry of a project that was listed and no longer is. */
export interface RemovedProject extends Project {
  /** When viewlog noticed, in milliseconds since the epoch. */
  readonly removedMs: number;
  /** The operator's address, if that was removed, too. */
  readonly operator?: string | undefined;
}

/** A project that has lost its origins, and so accepts views from every site. */
export interface OpenedProject {
  readonly id: string;
  /** Those that it listed. */
  readonly origins: readonly string[];
  /** When viewlog noticed, in milliseconds since the epoch. */
  readonly openedMs: number;
}

interface Earlier {
  readonly projects: readonly ProjectEntry[];
  readonly operator?: string | undefined;
}

type EarlierEntry = ProjectEntry & Partial<Pick<RemovedProject, 'removedMs' | 'operator'>>;

/** Returns whether a project accepts views from every site. */
const isOpen = ({ active, origins }: Pick<Project, 'active' | 'origins'>): boolean =>
  active && origins === undefined;

/** The projects that the last good reading of the file lists. */
export class ProjectList {
  /** The address that a site's owner asks for activation. */
  operator: string | undefined;
  /** The fault of the projects file now. The last good list stays active meanwhile. */
  fault: ProjectsFault | undefined;
  /** How often the first list was replaced, or differences from an earlier one were noted. */
  changes = -1;
  #byId: ReadonlyMap<string, Project> = new Map();
  readonly #removed = new Map<string, RemovedProject>();
  /** The origins that projects have lost, whether the projects are listed now or not. */
  readonly #lost = new Map<string, OpenedProject>();
  /** The spent limit of each id, listed or not. */
  readonly #buckets = new Map<string, TokenBucket>();

  constructor(file: ProjectsFile) {
    this.replace(file);
  }

  /**
   * Lists the projects of another reading. What each project has spent of its limit stays spent.
   * @returns which projects are no longer listed.
   */
  replace({ operator, projects }: ProjectsFile, nowMs = 0): readonly ProjectEntry[] {
    const earlier = { projects: this.all(), operator: this.operator };
    this.operator = operator;
    this.changes += 1;
    this.#byId = new Map(projects.map((entry) => [entry.id, this.#listed(entry, nowMs)]));
    for (const { id } of projects) this.#removed.delete(id);
    const gone = this.noteEarlier(earlier, nowMs);
    // Also a project that is listed or active again without the origins that it had.
    const wasOpen = new Set(earlier.projects.filter(isOpen).map(({ id }) => id));
    for (const [id, lost] of this.#lost) {
      const isNew = this.opened(id) !== undefined && !wasOpen.has(id);
      if (isNew) this.#lost.set(id, { ...lost, openedMs: nowMs });
    }
    return gone;
  }

  /**
   * Notes how the list differs from an earlier one.
   * @returns which projects are no longer listed.
   */
  noteEarlier({ operator, projects }: Earlier, nowMs: number): readonly ProjectEntry[] {
    this.noteOpened(projects, nowMs);
    return this.noteGone(projects, nowMs, operator);
  }

  find(id: string): Project | undefined {
    return this.#byId.get(id);
  }

  removed(id: string): RemovedProject | undefined {
    return this.#removed.get(id);
  }

  allRemoved(): readonly RemovedProject[] {
    return [...this.#removed.values()];
  }

  /**
   * Notes and returns which projects of an earlier list are no longer listed.
   * @param nowMs when they were removed, unless their entries say so.
   * @param last the operator's address in the earlier list.
   */
  noteGone(
    earlier: readonly EarlierEntry[],
    nowMs: number,
    last?: string,
  ): readonly ProjectEntry[] {
    const lost = this.operator === undefined ? last : undefined;
    const gone = earlier.filter(({ id }) => !this.#byId.has(id));
    if (gone.length > 0) this.changes += 1;
    for (const { removedMs = nowMs, operator = lost, ...entry } of gone) {
      this.#removed.set(entry.id, { ...this.#listed(entry, 0), removedMs, operator });
    }
    return gone;
  }

  /**
   * Notes which projects of an earlier list have lost their origins.
   * @param nowMs when they lost them, unless their entries say so.
   */
  noteOpened(
    earlier: readonly (Pick<ProjectEntry, 'id' | 'origins'> &
      Partial<Pick<OpenedProject, 'openedMs'>>)[],
    nowMs: number,
  ): void {
    for (const { id, origins, openedMs = nowMs } of earlier) {
      if (origins !== undefined) this.#lost.set(id, { id, origins, openedMs });
    }
    for (const id of this.#lost.keys()) {
      if (this.#byId.get(id)?.origins !== undefined) this.#lost.delete(id);
    }
    const isNew = earlier.some(({ id, origins }) => origins && this.#lost.has(id));
    if (isNew) this.changes += 1;
  }

  opened(id: string): OpenedProject | undefined {
    const project = this.#byId.get(id);
    return project && isOpen(project) ? this.#lost.get(id) : undefined;
  }

  /** Returns the projects that accept views from every site because they lost their origins since then. */
  allOpened(sinceMs: number): readonly OpenedProject[] {
    return this.allLost(sinceMs).filter(({ id }) => this.opened(id) !== undefined);
  }

  /** Returns the origins that projects have lost since then, whether the projects are listed or not. */
  allLost(sinceMs: number): readonly OpenedProject[] {
    return [...this.#lost.values()].filter(({ openedMs }) => openedMs >= sinceMs);
  }

  all(): readonly Project[] {
    return [...this.#byId.values()];
  }

  #listed(entry: ProjectEntry, nowMs: number): Project {
    const { id, active = true, origins, maxViewsPerMinute: limit } = entry;
    const isListed = origins && originTest(origins);
    const bucket = this.#buckets.get(id) ?? new TokenBucket();
    this.#buckets.set(id, bucket);
    const last = this.#byId.get(id);
    const rules = rulesOf(entry);
    return {
      ...entry,
      active,
      rules,
      changedMs: last?.rules === rules ? last.changedMs : nowMs,
      originLike: (origin) => originLike(origin, origins),
      allowsOrigin: (origin) => !isListed || (origin !== undefined && isListed(origin)),
      takeToken: (nowMs, spend) => (limit ? bucket.take(limit, nowMs, spend) : 0),
      returnToken: () => bucket.giveBack(),
    };
  }
}

/** Returns the part of an entry that decides which views are accepted. */
export const rulesOf = ({ active = true, origins, maxViewsPerMinute }: ProjectEntry): string =>
  JSON.stringify([active, origins, maxViewsPerMinute]);

/** `1000001 (Shop)`, or only the id of a project without a name. */
export const withName = ({ id, name }: { id: string; name?: string | undefined }): string =>
  name === undefined ? id : `${id} (${printable(name, 60)})`;

/** `3 projects, 2 active` */
export function summaryOf(projects: readonly { readonly active?: boolean | undefined }[]): string {
  const active = projects.filter((project) => project.active ?? true).length;
  return `${plural(projects.length, 'project')}, ${active} active`;
}

/**
 * Reads the projects file once.
 * @param data the data directory of the collector that uses the file.
 * @throws {Fatal} exit 78 with every fault.
 */
export const loadProjects = async (path: string, data?: string): Promise<ProjectList> =>
  new ProjectList(fileOrFatal(await readProjectsFile(path, undefined, data)));
