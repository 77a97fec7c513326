import { plural } from '../base/format.ts';
import { EXIT, Fatal } from '../base/exit.ts';
import { readProjectsFile } from './projects-file.ts';
import { TokenBucket } from './rate-limit.ts';
import { originTest } from './origins.ts';
import type { ProjectEntry, ProjectsFile } from './projects-schema.ts';

// The projects that the collector asks about. It knows no file; `follow.ts` keeps it up to date.

export interface Projects {
  /** The address that a site's owner asks for activation. */
  readonly operator: string | undefined;
  /** What is wrong with the projects file at present, in one line. */
  readonly fault: string | undefined;
  find(id: string): Project | undefined;
  all(): readonly Project[];
}

export interface Project {
  readonly id: string;
  readonly name?: string | undefined;
  readonly active: boolean;
  /** `undefined`: any. */
  readonly origins: readonly string[] | undefined;
  readonly maxViewsPerMinute?: number | undefined;
  readonly contact?: string | undefined;
  /** @param origin the request's `Origin` header, where it has one. */
  allowsOrigin(origin: string | undefined): boolean;
  /**
   * Spends one view of the project's limit, or with `spend` false only looks.
   * @returns 0 when there is one to spend, else the whole seconds until there is (at least 1).
   */
  takeToken(nowMs: number, spend?: boolean): number;
}

/** The projects of one reading of the file. */
export class ProjectList implements Projects {
  readonly operator: string | undefined;
  readonly fault: string | undefined = undefined;
  readonly #projects: readonly ListedProject[];
  readonly #byId: ReadonlyMap<string, ListedProject>;

  /** @param previous the list before this one: what its projects have spent stays spent. */
  constructor(file: ProjectsFile, previous?: ProjectList) {
    this.operator = file.operator;
    this.#projects = file.projects.map(
      (entry) => new ListedProject(entry, previous && previous.#byId.get(entry.id)?.bucket),
    );
    this.#byId = new Map(this.#projects.map((project) => [project.id, project]));
  }

  find(id: string): Project | undefined {
    return this.#byId.get(id);
  }

  all(): readonly Project[] {
    return this.#projects;
  }
}

class ListedProject implements Project {
  readonly id: string;
  readonly name: string | undefined;
  readonly active: boolean;
  readonly origins: readonly string[] | undefined;
  readonly maxViewsPerMinute: number | undefined;
  readonly contact: string | undefined;
  readonly bucket: TokenBucket | undefined;
  readonly #isListed: ((origin: string) => boolean) | undefined;

  constructor(entry: ProjectEntry, bucket: TokenBucket | undefined) {
    this.id = entry.id;
    this.name = entry.name;
    this.active = entry.active ?? true;
    this.origins = entry.origins;
    this.maxViewsPerMinute = entry.maxViewsPerMinute;
    this.contact = entry.contact;
    this.#isListed = entry.origins && originTest(entry.origins);
    if (entry.maxViewsPerMinute !== undefined) {
      bucket?.resize(entry.maxViewsPerMinute);
      this.bucket = bucket ?? new TokenBucket(entry.maxViewsPerMinute);
    }
  }

  allowsOrigin(origin: string | undefined): boolean {
    if (this.#isListed === undefined) return true;
    return origin !== undefined && this.#isListed(origin);
  }

  takeToken(nowMs: number, spend = true): number {
    return this.bucket === undefined ? 0 : this.bucket.take(nowMs, spend);
  }
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
export async function loadProjects(path: string): Promise<ProjectList> {
  const reading = await readProjectsFile(path);
  if ('faults' in reading) throw new Fatal(EXIT.badConfiguration, reading.faults.join('\n'));
  return new ProjectList(reading.file);
}
