import { lineBytesOf } from '../view/line.ts';
import { readView, type StorableView } from '../view/read-view.ts';
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
 * Everything that decides on a view once its body is here: the view, its project, the page's
 * origin, the project's rate, the length of the line. The first that fails answers.
 * @param text the body, decoded.
 * @param origin the request's `Origin`, where it has one.
 */
export function admit(
  text: string,
  origin: string | undefined,
  { projects, viewBytesMax, now }: AdmissionRules,
): StorableView | Refusal {
  const view = readView(text);
  if (isRefusal(view)) return view;
  const project = projects.find(view.project);
  if (!project?.active) return notActivated(view.project, projects.operator);
  if (!project.allowsOrigin(origin)) return originNotAllowed(view.project, origin);
  const lineBytes = lineBytesOf(view.fields);
  // Only a view that is otherwise acceptable spends from its project's limit.
  const fits = lineBytes <= viewBytesMax;
  const waitSeconds = project.takeToken(now(), fits);
  if (waitSeconds > 0) return rateLimited(view.project, waitSeconds);
  return fits ? view : lineTooLarge(view.project, lineBytes, viewBytesMax);
}
