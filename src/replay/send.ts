// Sends single views to a running collector, and returns what is known of each afterwards.
import { EXIT, Fatal, fetchFailure } from '../base/exit.ts';
import { printable } from '../base/text.ts';
import { sleep } from '../base/time.ts';
import type { StoredRefusal } from '../store/refused/refused-line.ts';
import type { SentState } from './sent-ids.ts';

/** What is known after sending a view. */
interface Sent {
  /** `?`: the view may be stored. */
  readonly state: SentState;
  readonly answer: string;
  /** With `-`: the collector is busy, and may accept the view later. */
  readonly retryAfterSeconds?: number;
}

const TIMEOUT_MS = 60_000;

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

/**
 * Sends a view with the Origin of its first request, again and again while the collector is busy.
 * Never rejects.
 * @param stop ends the attempts.
 */
export async function sendView(url: string, view: StoredRefusal, stop: AbortSignal): Promise<Sent> {
  for (;;) {
    const sent = await sendOnce(url, view);
    if (sent.retryAfterSeconds === undefined) return sent;
    await sleep(1000 * sent.retryAfterSeconds, stop);
    if (stop.aborted) return sent;
  }
}

async function sendOnce(url: string, { text, origin }: StoredRefusal): Promise<Sent> {
  const headers = { 'Content-Type': 'application/json', ...(origin && { Origin: origin }) };
  try {
    const response = await request(url, { method: 'POST', headers, body: text });
    const { status } = response;
    const [, code = ''] = /"code":"([\w-]+)"/.exec(await response.text()) ?? [];
    const answer = `${status} ${printable(code, 64)}`.trim();
    if (status === 201) return { state: '+', answer };
    if (status === 429 || code === 'overloaded') {
      const retryAfterSeconds = Number(response.headers.get('retry-after')) || 1;
      return { state: '-', answer, retryAfterSeconds };
    }
    // After any other 5xx, a proxy's included, the view may be stored all the same.
    const isDefinite = status >= 400 && status < 500 && status !== 408;
    return { state: isDefinite ? '-' : '?', answer };
  } catch (error) {
    return { state: '?', answer: fetchFailure(error) };
  }
}

const request = (url: string, init: RequestInit): Promise<Response> =>
  fetch(`${url}/view`, { ...init, redirect: 'manual', signal: AbortSignal.timeout(TIMEOUT_MS) });
