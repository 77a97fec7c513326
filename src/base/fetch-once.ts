import { fetchFailure } from './exit.ts';

/** An answer, or the reason why there was none. */
export type Reply =
  | { readonly status: number; readonly headers: Headers; readonly body: string }
  | { readonly failure: string };

/** Asks once, follows no redirect, and waits `timeoutMs` at most. Never rejects. */
export async function fetchOnce(
  url: string,
  init: RequestInit = {},
  timeoutMs = 5_000,
): Promise<Reply> {
  const signal = AbortSignal.timeout(timeoutMs);
  try {
    const response = await fetch(url, { ...init, redirect: 'manual', signal });
    const { status, headers } = response;
    return { status, headers, body: await response.text() };
  } catch (error) {
    if (signal.aborted) return { failure: `no answer in ${timeoutMs / 1000} s` };
    return { failure: fetchFailure(error) };
  }
}
