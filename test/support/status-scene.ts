import { INSTALLATION } from './installation.ts';
import { Counts } from '../../src/status/counts.ts';
import type { FilesSeen } from '../../src/status/look-around.ts';
import { Listing, modelOf, type StatusModel } from '../../src/status/model.ts';
import { judge, type Judged, judgements, settle } from '../../src/status/state.ts';
import type { Resent } from '../../src/status/resent.ts';
import { statusText } from '../../src/status/text.ts';
import type { Installation } from '../../src/installation/installation.ts';
import { readSettings, SERVE_OPTIONS } from '../../src/settings.ts';
import type { WatchedState } from '../../src/status/health.ts';
import { ProjectList, type ProjectsFault } from '../../src/projects/project-list.ts';
import type { ProjectEntry } from '../../src/projects/projects-schema.ts';
import type { Refusal } from '../../src/view/refusal.ts';

export const FILES: WatchedState = {
  lines: 0,
  bytes: 1234,
  unavailable: undefined,
  unavailableSinceMs: undefined,
  detail: undefined,
  queuedLines: 0,
  path: '/data/views-2026-11-22.ndjson',
  fileBytes: 1234,
  batches: 0,
  syncSeconds: 0,
  sealedFragments: 0,
  freeBytes: 2 ** 33,
};

const NO_FILES: FilesSeen = {
  fileSystem: { type: 0xef53, freeBytes: 2 ** 33, sizeBytes: 2 ** 40, hasInodes: true },
  bytesPerDay: undefined,
  closedDirectory: undefined,
  viewDays: [],
  refusedDays: [],
  closedFiles: [],
  copiesGid: undefined,
  overdue: [],
};

const ROOT = { uid: 0, gid: 0, name: 'root' };
export const DEFAULTS = readSettings([], SERVE_OPTIONS, () => undefined);

/** 14:00 in UTC, a Sunday. */
export const NOON = Date.parse('2026-11-22T14:00:00.000Z');

interface Around {
  readonly store?: Partial<WatchedState>;
  readonly files?: Partial<FilesSeen>;
  readonly fault?: Partial<ProjectsFault>;
  readonly isStopping?: boolean;
  readonly installation?: Partial<Installation>;
  readonly filter?: string;
  readonly resent?: Resent;
  readonly recordFault?: string;
}

/** A collector's counts, with their own clock, and the status page made from them. */
export class Scene {
  nowMs = NOON;
  projects: ProjectList;
  readonly counts: Counts;
  around: Around = {};

  constructor(projects: readonly ProjectEntry[], sinceMs = NOON) {
    this.projects = new ProjectList({ projects: [...projects] });
    this.nowMs = sinceMs;
    const now = (): number => this.nowMs;
    this.counts = new Counts(now, (id) => this.projects.find(id) !== undefined);
    this.nowMs = NOON;
  }

  /** Replaces the projects file. */
  list(...projects: ProjectEntry[]): void {
    settle(this.state());
    this.projects.replace({ projects }, this.nowMs);
  }

  /** @param everyMs the time by which the clock advances after each view. */
  accept(count = 1, project = '1', everyMs = 1000): void {
    for (let i = 0; i < count; i++) {
      this.counts.accepted(project, Buffer.from(JSON.stringify({ p: project, url: '/page' })));
      this.nowMs += everyMs;
    }
  }

  refuse(
    count: number,
    refusal: Partial<Refusal> & Pick<Refusal, 'code'>,
    origin?: string,
    text?: string,
    everyMs = 1000,
  ): void {
    for (let i = 0; i < count; i++) {
      this.counts.refused({ detail: 'Refused.', ...refusal }, origin, text);
      this.nowMs += everyMs;
    }
  }

  judged(): Judged[] {
    const state = this.state();
    return this.projects.all().map((one) => judge(one, this.counts.projects.get(one.id), state));
  }

  model(): StatusModel {
    const { filter = '' } = this.around;
    const installation = { ...INSTALLATION, owners: { data: ROOT }, ...this.around.installation };
    const listing = new Listing(filter);
    for (const one of judgements(this.state())) listing.add(one);
    return modelOf({ ...this.state(), listing, installation });
  }

  /** Returns the headline, and the status page's text before its figures. */
  text(): string {
    const [headline, , ...lines] = this.whole().split('\n');
    const end = lines.findIndex((line) => line.startsWith('Last hour: '));
    return [headline, ...lines.slice(0, end).filter(Boolean)].join('\n');
  }

  whole(): string {
    return statusText(this.model());
  }

  /** Returns the state of the collector now. */
  state() {
    const { counts, projects, nowMs } = this;
    const { store, files, fault, resent, recordFault, isStopping = false } = this.around;
    projects.fault = fault && {
      message: '',
      first: '',
      line: undefined,
      sinceMs: NOON,
      loss: undefined,
      ...fault,
    };
    return {
      counts,
      projects,
      store: { ...FILES, ...store },
      files: { ...NO_FILES, ...files },
      resent,
      recordFault,
      refused: { storedLines: 0, storedBytes: 0, droppedLines: 0 },
      queue: { bytes: 0, bytesMax: 2 ** 25 },
      minFreeBytes: 2 ** 26,
      viewBytesMax: 2 ** 14,
      isStopping,
      nowMs,
    };
  }
}
