import { plural } from '../base/format.ts';
import { printable } from '../base/text.ts';
import { correctedOrigin, exampleOrigin, isOrigin, ORIGIN_SHAPE } from '../projects/origins.ts';
import type { Project, Projects } from '../projects/project-list.ts';
import { lineBytesOf } from '../view/line.ts';
import type { StorableView } from '../view/read-view.ts';
import { isRefusal, type Refusal, refusal, tooLarge } from '../view/refusal.ts';

export interface AdmissionRules {
  readonly projects: Projects;
  /** Largest line, its newline included. */
  readonly viewBytesMax: number;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}

/**
 * Decides on a view once its body is read: by its project, the page's origin, the project's rate
 * and the length of the line, in this order. The first check that fails decides the answer.
 * @param view the view that was read; a refusal is returned unchanged.
 * @param origin the request's `Origin`, if it has one.
 */
export function admit(
  view: StorableView | Refusal,
  origin: string | undefined,
  { projects, viewBytesMax, now }: AdmissionRules,
): StorableView | Refusal {
  if (isRefusal(view)) return view;
  const id = view.project;
  const project = projects.find(id);
  if (!project?.active) {
    const detail = `Project ${id} isn't activated. If the id is right, ${askOperatorTo(projects, 'activate it')}`;
    return refusal('project-not-activated', detail, { project: id });
  }
  if (!project.allowsOrigin(origin)) {
    const detail = `Project ${id} ${originFault(origin, project, projects)}`;
    return refusal('origin-not-allowed', detail, { project: id });
  }
  const lineBytes = lineBytesOf(view.fields);
  // Only an otherwise acceptable view spends from its project's limit.
  const fits = lineBytes <= viewBytesMax;
  const retryAfterSeconds = project.takeToken(now(), fits);
  if (retryAfterSeconds > 0) {
    const limit = project.maxViewsPerMinute!;
    const detail =
      `Project ${id} is over its limit of ${plural(limit, 'view')} per minute. ` +
      `Send the view again in ${retryAfterSeconds} s.`;
    return refusal('rate-limited', detail, { project: id, retryAfterSeconds, limit });
  }
  if (fits) return view;
  const largest = `${largestField(view.fields)} `;
  const what = 'stored line would be';
  return { ...tooLarge(lineBytes, viewBytesMax, what, largest), project: id };
}

/** `The largest field, "pn", takes 16,280 bytes.` */
function largestField(fields: Uint8Array): string {
  const view = JSON.parse(Buffer.from(fields).toString()) as object;
  const sizes = Object.entries(view).map(
    ([field, value]) => [field, Buffer.byteLength(JSON.stringify(value))] as const,
  );
  const [field, bytes] = sizes.reduce((most, one) => (one[1] > most[1] ? one : most));
  return `The largest field, "${field}", takes ${plural(bytes, 'byte')}.`;
}

/** Matches the end of a detail about an origin that no project can list. */
export const UNLISTABLE_ADVICE = /(?:An origin has no|This origin can't be listed).*$/;

const UNLISTABLE = `This origin can't be listed: an origin ${ORIGIN_SHAPE}.`;

/** The reason of a refusal if a project needs an origin. The doctor recognises it. */
export const NO_ORIGIN = 'requires an Origin header, but the request has none';

function originFault(origin: string | undefined, project: Project, projects: Projects): string {
  if (origin === undefined) {
    return `${NO_ORIGIN}. Send the view from one of the project's pages. A program must send one of the project's origins in this header.`;
  }
  const refused = `doesn't accept views from "${printable(origin)}".`;
  const meant = correctedOrigin(origin);
  if (meant !== undefined) {
    const what = `An origin ${ORIGIN_SHAPE}`;
    return project.allowsOrigin(meant)
      ? `${refused} ${what}; send "${meant}".`
      : `${refused} ${what}. Did you mean "${meant}"? If it is one of the project's sites, ${askOperatorTo(projects, 'allow it')}`;
  }
  if (origin.includes('*') && isOrigin(origin)) {
    return `${refused} An origin has no "*"; send the origin of a page, such as "${exampleOrigin(origin)}".`;
  }
  if (origin !== 'null' && !isOrigin(origin)) {
    return `${refused} ${UNLISTABLE} Send another origin, or use the id of a project without origins.`;
  }
  return origin === 'null'
    ? `${refused} This is the origin of sandboxed frames and local files, and it can't be listed. Send the view from one of the project's pages.`
    : `${refused} If it is one of the project's sites, ${askOperatorTo(projects, 'allow this origin')}`;
}

const askOperatorTo = (
  { operator = 'the operator of this collector' }: Projects,
  what: string,
): string => `ask ${operator} to ${what}.`;
