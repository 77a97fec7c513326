// Sends single views to a running collector, and tells what is known of each afterwards.
import { EXIT, Fatal, fetchFailure } from '../base/exit.ts';
import { printable } from '../base/text.ts';
import { sleep } from '../base/time.ts';
import type { Project } from '../projects/project-list.ts';

/** The outcome of sending a view, as far as it is known. */
export type Sent =
  | { readonly accepted: true }
  /** Not stored; another attempt may succeed. */
  | { readonly retryAfterSeconds: number }
  /** Not stored; another attempt would end the same. */
  | { readonly refused: string }
  /** It may be stored. */
  | { readonly unknown: string };

const TIMEOUT_MS = 60_000;

/** @throws {Fatal} exit 69 unless a collector answers at the address. Sends no view. */
export async function findCollector(url: string): Promise<void> {
  const hint = 'start it, or name another with --to';
  const none = `No collector answers at ${url}`;
  let status: number;
  try {
    const answer = await request(url, { method: 'OPTIONS' });
    await answer.arrayBuffer();
    ({ status } = answer);
  } catch (error) {
    throw new Fatal(EXIT.unavailable, `${none}: ${fetchFailure(error)}; ${hint}`);
  }
  if (status !== 204) {
    const message = `${none}: the program there answers ${status} to OPTIONS /view; ${hint}`;
    throw new Fatal(EXIT.unavailable, message);
  }
}

/** Sends one view once, as it was sent first, with its Origin. */
export async function sendView(
  url: string,
  text: string,
  origin: string | undefined,
): Promise<Sent> {
  try {
    const headers = {
      'Content-Type': 'application/json',
      ...(origin !== undefined && { Origin: origin }),
    };
    const answer = await request(url, { method: 'POST', headers, body: text });
    return sentBy(answer, await answer.text());
  } catch (error) {
    return { unknown: fetchFailure(error) };
  }
}

function sentBy({ status, headers }: Response, body: string): Sent {
  if (status === 201) return { accepted: true };
  const code = codeOf(body);
  if (status === 429 || code === 'overloaded') {
    return { retryAfterSeconds: Math.min(600, Number(headers.get('retry-after')) || 1) };
  }
  const answer = `${status} ${printable(code ?? '', 64)}`.trim();
  // After any other 5xx, also a proxy's, the view may be stored all the same.
  const isDefinite = status >= 400 && status < 500 && status !== 408;
  return isDefinite ? { refused: answer } : { unknown: answer };
}

const request = (url: string, init: RequestInit): Promise<Response> =>
  fetch(`${url}/view`, { ...init, redirect: 'manual', signal: AbortSignal.timeout(TIMEOUT_MS) });

function codeOf(body: string): string | undefined {
  try {
    const { code } = JSON.parse(body) as { code?: unknown };
    return typeof code === 'string' ? code : undefined;
  } catch {
    return undefined;
  }
}

/** Far below what a working collector accepts. */
const VIEWS_PER_SECOND_MAX = 200;
/** The rest of a project's limit is left for the views that its pages send meanwhile. */
const SHARE_OF_LIMIT = 1 / 4;

/** Spaces views out, so that sending them takes nothing from the views that pages send. */
export class Pace {
  readonly #nextMs = new Map<string, number>();
  readonly #stop: AbortSignal;

  /** @param stop ends every wait. */
  constructor(stop: AbortSignal) {
    this.#stop = stop;
  }

  /** Waits until the next view of this project may be sent. */
  async wait({ id, maxViewsPerMinute = Infinity }: Project): Promise<void> {
    const perSecond = Math.min(VIEWS_PER_SECOND_MAX, (maxViewsPerMinute / 60) * SHARE_OF_LIMIT);
    const nowMs = performance.now();
    const nextMs = Math.max(nowMs, this.#nextMs.get(id) ?? nowMs);
    this.#nextMs.set(id, nextMs + 1000 / perSecond);
    await this.sleep(nextMs - nowMs);
  }

  async sleep(ms: number): Promise<void> {
    if (ms > 0) await sleep(ms, this.#stop);
  }
}
