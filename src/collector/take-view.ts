import type { Log } from '../base/log.ts';
import type { Turns } from '../base/turns.ts';
import type { Answer, Exchange } from '../http/exchange.ts';
import type { RefusedStore, ViewStore } from '../store/store.ts';
import { KiB } from '../base/size.ts';
import { readAnySpelling, readVerbatim, type StorableView } from '../view/read-view.ts';
import { isRefusal, type Refusal, rowOf, unavailable, UNEXPECTED } from '../view/refusal.ts';
import { admit, type AdmissionRules } from './admit.ts';
import { created, problem } from './answers.ts';
import { mediaTypeFault, readBody, textOf } from './read-text.ts';
import type { RequestCounts } from './request-counts.ts';

export interface CollectorParts extends AdmissionRules {
  readonly store: ViewStore;
  readonly refused: RefusedStore;
  readonly counts: RequestCounts;
  readonly log: Log;
  /** For bodies that may take long to read: a client can send as many as it likes. */
  readonly turns: Turns;
}

/** `POST /view`, on every runtime: body → view → verdict → line on disk → answer. Never rejects. */
export async function takeView(request: Exchange, parts: CollectorParts): Promise<Answer> {
  const origin = request.header('origin');
  try {
    const body = mediaTypeFault(request) ?? (await readBody(request, parts.viewBytesMax));
    if (isRefusal(body)) return refuse(body, origin, parts);
    let read: StorableView | Refusal | undefined = readVerbatim(body);
    let text: string | Refusal | undefined;
    if (read === undefined) {
      text = textOf(body);
      read = await readInTurn(text, parts.turns);
    }
    const view = admit(read, origin, parts); // view → project → origin → rate → size
    if (isRefusal(view)) return refuse(view, origin, parts, text ?? textOf(body));
    const stored = await parts.store.append(view.fields, view.project);
    if ('unavailable' in stored) {
      const refusal = unavailable(stored.unavailable, view.project);
      return refuse(refusal, origin, parts, text ?? textOf(body));
    }
    parts.counts.accepted(view.project, view.fields);
    return created(stored.id, origin);
  } catch (error) {
    return refuseUnexpected(error, origin, parts);
  }
}

/** Few views are longer than a quarter of this, and what is no longer is read in a moment. */
const SHORT_LENGTH_MAX = 4 * KiB;

/** @param text none where the body is not UTF-8, but why not. */
function readInTurn(
  text: string | Refusal,
  turns: Turns,
): Promise<StorableView | Refusal> | StorableView | Refusal {
  if (typeof text !== 'string') return text;
  const read = () => readAnySpelling(text);
  return text.length > SHORT_LENGTH_MAX ? turns.run(read) : read();
}

/**
 * The one way out for what is not taken: counted, kept where its row says so, answered.
 * @param decoded the request's body, where it was read, or why it has no text.
 */
export function refuse(
  refusal: Refusal,
  origin: string | undefined,
  { counts, refused }: CollectorParts,
  decoded?: string | Refusal,
): Answer {
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
  // It is JSON, whatever else it is.
  if (!text.trimStart().startsWith('{')) return;
  refused.keep({
    code,
    text,
    ...(issues && { issues }),
    ...(origin !== undefined && { origin }),
    ...(project !== undefined && { project }),
  });
}
