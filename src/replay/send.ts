// Sends single views to a running collector, and returns what is known of each afterwards.
import { ask } from '../base/ask.ts';
import { EXIT, Fatal } from '../base/exit.ts';
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
  const reply = await ask(`${url}/view`, { method: 'OPTIONS' }, TIMEOUT_MS);
  if ('status' in reply && reply.status === 204) return;
  const found = 'failure' in reply ? reply.failure : `it answers ${reply.status} to OPTIONS /view`;
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
  const reply = await ask(`${url}/view`, { method: 'POST', headers, body: text }, TIMEOUT_MS);
  if ('failure' in reply) return { state: '?', answer: reply.failure };
  const { status, body } = reply;
  const [, code = ''] = /"code":"([\w-]+)"/.exec(body) ?? [];
  const answer = `${status} ${printable(code, 64)}`.trim();
  if (status === 201) return { state: '+', answer };
  if (status === 429 || code === 'overloaded') {
    const retryAfterSeconds = Number(reply.headers.get('retry-after')) || 1;
    return { state: '-', answer, retryAfterSeconds };
  }
  // After any other 5xx, a proxy's included, the view may be stored all the same.
  const isDefinite = status >= 400 && status < 500 && status !== 408;
  return { state: isDefinite ? '-' : '?', answer };
}
