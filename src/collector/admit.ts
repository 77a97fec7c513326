import { tooLarge } from '../http/request.ts';
import { type Refusal, isRefusal } from '../view/refusal.ts';
import { printable } from '../base/text.ts';
import { lineBytesOf } from '../view/line.ts';
import { readView, type StorableView } from '../view/read-view.ts';
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
  if (!fits) {
    const what = 'The line it would become';
    return { ...tooLarge(`${lineBytes} bytes`, viewBytesMax, what), project: view.project };
  }
  return view;
}

const notActivated = (id: string, operator: string | undefined): Refusal => ({
  code: 'project-not-activated',
  project: id,
  detail:
    `Project ${id} is not activated. ` +
    (operator === undefined
      ? 'Ask the operator of this collector to activate it.'
      : `Ask ${operator} to activate it.`),
});

const originNotAllowed = (id: string, origin: string | undefined): Refusal => ({
  code: 'origin-not-allowed',
  project: id,
  detail:
    `Project ${id} takes views only from the origins its operator listed, and ` +
    (origin === undefined
      ? 'the request names none: it has no Origin header.'
      : `"${printable(origin)}" is none of them.`),
});

const rateLimited = (id: string, waitSeconds: number): Refusal => ({
  code: 'rate-limited',
  project: id,
  detail: `Project ${id} has used up its views for now; send this one again in ${waitSeconds} s.`,
  retryAfterSeconds: waitSeconds,
});
