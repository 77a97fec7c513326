import { lineBytesOf } from '../view/line.ts';
import type { StorableView } from '../view/read-view.ts';
import {
  isRefusal,
  lineTooLarge,
  notActivated,
  originNotAllowed,
  rateLimited,
  type Refusal,
} from '../view/refusal.ts';
import type { Projects } from '../projects/project-list.ts';

export interface AdmissionRules {
  readonly projects: Projects;
  /** Largest line, its newline included. */
  readonly viewBytesMax: number;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}

/**
 * Decides on a view once its body is read: by its project, the page's origin, the project's rate
 * and the length of the line, in this order. The first check that fails answers.
 * @param view as it was read; a refusal is returned unchanged.
 * @param origin the request's `Origin`, if it has one.
 */
export function admit(
  view: StorableView | Refusal,
  origin: string | undefined,
  { projects, viewBytesMax, now }: AdmissionRules,
): StorableView | Refusal {
  if (isRefusal(view)) return view;
  const project = projects.find(view.project);
  if (!project?.active) return notActivated(view.project, projects.operator);
  if (!project.allowsOrigin(origin)) return originNotAllowed(view.project, origin);
  const lineBytes = lineBytesOf(view.fields);
  // Only an otherwise acceptable view spends from its project's limit.
  const fits = lineBytes <= viewBytesMax;
  const waitSeconds = project.takeToken(now(), fits);
  if (waitSeconds > 0) return rateLimited(view.project, waitSeconds);
  return fits ? view : lineTooLarge(view.project, lineBytes, viewBytesMax);
}
