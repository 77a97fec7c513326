import { formatSize } from '../base/format.ts';
import { printable } from '../base/text.ts';
import { ask, isRefused, posted, preflightFrom, refusalIn, type Reply, told } from './ask.ts';
import { doubtful, type Finding, toBeMended, well } from './finding.ts';

// What stands between the pages and viewlog, asked as a page's browser would.

const CHECK = 'url';
const LOST = 'views of pages do not arrive';
const PROXIES = '"viewlog help proxies"';

export interface Way {
  /** With `/view`. */
  readonly url: string;
  /** A page's. */
  readonly origin: string;
  readonly viewBytesMax: number;
}

/**
 * Whether views reach viewlog by this address. That a `POST`, its headers and a large body get
 * through shows only in an answer to one, which viewlog counts: so it is sent one, and a small one
 * only where the large one did not get there. Nothing is stored or kept of it.
 * @param sign what it begins with; short.
 */
export async function checkProxy(
  { url, origin, viewBytesMax }: Way,
  sign: string,
): Promise<Finding[]> {
  const noView = (bytes: number): Promise<Reply> =>
    ask(url, posted(origin, `${sign}: no view `.padEnd(bytes, '.')));
  const large = await noView(viewBytesMax);
  const reply = refusalIn(large) === undefined ? await noView(0) : large;
  const reached = checkReached(url, reply);
  if (reached.state === 'to be mended') return [reached];
  const preflight = await ask(url, preflightFrom(origin));
  const cors = checkCors(origin, preflight, reply);
  return [reached, ...checkScheme(url), cors, checkSize(viewBytesMax, large)];
}

function checkReached(url: string, reply: Reply): Finding {
  const refusal = refusalIn(reply);
  if (refusal === undefined) {
    const location = 'failure' in reply ? null : reply.headers.get('location');
    const where = location === null ? '' : `, a redirect to ${printable(location)}`;
    return toBeMended(
      CHECK,
      `${url} does not reach viewlog: ${told(reply)}${where}`,
      LOST,
      mendOf(reply),
    );
  }
  if (refusal.code === 'malformed-json' || refusal.code === 'view-too-large') {
    return well(CHECK, `${url} reaches viewlog`);
  }
  const what = `${url} reaches viewlog, which says ${refusal.code}: ${refusal.detail}`;
  const isPassing = refusal.code === 'overloaded' || refusal.code === 'storage-unavailable';
  if (isPassing) return doubtful(CHECK, what, LOST, '"viewlog help trouble", 503');
  return toBeMended(
    CHECK,
    what,
    LOST,
    `Have the proxy pass POST, /view and the headers on as they are: ${PROXIES}`,
  );
}

function mendOf(reply: Reply): string {
  if ('failure' in reply) {
    if (isRefused(reply.failure)) return 'Start the proxy, or open its port in the firewall';
    return /certificate|tls|ssl/i.test(reply.failure)
      ? "Mend the proxy's certificate: browsers refuse it too"
      : 'Check the name in the DNS, the proxy and the firewall';
  }
  const { status } = reply;
  if (status >= 300 && status < 400) return 'Name the address that it leads to, in the pages too';
  const start = status >= 500 ? 'Start viewlog, and have' : 'Have';
  return `${start} the proxy pass POST /view on to it: ${PROXIES}`;
}

/** A page on HTTPS is not let send to an address without. */
function checkScheme(url: string): Finding[] {
  if (/^(https:|http:\/\/(localhost|127\.[\d.]+|\[::1\])[:/])/.test(url)) return [];
  const why = 'browsers let no page on HTTPS send there';
  return [doubtful(CHECK, `${url} is not HTTPS`, why, `Have the proxy serve HTTPS: ${PROXIES}`)];
}

/** As a browser judges a preflight and an answer, in credentials mode. */
function checkCors(origin: string, preflight: Reply, answer: Reply): Finding {
  const fault =
    preflightFault(preflight) ??
    corsFault(origin, preflight, 'the answer to a preflight') ??
    corsFault(origin, answer, 'an answer');
  if (fault === undefined)
    return well('preflight', 'Preflights are granted, and answers can be read');
  const todo = `Have the proxy pass OPTIONS and Origin on, and leave Access-Control-… to viewlog: ${PROXIES}`;
  return toBeMended('preflight', fault, 'browsers let no page send, or read the answer', todo);
}

function preflightFault(reply: Reply): string | undefined {
  if ('failure' in reply || reply.status < 200 || reply.status > 299) {
    return `A preflight is not granted: ${told(reply)}`;
  }
  const allowed = reply.headers.get('access-control-allow-headers') ?? '';
  if (/\bcontent-type\b/i.test(allowed)) return undefined;
  return `A preflight allows not Content-Type but "${printable(allowed)}"`;
}

function corsFault(origin: string, reply: Reply, which: string): string | undefined {
  if ('failure' in reply) return undefined;
  const allowed = reply.headers.get('access-control-allow-origin');
  const credentials = reply.headers.get('access-control-allow-credentials');
  if (allowed === null && credentials === 'true') {
    return `Origin does not arrive at viewlog: ${which} names none`;
  }
  if (allowed === origin && credentials === 'true') return undefined;
  const [name, found] = allowed === origin ? ['Credentials', credentials] : ['Origin', allowed];
  return `Access-Control-Allow-${name} of ${which} ${found === null ? 'is missing' : `is "${printable(found)}"`}`;
}

function checkSize(bytes: number, reply: Reply): Finding {
  const what = `A view of ${formatSize(bytes)} (--max-view)`;
  const refusal = refusalIn(reply);
  if (refusal === undefined) {
    const todo = 'Let the proxy take larger bodies; nginx: client_max_body_size';
    const lost = `${what} does not reach viewlog: ${told(reply)}`;
    return toBeMended('size', lost, 'large views are lost', todo);
  }
  if (refusal.code !== 'view-too-large') return well('size', `${what} reaches viewlog`);
  const todo = "Give this the collector's own --max-view";
  return doubtful('size', `${what} is too large for the collector`, 'it has another limit', todo);
}

/** Sends one real view, as a page of that project would; in the files it is told by its page. */
export async function sendRealView(
  { url, origin }: Way,
  p: string,
  nowMs: number,
): Promise<Finding> {
  const ld = new Date(nowMs).toISOString();
  const view = { pn: 'viewlog doctor', pid: 'viewlog-doctor', p, ld, url: '/viewlog-doctor' };
  const reply = await ask(url, posted(origin, JSON.stringify(view)));
  const what = `A view of project ${p} from ${origin}`;
  if (!('failure' in reply) && reply.status === 201) {
    const counted = `which reports count as a visitor's, of page ${view.url}`;
    return well('view', `${what} is stored, ${counted}: ${printable(reply.body)}`);
  }
  const { code, detail } = refusalIn(reply) ?? { code: 'not by viewlog', detail: told(reply) };
  const todo = '"viewlog help trouble", by that code';
  return toBeMended('view', `${what} is refused, ${code}: ${detail}`, LOST, todo);
}
