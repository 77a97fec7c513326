import type { IncomingMessage } from 'node:http';
import { Hono, type Context } from 'hono';
import { admit, type AdmissionRules } from './admit.ts';
import { allowed, type Answer, created, preflight, problem, responseOf } from './answers.ts';
import type { Log } from '../base/log.ts';
import type { Queue } from '../http/room.ts';
import { isRefusal, type Refusal, REFUSALS } from '../view/refusal.ts';
import { Deadlines } from '../http/deadlines.ts';
import { NodeRequest } from '../http/node.ts';
import { decodeBody, type ViewRequest } from '../http/request.ts';
import { WebRequest } from '../http/web.ts';
import { LIMITS } from '../base/limits.ts';
import type { Stats } from './stats.ts';
import type { RefusedStore, ViewStore } from '../store/store.ts';
import { printable } from '../base/text.ts';

export interface CollectorParts extends AdmissionRules {
  readonly store: ViewStore;
  readonly refused: RefusedStore;
  readonly queue: Queue;
  readonly stats: Stats;
  readonly log: Log;
}

/** What the runtime's server hands over with a request: Node its own message. */
interface Env {
  Bindings: { readonly incoming?: IncomingMessage };
}

/** The public listener's answers: `POST /view` and CORS preflights, nothing else. */
export interface Collector {
  /** Answers whatever a client sends; nothing in it throws. */
  readonly app: Hono<Env>;
  /**
   * `POST /view` on Node without the Fetch API's objects, which pays 9 % of all speed there.
   * @returns the answer, which never rejects; `undefined` for what only the app answers.
   */
  readonly takeFromNode: (incoming: IncomingMessage) => Promise<Answer> | undefined;
}

const PATH = '/view';

/** It reads no address and no User-Agent. */
export function createCollector(parts: CollectorParts): Collector {
  const app = new Hono<Env>();
  const { stats } = parts;
  const deadlines = new Deadlines(LIMITS.bodyTimeoutMs);
  // One handler a route, or Hono composes them anew for every request.
  app.post(PATH, (c) => takeView(requestOf(c), deadlines, parts).then(responseOf));
  app.options('*', (c) => {
    const request = requestOf(c);
    if (request.header('access-control-request-method') !== undefined) {
      return responseOf(preflight(request));
    }
    return c.req.path === PATH ? responseOf(allowed(request)) : c.notFound();
  });
  app.notFound((c) => {
    const { path, method } = c.req;
    const refusal = path === PATH ? methodNotAllowed(method) : notFound(path);
    return refuseUnread(refusal, requestOf(c), stats).then(responseOf);
  });
  app.onError((error, c) => responseOf(refuseUnexpected(error, requestOf(c), parts)));
  return {
    app,
    takeFromNode: (incoming) =>
      incoming.method === 'POST' && incoming.url === PATH
        ? takeView(new NodeRequest(incoming), deadlines, parts)
        : undefined,
  };
}

const requestOf = (c: Context<Env>): ViewRequest =>
  c.env?.incoming === undefined ? new WebRequest(c.req.raw) : new NodeRequest(c.env.incoming);

async function takeView(
  request: ViewRequest,
  deadlines: Deadlines,
  parts: CollectorParts,
): Promise<Answer> {
  const { viewBytesMax, queue, store, refused, stats } = parts;
  const place = queue.place();
  try {
    const unread = checkMediaType(request);
    if (unread) return await refuseUnread(unread, request, stats);
    const body = await request.read(viewBytesMax, deadlines, place);
    if (isRefusal(body)) return await refuseUnread(body, request, stats);
    const text = decodeBody(body);
    if (typeof text !== 'string') return refuse(text, request, stats);
    const origin = request.header('origin');
    const admitted = admit(text, origin, parts);
    if (isRefusal(admitted)) {
      keepRefused(text, origin, admitted, refused);
      return refuse(admitted, request, stats, text);
    }
    const { project, fields } = admitted;
    const appended = await store.append(fields, project);
    if ('unavailable' in appended) {
      return refuse({ ...unavailable(appended.unavailable), project }, request, stats, text);
    }
    stats.accepted(project, fields);
    return created(appended.id, origin);
  } catch (error) {
    return refuseUnexpected(error, request, parts);
  } finally {
    place.leave();
  }
}

/** @param text the request's body, where it was read. */
function refuse(refusal: Refusal, request: ViewRequest, stats: Stats, text?: string): Answer {
  const origin = request.header('origin');
  stats.refused(refusal, origin, text);
  return problem(refusal, origin);
}

/** Refuses a request whose body is not, or not yet, read to its end. */
async function refuseUnread(refusal: Refusal, request: ViewRequest, stats: Stats): Promise<Answer> {
  if (await request.drain()) return refuse(refusal, request, stats);
  const origin = request.header('origin');
  stats.refused(refusal, origin);
  return problem(refusal, origin, (answer) => request.linger(answer));
}

/** A view that its operator can still make good is kept: see the file `refused-….ndjson`. */
function keepRefused(
  text: string,
  origin: string | undefined,
  { code, issues, project }: Refusal,
  refused: RefusedStore,
): void {
  const { status } = REFUSALS[code];
  if (status !== 403 && status !== 422) return;
  const value: unknown = JSON.parse(text);
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return;
  refused.keep({
    code,
    text,
    ...(issues && { issues }),
    ...(origin !== undefined && { origin }),
    ...(project !== undefined && { project }),
  });
}

/** `application/json`, in UTF-8 and not compressed. */
function checkMediaType(request: ViewRequest): Refusal | undefined {
  const type = request.header('content-type');
  if (request.header('content-encoding') !== undefined) {
    return unsupported('The body is compressed.');
  }
  if (type === 'application/json') return undefined;
  if (type === undefined) return unsupported('There is no Content-Type.');
  const [essence, ...parameters] = type.split(';').map((part) => part.trim().toLowerCase());
  if (essence !== 'application/json') return unsupported(`It was sent as "${printable(type)}".`);
  const charset = parameters.find((parameter) => parameter.startsWith('charset='));
  if (charset === undefined || /^charset="?utf-?8"?$/.test(charset)) return undefined;
  return unsupported(`Its ${printable(charset)} is not taken, only UTF-8.`);
}

const unsupported = (found: string): Refusal => ({
  code: 'unsupported-media-type',
  detail:
    `${found} Send the view with Content-Type: application/json; with navigator.sendBeacon, ` +
    'as a Blob of that type.',
});

const notFound = (path: string): Refusal => ({
  code: 'not-found',
  detail: `There is nothing at ${printable(path)}; views are sent to /view.`,
});

const methodNotAllowed = (method: string): Refusal => ({
  code: 'method-not-allowed',
  detail: `${printable(method, 32)} is not allowed on /view; views are sent with POST.`,
});

const unavailable = (reason: string): Refusal => ({
  code: 'storage-unavailable',
  detail: `The view is not stored: ${reason}. Send it again later.`,
  retryAfterSeconds: LIMITS.retryAfterSeconds,
});

const UNEXPECTED = unavailable('an unexpected error, which the log tells');

function refuseUnexpected(
  error: unknown,
  request: ViewRequest,
  { log, stats }: CollectorParts,
): Answer {
  log.error(`Unexpected: ${error instanceof Error ? error.stack : String(error)}`);
  return refuse(UNEXPECTED, request, stats);
}

/** The answer to a request that has no path the server can read. */
export function refuseUnreadable(stats: Stats): Response {
  const refusal = notFound('this address');
  stats.refused(refusal, undefined);
  return responseOf(problem(refusal, undefined));
}
