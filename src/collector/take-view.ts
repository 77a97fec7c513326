import type { Log } from '../base/log.ts';
import type { Answer, Exchange } from '../http/exchange.ts';
import type { RefusedStore, ViewStore } from '../store/store.ts';
import { readAnySpelling, readByPattern, type StorableView } from '../view/read-view.ts';
import { isRefusal, type Refusal, rowOf, unavailable, UNEXPECTED } from '../view/refusal.ts';
import { admit, type AdmissionRules } from './admit.ts';
import { created, problem } from './answers.ts';
import { mediaTypeFault, readBody, textOf } from './read-text.ts';
import type { RequestCounts } from './request-counts.ts';

export interface CollectorParts extends AdmissionRules {
  readonly store: Pick<ViewStore, 'append'>;
  readonly refused: RefusedStore;
  readonly counts: RequestCounts;
  readonly log: Log;
}

/** `POST /view`, on every runtime: body → view → verdict → line on disk → answer. Never rejects. */
export async function takeView(request: Exchange, parts: CollectorParts): Promise<Answer> {
  const origin = request.header('origin');
  try {
    const body = mediaTypeFault(request) ?? (await readBody(request, parts.viewBytesMax));
    if (isRefusal(body)) return refuse(body, origin, parts);
    const read = readByPattern(body) ?? readText(body);
    const view = admit(read, origin, parts); // view → project → origin → rate → size
    if (isRefusal(view)) return refuse(view, origin, parts, body);
    const stored = await parts.store.append(view.fields, view.project);
    if ('unavailable' in stored) {
      return refuse(unavailable(stored.unavailable, view.project), origin, parts, body);
    }
    parts.counts.accepted(view.project, view.fields);
    return created(stored.id, origin);
  } catch (error) {
    return refuseUnexpected(error, origin, parts);
  }
}

function readText(body: Uint8Array): StorableView | Refusal {
  const text = textOf(body);
  return typeof text === 'string' ? readAnySpelling(text) : text;
}

/**
 * Counts a refusal, keeps the view if the refusal's row says so, and answers. Every refusal of the
 * collector comes through here.
 * @param body the request's body, if it was read.
 */
export function refuse(
  refusal: Refusal,
  origin: string | undefined,
  { counts, refused }: CollectorParts,
  body?: Uint8Array,
): Answer {
  const decoded = body && textOf(body);
  const text = typeof decoded === 'string' ? decoded : undefined;
  counts.refused(refusal, origin, text);
  if (rowOf(refusal.code).isKept && text !== undefined) keep(text, refusal, origin, refused);
  return problem(refusal, origin);
}

export function refuseUnexpected(
  error: unknown,
  origin: string | undefined,
  parts: CollectorParts,
): Answer {
  parts.log.error(`Unexpected: ${error instanceof Error ? error.stack : String(error)}`);
  return refuse(UNEXPECTED, origin, parts);
}

function keep(
  text: string,
  { code, issues, project }: Refusal,
  origin: string | undefined,
  refused: RefusedStore,
): void {
  // Its JSON was valid: the first character decides.
  if (!text.trimStart().startsWith('{')) return;
  refused.keep({
    code,
    text,
    ...(issues && { issues }),
    ...(origin !== undefined && { origin }),
    ...(project !== undefined && { project }),
  });
}
