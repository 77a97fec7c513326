// The fix of a refusal, as a value: the status page, the doctor and `explain` each word the fix in
// their own way, as a sentence or as a command. No value here is quoted for a shell.
import { LIMITS } from '../base/limits.ts';
import { LARGEST_MAX_VIEW_BYTES, STAMP_BYTES } from './line.ts';
import type { RefusalCode } from './refusal.ts';

/** The fix of a refusal: its kind and the values that its wording needs. */
export type Remedy =
  /** Add this origin to the project. `replay` then sends the stored refused views. */
  /** `like`: the listed origin of the same host. */
  | { readonly kind: 'add-origin'; readonly origin: string; readonly like?: string | undefined }
  /**
   * Activate the project, with this origin if its views need that and it can be listed. `isOpen`:
   * the project is listed without origins, so it then accepts views from every site.
   */
  | {
      readonly kind: 'activate';
      readonly origin: string | undefined;
      readonly isListed: boolean;
      readonly isOpen: boolean;
    }
  /**
   * `sent` views came in the busiest minute; `viewsPerMinute` is the limit to set. Either is
   * `undefined` until a full minute shows how many views are sent.
   */
  | {
      readonly kind: 'raise-limit';
      readonly limit: number;
      readonly sent: number | undefined;
      readonly viewsPerMinute: number | undefined;
    }
  | { readonly kind: 'raise-max-view'; readonly bytes: number }
  /** The page must send something else. */
  | { readonly kind: 'fix-page' }
  /** The views come without an Origin header, which this project requires. */
  | { readonly kind: 'send-origin' }
  /** The views' Origin header has a path, for example; `meant` is the origin that it should be. */
  | { readonly kind: 'correct-origin'; readonly meant: string; readonly isAllowed: boolean }
  /**
   * Bodies arrive late or cut off: a proxy limits their size or time, or the network is at fault. A
   * proxy should let bodies of `bodyBytes` pass.
   */
  | { readonly kind: 'check-proxy'; readonly bodyBytes: number }
  /** No command works until the obstacle is gone. */
  | { readonly kind: 'wait'; readonly obstacle: Obstacle }
  /** The project has been deactivated since, so all its views are refused. */
  | { readonly kind: 'inactive' }
  /** The cause is gone, so no more views are refused because of it. */
  | { readonly kind: 'fixed' }
  /** There is no fix to print. */
  | { readonly kind: 'none' };

/**
 * Why no command can edit the projects file or send views again: the file is invalid, nothing can
 * be stored, viewlog's account isn't allowed to write to its data directory or to read the views,
 * or the record of a replay is invalid.
 */
export type Obstacle = 'projects-file' | 'storage' | 'directory' | 'refused-file' | 'replay-record';

/** The facts about refused views of one code. */
export interface Refused {
  readonly code: RefusalCode;
  /**
   * The projects file's entry for the id that the views name; `undefined` if the id isn't listed.
   */
  readonly project?: ProjectNow | undefined;
  readonly obstacle?: Obstacle | undefined;
  /** The views' Origin header, if the views have one. */
  readonly origin?: string | undefined;
  /** The origin that a header which isn't one was probably meant to be. */
  readonly meant?: string | undefined;
  /** The limit of views per minute that the latest refused view exceeded. */
  readonly limit?: number | undefined;
  /** The views in the busiest minute: accepted, or refused because of this limit. */
  readonly sentPerMinute?: number | undefined;
  /** The size of the body or line that is too large. */
  readonly bytes?: number | undefined;
  /** `--max-view` */
  readonly viewBytesMax: number;
  /** True: the bodies end before their JSON is complete. */
  readonly isCut?: boolean;
}

interface ProjectNow {
  readonly active: boolean;
  readonly maxViewsPerMinute?: number | undefined;
  allowsOrigin(origin: string | undefined): boolean;
  /** Returns the listed origin of the same host. */
  originLike?(origin: string): string | undefined;
}

