import { once } from 'node:events';
import * as http from 'node:http';
import { errnoOf, fetchFailure } from './exit.ts';
import { formatSize, MiB } from './format.ts';

/** An answer, or the reason why there was none, with the system's code if it has one. */
export type Reply =
  | { readonly status: number; readonly headers: Headers; readonly body: string }
  | { readonly failure: string; readonly code?: string | undefined };

export interface RequestOptions {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

/** Another program may answer, with a body that doesn't end. */
const ANSWER_BYTES_MAX = 16 * MiB;

/**
 * Asks once, follows no redirect, waits at most `timeoutMs`, reads at most 16 MiB. Never rejects.
 */
export async function fetchOnce(
  url: string,
  request: RequestOptions = {},
  timeoutMs = 5_000,
): Promise<Reply> {
  const signal = AbortSignal.timeout(timeoutMs);
  try {
    return await (/^http:/i.test(url) ? fetchDirectly : fetchThroughProxy)(url, request, signal);
  } catch (error) {
    if (signal.aborted) return { failure: `no answer in ${timeoutMs / 1000} s` };
    return { failure: fetchFailure(error), code: errnoOf(error) };
  }
}

/**
 * Asks with `fetch`, which uses the proxy in `HTTPS_PROXY` if the runtime does: a proxy can be the
 * only way to a public address.
 */
async function fetchThroughProxy(
  url: string,
  request: RequestOptions,
  signal: AbortSignal,
): Promise<Reply> {
  const response = await fetch(url, { ...request, redirect: 'manual', signal });
  const { status, headers } = response;
  return { status, headers, body: await textOf(response.body ?? []) };
}

/** Uses no proxy, on any runtime. */
const DIRECT = new http.Agent({ proxyEnv: {} } as http.AgentOptions);

/** Not `fetch`, which would use the proxy in `HTTP_PROXY` even for this machine's own addresses. */
async function fetchDirectly(
  url: string,
  request: RequestOptions,
  signal: AbortSignal,
): Promise<Reply> {
  const { method = 'GET', body = '' } = request;
  // Without this header, Node would send the body of an OPTIONS request unframed.
  const length = method === 'GET' ? {} : { 'Content-Length': Buffer.byteLength(body) };
  const headers = { ...request.headers, ...length };
  const outgoing = http.request(url, { method, headers, signal, agent: DIRECT });
  outgoing.on('error', () => {}); // an error can still follow the head of an answer
  const answered = once(outgoing, 'response') as Promise<[http.IncomingMessage]>;
  outgoing.end(body);
  const [response] = await answered;
  const fields = response.headers as Record<string, string>;
  return {
    status: response.statusCode!,
    headers: new Headers(fields), // joins a list of values into one text
    body: await textOf(response),
  };
}

async function textOf(body: AsyncIterable<Uint8Array> | Iterable<Uint8Array>): Promise<string> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of body) {
    chunks.push(chunk);
    bytes += chunk.length;
    if (bytes > ANSWER_BYTES_MAX) {
      throw new Error(`the answer has more than ${formatSize(ANSWER_BYTES_MAX)}`);
    }
  }
  return Buffer.concat(chunks).toString();
}
