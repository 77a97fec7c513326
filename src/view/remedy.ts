// What fixes a refusal, as a value: the status page, the doctor and `explain` each word it in their
// own way, as a sentence or as a command. Nothing here is quoted for a shell.
import { KiB } from '../base/size.ts';
import { LARGEST_MAX_VIEW_BYTES, STAMP_BYTES } from './line.ts';
import type { Issue, RefusalCode } from './refusal.ts';

/** What fixes a refusal: the kind of fix and what it needs. */
export type Remedy =
  /**
   * Activate the project. `origins` must be added at the same time, or its views stay refused.
   * Then `replay` sends the views that were kept.
   */
  | {
      readonly kind: 'activate';
      readonly id: string;
      /** False for an id that is not in the projects file. */
      readonly isListed: boolean;
      readonly origins: readonly string[];
    }
  /** Add these origins to an active project. Then `replay` sends the views that were kept. */
  | { readonly kind: 'add-origins'; readonly id: string; readonly origins: readonly string[] }
  /** The views come without an Origin header, which this project requires. */
  | { readonly kind: 'send-origin' }
  | { readonly kind: 'raise-limit'; readonly id: string; readonly viewsPerMinute: number }
  | { readonly kind: 'raise-max-view'; readonly bytes: number }
  /** The page must send something else: `fields` of an invalid view (`''` is the view itself). */
  | { readonly kind: 'fix-page'; readonly fields: readonly string[] }
  /** The view's faults are not known here; `viewlog explain` finds them in the kept view. */
  | { readonly kind: 'explain-kept-view' }
  /** Bodies arrive late or cut off: a proxy's limit on a body's size or time, or the network. */
  | { readonly kind: 'check-proxy' }
  /** At least `bytes` more must be free. */
  | { readonly kind: 'free-disk-space'; readonly bytes: number }
  /** The disk is smaller than `--min-free`, so no deletion can help. */
  | { readonly kind: 'lower-min-free'; readonly diskBytes: number }
  /** The projects file must be correct before any command can edit it. */
  | { readonly kind: 'fix-projects-file' }
  /** The cause is gone: views are no longer refused for it. */
  | { readonly kind: 'fixed' }
  /** There is no fix to print. */
  | { readonly kind: 'none' };

/** What is known about refused views of one code and, if it is known, one project. */
export interface Refused {
  readonly code: RefusalCode;
  /** The id that the views name. */
  readonly id?: string | undefined;
  /** That id's entry in the projects file; `undefined` if it is not listed. */
  readonly project?: ProjectNow | undefined;
  /** Whether the projects file is faulty now. */
  readonly isProjectsFileFaulty?: boolean;
  /** The Origin headers of the views, most frequent first; `''` for views without one. */
  readonly origins?: readonly string[];
  /** The most views that the project was sent in a minute, refused ones included. */
  readonly sentPerMinute?: number | undefined;
  /** Every fault of the views. */
  readonly issues?: readonly Issue[] | undefined;
  /** The size of the body or line that is too large. */
  readonly bytes?: number | undefined;
  /** Whether the bodies end before their JSON does. */
  readonly isCut?: boolean;
  /** The file system of the data directory. */
  readonly disk?: Disk | undefined;
}

interface ProjectNow {
  readonly active: boolean;
  readonly origins?: readonly string[] | undefined;
  readonly maxViewsPerMinute?: number | undefined;
  allowsOrigin(origin: string | undefined): boolean;
}

interface Disk {
  readonly sizeBytes: number;
  readonly freeBytes: number;
  /** `--min-free` */
  readonly minFreeBytes: number;
}

const FIXED: Remedy = { kind: 'fixed' };
const NONE: Remedy = { kind: 'none' };
const CHECK_PROXY: Remedy = { kind: 'check-proxy' };

