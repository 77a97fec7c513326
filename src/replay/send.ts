// Sends single views to a running collector, and tells what is known of each afterwards.
import { EXIT, Fatal, fetchFailure } from '../base/exit.ts';
import { printable } from '../base/text.ts';

/** The outcome of sending a view, as far as it is known. */
export type Sent =
  | 'accepted'
  /** Not stored; another attempt may succeed. */
  | { readonly retryAfterSeconds: number }
  /** Not stored; another attempt would end the same. */
  | { readonly refused: string }
  /** It may be stored. */
  | { readonly unknown: string };

const TIMEOUT_MS = 60_000;
const RETRY_SECONDS_MAX = 600;

/** @throws {Fatal} exit 69 unless a collector answers at the address. Sends no view. */
export async function findCollector(url: string): Promise<void> {
  const found = await request(url, { method: 'OPTIONS' }).then(
    ({ status }) => (status === 204 ? undefined : `it answers ${status} to OPTIONS /view`),
    fetchFailure,
  );
  if (found === undefined) return;
  const message = `No collector answers at ${url}: ${found}; start it, or name another with --to`;
  throw new Fatal(EXIT.unavailable, message);
}

/** Sends one view once, as it was sent first, with its Origin. Never rejects. */
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
    return { unknown: fetchFailure(error) };
  }
}

function sentBy({ status, headers }: Response, body: string): Sent {
  if (status === 201) return 'accepted';
  const [, code = ''] = /"code":"([\w-]+)"/.exec(body) ?? [];
  if (status === 429 || code === 'overloaded') {
    const seconds = Number(headers.get('retry-after')) || 1;
    return { retryAfterSeconds: Math.min(RETRY_SECONDS_MAX, seconds) };
  }
  const answer = `${status} ${printable(code, 64)}`.trim();
  // After any other 5xx, also a proxy's, the view may be stored all the same.
  const isDefinite = status >= 400 && status < 500 && status !== 408;
  return isDefinite ? { refused: answer } : { unknown: answer };
}

const request = (url: string, init: RequestInit): Promise<Response> =>
  fetch(`${url}/view`, { ...init, redirect: 'manual', signal: AbortSignal.timeout(TIMEOUT_MS) });
