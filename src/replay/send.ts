// Sends single views to a running collector, and returns what is known of each afterwards.
import { EXIT, Fatal, fetchFailure } from '../base/exit.ts';
import { printable } from '../base/text.ts';
import type { SentState } from './sent-ids.ts';

/** The outcome of sending a view, as far as known. */
interface Sent {
  /** `?`: the view may be stored. */
  readonly state: SentState;
  readonly answer: string;
  /** With `-`: another attempt may succeed. */
  readonly retryAfterSeconds?: number;
}

const TIMEOUT_MS = 60_000;
const RETRY_SECONDS_MAX = 600;

/**
 * Asks whether a collector is there, without sending a view.
 * @throws {Fatal} exit 69 unless a collector answers at the address.
 */
export async function findCollector(url: string): Promise<void> {
  const found = await request(url, { method: 'OPTIONS' }).then(
    ({ status }) => (status === 204 ? undefined : `it answers ${status} to OPTIONS /view`),
    fetchFailure,
  );
  if (found === undefined) return;
  const message = `No collector answers at ${url}: ${found}; start it, or name another with --to`;
  throw new Fatal(EXIT.unavailable, message);
}

/** Sends one view once, with the Origin of its first request. Never rejects. */
export async function sendView(
  url: string,
  text: string,
  origin: string | undefined,
): Promise<Sent> {
  const headers = { 'Content-Type': 'application/json', ...(origin && { Origin: origin }) };
  try {
    const answer = await request(url, { method: 'POST', headers, body: text });
    return sentBy(answer, await answer.text());
  } catch (error) {
    return { state: '?', answer: fetchFailure(error) };
  }
}

function sentBy({ status, headers }: Response, body: string): Sent {
  const [, code = ''] = /"code":"([\w-]+)"/.exec(body) ?? [];
  const answer = `${status} ${printable(code, 64)}`.trim();
  if (status === 201) return { state: '+', answer };
  if (status === 429 || code === 'overloaded') {
    const seconds = Number(headers.get('retry-after')) || 1;
    return { state: '-', answer, retryAfterSeconds: Math.min(RETRY_SECONDS_MAX, seconds) };
  }
  // After any other 5xx, a proxy's included, the view may be stored all the same.
  const isDefinite = status >= 400 && status < 500 && status !== 408;
  return { state: isDefinite ? '-' : '?', answer };
}

const request = (url: string, init: RequestInit): Promise<Response> =>
  fetch(`${url}/view`, { ...init, redirect: 'manual', signal: AbortSignal.timeout(TIMEOUT_MS) });
