import { EXIT, Fatal } from '../base/exit.ts';
import { fetchFailure } from '../base/exit.ts';
import { printable } from '../base/text.ts';

/** What came of sending a view. */
export type Sent =
  | { readonly taken: true }
  /** Not taken, and not stored; worth another try. */
  | { readonly retryAfterSeconds: number }
  /** Not taken, and not stored; another try would end the same. */
  | { readonly refused: string }
  /** Nobody knows. */
  | { readonly uncertain: string };

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
    throw new Fatal(EXIT.unavailable, `${none}: what does says ${status}; ${hint}`);
  }
}

/** Sends one view, once. */
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
    const body = await answer.text();
    return sentBy(answer, body);
  } catch (error) {
    return { uncertain: fetchFailure(error) };
  }
}

function sentBy({ status, headers }: Response, body: string): Sent {
  if (status === 201) return { taken: true };
  const code = codeOf(body);
  if (status === 429 || code === 'overloaded') {
    return { retryAfterSeconds: Math.min(600, Number(headers.get('retry-after')) || 1) };
  }
  const said = `${status} ${printable(code ?? '', 64)}`.trim();
  // Any other 5xx, also a proxy's: the view may have been stored all the same.
  return status >= 400 && status < 500 && status !== 408 ? { refused: said } : { uncertain: said };
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
