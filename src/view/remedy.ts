// The fix of a refusal, as a value: the status page, the doctor and `explain` each word it in their
// own way, as a sentence or as a command. Nothing here is quoted for a shell.
import { LIMITS } from '../base/limits.ts';
import { LARGEST_MAX_VIEW_BYTES, STAMP_BYTES } from './line.ts';
import type { RefusalCode } from './refusal.ts';

/** The fix of a refusal: its kind and what it needs. */
export type Remedy =
  /**
   * Activate the project, or add this origin to it. An inactive project may need the origin too, or
   * its views stay refused. `replay` then sends the stored refused views.
   */
  | { readonly kind: 'activate' | 'add-origin'; readonly origin: string | undefined }
  /**
   * The busiest full minute had `sent` views. Either is `undefined` until a full minute shows how
   * many are sent.
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
  /**
   * Bodies arrive late or cut off: a proxy's limit on a body's size or time, or the network. A proxy
   * should let this many bytes pass.
   */
  | { readonly kind: 'check-proxy'; readonly bodyBytes: number }
  /** No command works until the obstacle is gone. */
  | { readonly kind: 'wait'; readonly obstacle: Obstacle }
  /** The cause is gone: views are no longer refused for it. */
  | { readonly kind: 'fixed' }
  /** There is no fix to print. */
  | { readonly kind: 'none' };

/**
 * Why no command can edit the projects file or send views again: the file is faulty, nothing can be
 * stored, or viewlog's account may not write to its data directory.
 */
export type Obstacle = 'projects-file' | 'storage' | 'directory';

/** The facts about refused views of one code. */
export interface Refused {
  readonly code: RefusalCode;
  /** The entry in the projects file of the id that they name; `undefined` if it isn't listed. */
  readonly project?: ProjectNow | undefined;
  readonly obstacle?: Obstacle | undefined;
  /** The Origin header of the views, if they have one. */
  readonly origin?: string | undefined;
  /** The limit of views per minute that refused the latest of them. */
  readonly limit?: number | undefined;
  /** Accepted views, and those that this limit refused, in the busiest full minute. */
  readonly sentPerMinute?: number | undefined;
  /** The size of the body or line that is too large. */
  readonly bytes?: number | undefined;
  /** `--max-view` */
  readonly viewBytesMax: number;
  /** True: the bodies end before their JSON does. */
  readonly isCut?: boolean;
}

interface ProjectNow {
  readonly active: boolean;
  readonly maxViewsPerMinute?: number | undefined;
  allowsOrigin(origin: string | undefined): boolean;
}

/** Other codes are the page's fault. */
const REMEDIES: Readonly<Partial<Record<RefusalCode, (refused: Refused) => Remedy>>> = {
  'malformed-json': (refused) => (refused.isCut ? proxyRemedy(refused) : { kind: 'fix-page' }),
  'project-not-activated': activation,
  'origin-not-allowed': activation,
  'request-timeout': proxyRemedy,
  'view-too-large': sizeRemedy,
  'rate-limited': limitRemedy,
  overloaded: () => ({ kind: 'none' }),
  // The store reports its own outage.
  'storage-unavailable': () => ({ kind: 'fixed' }),
};

/** Returns what fixes these refusals, by what is true now. */
export const remedyOf = (refused: Refused): Remedy =>
  REMEDIES[refused.code]?.(refused) ?? { kind: 'fix-page' };

// Anyone can choose an Origin header, and origins end up in commands, so only plain ones pass: no
// "null", nothing that a shell interprets.
const PLAIN_ORIGIN = /^https?:\/\/[a-z0-9.-]+(:\d+)?$/;

/** Makes the project active and allows the origin, as far as either is missing. */
function activation({ code, project, origin, obstacle }: Refused): Remedy {
  const isActive = project?.active === true;
  const isAllowed = project?.allowsOrigin(origin) === true;
  if (isActive && (isAllowed || code === 'project-not-activated')) return { kind: 'fixed' };
  if (isActive && !origin) return { kind: 'send-origin' };
  const isListable = origin !== undefined && PLAIN_ORIGIN.test(origin);
  if (isActive && !isListable) return { kind: 'none' };
  if (obstacle !== undefined) return { kind: 'wait', obstacle };
  const missing = isListable && !isAllowed ? origin : undefined;
  return { kind: isActive ? 'add-origin' : 'activate', origin: missing };
}

/**
 * Raises a limit to twice what was sent in the busiest minute of the clock: any sixty seconds are in
 * two such minutes.
 */
function limitRemedy({ project, limit: then = 0, sentPerMinute: sent, obstacle }: Refused): Remedy {
  const limit = project?.maxViewsPerMinute;
  // A project that isn't active is refused for that now.
  if (limit === undefined || !project?.active || limit > then) return { kind: 'fixed' };
  if (obstacle !== undefined) return { kind: 'wait', obstacle };
  // Less was sent in the minutes that are over than the limit admits: the busiest one is running.
  const viewsPerMinute = sent !== undefined && 2 * sent > limit ? 2 * sent : undefined;
  return { kind: 'raise-limit', limit, sent, viewsPerMinute };
}

/** A proxy that passes on a little more than `--max-view` lets viewlog refuse with a reason. */
function proxyRemedy({ viewBytesMax }: Refused): Remedy {
  return { kind: 'check-proxy', bodyBytes: viewBytesMax + LIMITS.drainBytesMax };
}

/** Raises `--max-view` to the next power of two that the line fits into, if that is allowed. */
function sizeRemedy({ bytes, viewBytesMax }: Refused): Remedy {
  if (bytes === undefined) return { kind: 'none' };
  // The line has these bytes more than the body.
  const needed = bytes + STAMP_BYTES;
  if (needed <= viewBytesMax) return { kind: 'fixed' };
  if (needed > LARGEST_MAX_VIEW_BYTES) return { kind: 'fix-page' };
  return { kind: 'raise-max-view', bytes: 2 ** Math.ceil(Math.log2(needed)) };
}
