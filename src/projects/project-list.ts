import { plural } from '../base/format.ts';
import { originTest } from './origins.ts';
import { readProjectsFile, soundOrFatal } from './projects-file.ts';
import type { ProjectEntry, ProjectsFile } from './projects-schema.ts';
import { TokenBucket } from './rate-limit.ts';

// The projects that the collector asks about. It knows no file; `follow.ts` keeps it up to date.

export interface Projects {
  /** The address that a site's owner asks for activation. */
  readonly operator: string | undefined;
  /** The fault of the projects file now. The last good list stays active meanwhile. */
  readonly fault: ProjectsFault | undefined;
  find(id: string): Project | undefined;
  all(): readonly Project[];
}

/** A projects file that cannot be used. */
export interface ProjectsFault {
  /** One line for the log and for warnings. */
  readonly message: string;
  /** The first fault alone, with the file's name and the place. */
  readonly first: string;
  /** The time since which the file is faulty, in milliseconds since the epoch. */
  readonly sinceMs: number;
  /** There is no file any more. */
  readonly isMissing: boolean;
  /** The ids that the file contains, as far as they can be recognised. */
  readonly idsInFile: ReadonlySet<string>;
}

export interface Project extends Omit<ProjectEntry, 'active'> {
  readonly active: boolean;
  /** @param origin the request's `Origin` header, if it has one. */
  allowsOrigin(origin: string | undefined): boolean;
  /**
   * Spends one view of the project's limit, or with `spend` false only looks.
   * @returns 0 if there is one to spend, otherwise the whole seconds until then (at least 1).
   */
  takeToken(nowMs: number, spend?: boolean): number;
}

/** The projects of a reading of the file. */
export class ProjectList implements Projects {
  operator: string | undefined;
  fault: ProjectsFault | undefined;
  #projects: readonly Project[] = [];
  #byId: ReadonlyMap<string, Project> = new Map();
  #buckets = new Map<string, TokenBucket>();

  constructor(file: ProjectsFile) {
    this.replace(file);
  }

  /** Lists the projects of another reading, which keep their spent limits. */
  replace({ operator, projects }: ProjectsFile): void {
    const before = this.#buckets;
    this.#buckets = new Map();
    this.operator = operator;
    this.#projects = projects.map((entry) => {
      const { id, maxViewsPerMinute: perMinute } = entry;
      if (perMinute === undefined) return listedProject(entry);
      const bucket = before.get(id) ?? new TokenBucket(perMinute);
      bucket.resize(perMinute);
      this.#buckets.set(id, bucket);
      return listedProject(entry, bucket);
    });
    this.#byId = new Map(this.#projects.map((project) => [project.id, project]));
  }

  find(id: string): Project | undefined {
    return this.#byId.get(id);
  }

  all(): readonly Project[] {
    return this.#projects;
  }
}

function listedProject(entry: ProjectEntry, bucket?: TokenBucket): Project {
  const isListed = entry.origins && originTest(entry.origins);
  return {
    ...entry,
    active: entry.active ?? true,
    allowsOrigin: (origin) => isListed === undefined || (origin !== undefined && isListed(origin)),
    takeToken: (nowMs, spend) => bucket?.take(nowMs, spend) ?? 0,
  };
}

/** `3 projects, 2 active` */
export function summaryOf(projects: readonly { readonly active?: boolean | undefined }[]): string {
  const active = projects.filter((project) => project.active ?? true).length;
  return `${plural(projects.length, 'project')}, ${active} active`;
}

/**
 * Reads the projects file once.
 * @throws {Fatal} exit 78 with every fault.
 */
export const loadProjects = async (path: string): Promise<ProjectList> =>
  new ProjectList(soundOrFatal(await readProjectsFile(path)).file);