const REMEDIES: Readonly<Record<RefusalCode, (refused: Refused) => Remedy>> = {
  'malformed-json': ({ isCut }) => (isCut ? CHECK_PROXY : fixPage()),
  'project-not-activated': (refused) => (refused.project?.active ? FIXED : activation(refused)),
  'origin-not-allowed': originRemedy,
  'not-found': () => fixPage(),
  'method-not-allowed': () => fixPage(),
  'request-timeout': () => CHECK_PROXY,
  'view-too-large': ({ bytes }) => sizeRemedy(bytes),
  'unsupported-media-type': () => fixPage(),
  'invalid-view': ({ issues = [] }) =>
    issues.length > 0 ? fixPage(issues) : { kind: 'explain-kept-view' },
  'rate-limited': limitRemedy,
  overloaded: () => NONE,
  'storage-unavailable': ({ disk }) => diskRemedy(disk),
};

/** Returns what fixes these refusals, by what is true now. */
export const remedyOf = (refused: Refused): Remedy => REMEDIES[refused.code](refused);

function activation({ id, project, origins = [], isProjectsFileFaulty }: Refused): Remedy {
  if (isProjectsFileFaulty) return { kind: 'fix-projects-file' };
  if (id === undefined) return NONE;
  const isListed = project !== undefined;
  const refusedOrigins = origins.filter((origin) => !project?.allowsOrigin(origin));
  return { kind: 'activate', id, isListed, origins: refusedOrigins.filter(isListable) };
}

function originRemedy(refused: Refused): Remedy {
  const { id, project, origins = [], isProjectsFileFaulty } = refused;
  if (project === undefined || !project.active) return activation(refused);
  if (project.origins === undefined) return FIXED;
  const left = origins.filter((origin) => !project.allowsOrigin(origin || undefined));
  if (left.length === 0) return origins.length === 0 ? NONE : FIXED;
  const listable = left.filter(isListable);
  if (listable.length === 0) return left.includes('') ? { kind: 'send-origin' } : NONE;
  if (isProjectsFileFaulty) return { kind: 'fix-projects-file' };
  return id === undefined ? NONE : { kind: 'add-origins', id, origins: listable };
}

// Origins come from strangers and end up in commands, so only plain ones pass: no "null", nothing
// that a shell interprets.
const PLAIN_ORIGIN = /^https?:\/\/[a-z0-9.-]+(:\d+)?$/;

const isListable = (origin: string): boolean => PLAIN_ORIGIN.test(origin);

/** Raises a limit to twice what was sent: the current limit says nothing about what is needed. */
function limitRemedy({ id, project, sentPerMinute, isProjectsFileFaulty }: Refused): Remedy {
  const limit = project?.maxViewsPerMinute;
  // A project that is not active is refused for that now.
  if (limit === undefined || !project?.active) return FIXED;
  if (id === undefined || sentPerMinute === undefined) return NONE;
  if (sentPerMinute <= limit) return FIXED;
  if (isProjectsFileFaulty) return { kind: 'fix-projects-file' };
  return { kind: 'raise-limit', id, viewsPerMinute: 2 * Math.ceil(sentPerMinute) };
}

/** Raises `--max-view` to the next power of two that the line fits into, if that is allowed. */
function sizeRemedy(bytes: number | undefined): Remedy {
  if (bytes === undefined) return NONE;
  // The line has these bytes more than the body.
  const needed = bytes + STAMP_BYTES;
  if (needed > LARGEST_MAX_VIEW_BYTES) return fixPage();
  return { kind: 'raise-max-view', bytes: Math.max(KiB, 2 ** Math.ceil(Math.log2(needed))) };
}

function fixPage(issues: readonly Issue[] = []): Remedy {
  return { kind: 'fix-page', fields: [...new Set(issues.map(({ field }) => field))] };
}

function diskRemedy(disk: Disk | undefined): Remedy {
  if (disk === undefined) return NONE;
  const { sizeBytes, freeBytes, minFreeBytes } = disk;
  if (minFreeBytes > sizeBytes) return { kind: 'lower-min-free', diskBytes: sizeBytes };
  const missing = Math.max(1, minFreeBytes) - freeBytes;
  return missing > 0 ? { kind: 'free-disk-space', bytes: missing } : NONE;
}