/** For other codes, the page is at fault. */
const REMEDIES: Readonly<Partial<Record<RefusalCode, (refused: Refused) => Remedy>>> = {
  'malformed-json': (refused) => (refused.isCut ? proxyRemedy(refused) : { kind: 'fix-page' }),
  'project-not-activated': activation,
  'origin-not-allowed': activation,
  'request-timeout': proxyRemedy,
  'view-too-large': sizeRemedy,
  'rate-limited': limitRemedy,
  overloaded: () => ({ kind: 'none' }),
  // The store reports its own outage.
  'storage-unavailable': ({ project }) => ({ kind: isInactive(project) ? 'inactive' : 'fixed' }),
};

const isInactive = (project: ProjectNow | undefined): boolean => project?.active === false;

/** Returns the fix of these refusals in the present state of viewlog. */
export const remedyOf = (refused: Refused): Remedy =>
  REMEDIES[refused.code]?.(refused) ?? { kind: 'fix-page' };

// Anyone can choose an Origin header, and origins end up in commands, so only plain origins pass:
// not "null", and no character that a shell interprets.
const PLAIN_ORIGIN = /^https?:\/\/[a-z0-9.-]+(:\d+)?$/;

/** Returns the fix that activates the project, allows the origin, or both. */
function activation(refused: Refused): Remedy {
  const { project, origin, obstacle } = refused;
  const isActive = project?.active === true;
  const isAllowed = project?.allowsOrigin(origin) === true;
  if (isActive && isAllowed) return { kind: 'fixed' };
  if (isActive && !origin) return { kind: 'send-origin' };
  const isListable = origin !== undefined && PLAIN_ORIGIN.test(origin);
  if (isActive && !isListable) return correction(refused);
  if (obstacle !== undefined) return { kind: 'wait', obstacle };
  if (isActive) {
    const like = project.originLike?.(origin!);
    return { kind: 'add-origin', origin: origin!, ...(like && { like }) };
  }
  const added = isListable && !isAllowed ? origin : undefined;
  const isOpen = project?.allowsOrigin(undefined) === true;
  return { kind: 'activate', origin: added, isListed: project !== undefined, isOpen };
}

/** Returns the fix of an origin that no project can list. */
function correction({ project, meant, obstacle }: Refused): Remedy {
  if (meant === undefined || !PLAIN_ORIGIN.test(meant)) return { kind: 'none' };
  const isAllowed = project?.allowsOrigin(meant) === true;
  if (!isAllowed && obstacle !== undefined) return { kind: 'wait', obstacle };
  return { kind: 'correct-origin', meant, isAllowed };
}

/**
 * Returns the fix that raises a limit to twice the views of the busiest clock minute, because any
 * sixty seconds lie within two clock minutes.
 */
function limitRemedy({ project, limit: then = 0, sentPerMinute: sent, obstacle }: Refused): Remedy {
  const limit = project?.maxViewsPerMinute;
  if (isInactive(project)) return { kind: 'inactive' };
  if (limit === undefined || limit > then) return { kind: 'fixed' };
  if (obstacle !== undefined) return { kind: 'wait', obstacle };
  // If no minute explains the refusals, the busiest one isn't over yet.
  const viewsPerMinute = sent !== undefined && 2 * sent > limit ? 2 * sent : undefined;
  return { kind: 'raise-limit', limit, sent, viewsPerMinute };
}

/**
 * A proxy that passes on a little more than `--max-view` lets viewlog refuse a view with a reason.
 */
function proxyRemedy({ viewBytesMax }: Refused): Remedy {
  return { kind: 'check-proxy', bodyBytes: viewBytesMax + LIMITS.drainBytesMax };
}

/** Returns the fix that raises `--max-view` to the next power of two into which the line fits. */
function sizeRemedy({ bytes, viewBytesMax }: Refused): Remedy {
  if (bytes === undefined) return { kind: 'none' };
  // The stored line also has a `ts` and an `id`.
  const needed = bytes + STAMP_BYTES;
  if (needed <= viewBytesMax) return { kind: 'fixed' };
  if (needed > LARGEST_MAX_VIEW_BYTES) return { kind: 'fix-page' };
  return { kind: 'raise-max-view', bytes: 2 ** Math.ceil(Math.log2(needed)) };
}
