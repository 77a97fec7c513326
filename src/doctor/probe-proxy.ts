import { randomUUID } from 'node:crypto';
import { DOCTOR_SIGN } from '../status/counts.ts';
import type { StatusModel } from '../status/model.ts';
import { type Ask, isViewlogs, posted, preflightFrom, refusalIn, type Reply } from './ask.ts';

/** What was sent to the address that pages post to, as a browser would, and what came back. */
export interface ProxyReplies {
  /** With `/view`. */
  readonly url: string;
  /** The page's that was pretended. */
  readonly origin: string;
  /** What the request that is not a view begins with. */
  readonly sign: string;
  readonly sentMs: number;
  /** To a body of `--max-view`. */
  readonly large: Reply;
  /** To a small body, which is sent only if no viewlog answered the large one. */
  readonly small: Reply;
  readonly preflight: Reply;
  /** The collector's latest refusals after that; `undefined` if they are not known. */
  readonly latestRefused: readonly LatestRefused[] | undefined;
  /** Whether the same origin has pages, too. */
  readonly isSite: boolean;
  /** To a real view, if one was sent. */
  readonly view: Reply | undefined;
}

type LatestRefused = Pick<StatusModel['latestRefused'][number], 'atMs' | 'code' | 'text'>;

interface Way {
  readonly url: string;
  readonly origin: string;
  readonly viewBytesMax: number;
  /** The project of the real view that is sent. */
  readonly project: string | undefined;
  readonly latestRefused: () => Promise<readonly LatestRefused[] | undefined>;
  readonly now: () => number;
}

/** The fault that viewlog finds first, if the whole body arrives. */
const END = '" is not a view';

/** Returns the column at which viewlog finds a body of this size faulty, if the whole body arrives. */
export const faultColumn = (bytes: number): number => bytes - END.length + 3;

/** The real view's page, in files and reports. */
export const PROBE_PAGE = '/viewlog-doctor';

/**
 * Only an answer to a `POST` shows that one gets through, with its headers and a large body. viewlog
 * counts such a request as refused, so at most one gets there, unless a real view is asked for.
 */
export async function probeProxy(way: Way, ask: Ask): Promise<ProxyReplies> {
  const { url, origin, viewBytesMax, project, now } = way;
  const sign = `${DOCTOR_SIGN}${randomUUID()}`;
  const sentMs = now();
  const send = (body: string): Promise<Reply> => ask(url, posted(origin, body));
  const notAView = (bytes: number) => send(`${sign}: `.padEnd(bytes - END.length, '.') + END);
  const large = await notAView(viewBytesMax);
  const small = refusalIn(large) === undefined ? await notAView(0) : large;
  const isReached = refusalIn(small) !== undefined;
  const view = { pn: 'viewlog doctor', pid: 'viewlog-doctor', p: project, url: PROBE_PAGE };
  const ld = new Date(sentMs).toISOString();
  return {
    url,
    origin,
    sign,
    sentMs,
    large,
    small,
    preflight: await ask(url, preflightFrom(origin)),
    latestRefused: isReached ? await way.latestRefused() : undefined,
    isSite: isReached && (await isSite(new URL(url).origin, ask)),
    view: isReached && project ? await send(JSON.stringify({ ...view, ld })) : undefined,
  };
}

/** Asks viewlog for nothing that it counts. */
async function isSite(origin: string, ask: Ask): Promise<boolean> {
  const root = `${origin}/`;
  if (isViewlogs(await ask(root, preflightFrom(origin)))) return false;
  const reply = await ask(root);
  if ('failure' in reply) return false;
  const { status, headers } = reply;
  const to = headers.get('location') ?? root;
  if (status >= 300)
    return status < 400 && URL.canParse(to, root) && new URL(to, root).origin === origin;
  return /^text\/html\b/i.test(headers.get('content-type') ?? '');
}
