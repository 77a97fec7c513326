// Sends single views to a running collector and returns what is known of each afterwards.
import { fetchOnce } from '../base/fetch-once.ts';
import { EXIT, Fatal } from '../base/exit.ts';
import { printable } from '../base/text.ts';
import type { Clock } from '../base/time.ts';
import { REPLAY_HEADER } from '../collector/receive-view.ts';
import type { StoredRefusal } from '../store/refused/refused-line.ts';
import type { SentState } from './replay-record.ts';

const TIMEOUT_MS = 60_000;

/**
 * Asks whether a collector is there, without sending a view.
 * @throws {Fatal} exit 69 unless a collector answers at the address.
 */
export async function findCollector(url: string): Promise<void> {
  const reply = await fetchOnce(`${url}/view`, { method: 'OPTIONS' }, TIMEOUT_MS);
  if ('status' in reply && reply.status === 204) return;
  const fix = 'correct its address (--to)';
  const isHung = 'failure' in reply && reply.code === undefined;
  throw new Fatal(
    EXIT.unavailable,
    'failure' in reply
      ? `No collector answers at ${url}: ${reply.failure}; ${isHung ? 'if it hangs, restart it' : 'start the collector'}, or ${fix}`
      : `The server at ${url} isn't a collector: it answers ${reply.status} to OPTIONS /view; correct the collector's address (--to)`,
  );
}

/**
 * Sends a view with its original Origin, and tries again while the collector is busy.
 * The request is marked as a replay: if it is refused, the collector doesn't store the view again,
 * under another id. Never rejects.
 * @param stop ends the attempts.
 * @returns the state (`+` accepted, `-` not stored, `?` may have been stored) and the answer in
 *   words: `403 origin-not-allowed`; `isGone`: nothing listens at the address any more.
 */
export async function sendView(
  url: string,
  { text, origin }: StoredRefusal,
  { stop, clock }: { readonly stop: AbortSignal; readonly clock: Clock },
): Promise<{ state: SentState; answer: string; isGone?: boolean }> {
  const headers = {
    'Content-Type': 'application/json',
    [REPLAY_HEADER]: '1',
    ...(origin && { Origin: origin }),
  };
  for (;;) {
    const reply = await fetchOnce(
      `${url}/view`,
      { method: 'POST', headers, body: text },
      TIMEOUT_MS,
    );
    if ('failure' in reply) {
      const isGone = reply.code === 'ECONNREFUSED';
      return { state: isGone ? '-' : '?', answer: reply.failure, isGone };
    }
    const { status, body } = reply;
    const [, code = ''] = /"code":"([\w-]+)"/.exec(body) ?? [];
    const answer = `${status} ${printable(code, 64)}`.trim();
    if (status === 201) return { state: '+', answer };
    if (status !== 429 && code !== 'overloaded') {
      // After any other 5xx, a proxy's included, the view may have been stored anyway.
      const isDefinite = status >= 400 && status < 500 && status !== 408;
      return { state: isDefinite ? '-' : '?', answer };
    }
    await clock.sleep(1000 * (Number(reply.headers.get('retry-after')) || 1), stop);
    if (stop.aborted) return { state: '-', answer };
  }
}
