import { stackText } from '../base/exit.ts';
import { LIMITS } from '../base/limits.ts';
import type { Log } from '../base/log.ts';
import type { Answer, Exchange } from '../http/exchange.ts';
import type { Dropped, RefusedStore, ViewStore } from '../store/store.ts';
import { parseView, readByPattern, type StorableView } from '../view/read-view.ts';
import { isRefusal, type Refusal, refusal, REFUSALS } from '../view/refusal.ts';
import { admit, type AdmissionRules } from './admit.ts';
import { created, problem } from './answers.ts';
import { mediaTypeFault, textOfBody, unreadBody } from './read-text.ts';

/**
 * The header that marks a request from `viewlog replay`. If a marked view is refused, it isn't
 * stored again, because the refused file already has it. Nor does it count on the status page,
 * because no page sent this request.
 */
export const REPLAY_HEADER = 'viewlog-replay';

export interface CollectorParts extends AdmissionRules {
  readonly store: ViewStore;
  readonly refused: RefusedStore;
  readonly counts: RequestCounts;
  readonly log: Log;
}

/**
 * Counts the requests that the collector answers, except preflights. Called for every view, so it
 * must cost next to nothing and never throw.
 */
export interface RequestCounts {
  /** @param fields the view's fields as JSON text in UTF-8. */
  accepted(project: string, fields: Uint8Array): void;
  /**
   * @param origin the request's `Origin`, if it has one.
   * @param text the request's body, if it was read.
   * @returns a function to call if the refused view won't be stored.
   */
  refused(refusal: Refusal, origin: string | undefined, text?: string): (why: Dropped) => void;
  /** Counts the refusal of a view that was refused before. */
  refusedAgain(refusal: Refusal): void;
}

/** Answers `POST /view`: body → view → verdict → line on disk → answer. Never rejects. */
export async function receiveView(request: Exchange, parts: CollectorParts): Promise<Answer> {
  const origin = request.header('origin');
  try {
    const fault = mediaTypeFault(request);
    if (fault !== undefined) return refuse(fault, request, parts);
    const body = await request.read(parts.viewBytesMax);
    if (typeof body === 'string') {
      return refuse(unreadBody(body, request, parts.viewBytesMax), request, parts);
    }
    const read = readByPattern(body) ?? readText(body);
    const view = admit(read, origin, parts); // view → project → origin → rate → size
    if (isRefusal(view)) return refuse(view, request, parts, body);
    const stored = await parts.store.append(view.fields, view.project);
    if ('unavailable' in stored) {
      parts.projects.find(view.project)?.returnToken();
      const fault = { ...unavailable(stored.unavailable), project: view.project };
      return refuse(fault, request, parts, body);
    }
    parts.counts.accepted(view.project, view.fields);
    return created(stored.id, origin);
  } catch (error) {
    return refuseUnexpected(error, request, parts);
  }
}

function readText(body: Uint8Array): StorableView | Refusal {
  const text = textOfBody(body);
  return typeof text === 'string' ? parseView(text) : text;
}

/** Never says that the view wasn't stored: viewlog can't know that. */
function unavailable(reason: string): Refusal {
  const detail = `The view may not have been stored: ${reason}. If you send it again, it may be stored twice.`;
  return refusal('storage-unavailable', detail, { retryAfterSeconds: LIMITS.retryAfterSeconds });
}

/**
 * Counts a refusal, stores the view if the refusal's row says so, and answers. Every refusal of the
 * collector comes through here.
 * @param body the request's body, if it was read.
 */
export function refuse(
  reason: Refusal,
  request: Exchange,
  { counts, refused }: CollectorParts,
  body?: Uint8Array,
): Answer {
  const origin = request.header('origin');
  if (request.header(REPLAY_HEADER) !== undefined) {
    counts.refusedAgain(reason);
    return problem(reason, origin);
  }
  const decoded = body && textOfBody(body);
  const text = typeof decoded === 'string' ? decoded : undefined;
  const onDropped = counts.refused(reason, origin, text);
  const { code, issues, project } = reason;
  // A valid JSON text that begins with a brace is an object.
  if (text?.trimStart().startsWith('{') !== true) onDropped('no-object');
  else if (REFUSALS[code].isStored) {
    refused.keep({ code, text, issues, origin, project }, onDropped);
  }
  return problem(reason, origin);
}

export function refuseUnexpected(error: unknown, request: Exchange, parts: CollectorParts): Answer {
  parts.log.error(
    `A view got a 503 because of an error in viewlog; please report it: ${stackText(error)}`,
  );
  return refuse(
    unavailable("viewlog had an unexpected error, which is in the operator's log"),
    request,
    parts,
  );
}
