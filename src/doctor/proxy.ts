// Sends requests as a page would, to find out which ones a proxy passes on to viewlog.
import { open } from 'node:fs/promises';
import { errnoOf } from '../base/exit.ts';
import { fileNameOf } from '../disk/names.ts';
import { dayOfId } from '../store/stamp.ts';
import { NO_ORIGIN } from '../collector/admit.ts';
import { nothingAt } from '../collector/routes.ts';
import { fetchOnce, type Reply, type RequestOptions } from '../base/fetch-once.ts';
import { formatSize, KiB, MiB } from '../base/format.ts';
import { viewUrl } from '../base/option.ts';
import { clip } from '../base/text.ts';
import { parseUrl } from '../base/url.ts';
import { REPLAY_HEADER } from '../collector/receive-view.ts';
import { activate, activateAsWas, doctor, help } from '../installation/commands.ts';
import type { Installation } from '../installation/installation.ts';
import { described, isFromViewlog, preflightFrom, refusalIn, replyFields } from './reply.ts';
import { STATUS_REFUSALS } from '../status/guard.ts';
import type { Facts } from './facts.ts';
import { error, ok, type Verdict, warning } from './finding.ts';

/** The answers from the address that pages post to. */
export type ProxyReplies = Awaited<ReturnType<typeof probeProxy>>;

/** viewlog reads no more than this of a body that it discards. */
const LARGE_BYTES_MAX = 64 * KiB;

/** The page named in the probe's real view, in files and reports. */
const PROBE_PAGE = '/viewlog-doctor';

/**
 * Sends the requests.
 * @param url with `/view`.
 * @param origin the page's origin, as the requests claim it.
 * @param project the project to send one real view of, if viewlog is reached.
 * @param data the directory in which the examined collector stores views.
 */
export async function probeProxy(
  url: string,
  origin: string,
  viewBytesMax: number,
  project: string | undefined,
  data: string | undefined,
) {
  const asked = preflightFrom(origin);
  const largeBytes = Math.min(viewBytesMax, LARGE_BYTES_MAX);
  const [get, preflight, large] = await Promise.all([
    // viewlog counts only this request: it grants any preflight, whatever its path.
    fetchOnce(url, { headers: { Origin: origin, [REPLAY_HEADER]: 'doctor' } }),
    fetchOnce(url, asked),
    // Proxies limit the body of any request.
    fetchOnce(url, { ...asked, body: ' '.repeat(largeBytes) }),
  ]);
  // A proxy may pass on only POST.
  const post = isReached({ get, preflight })
    ? undefined
    : await fetchOnce(url, postFrom(origin, '{}'));
  const isSent = project !== undefined && isReached({ get, preflight, post });
  const viewBytes = isFromViewlog(large) ? largeBytes : 0;
  const view = isSent ? await sendView(url, origin, project, viewBytes) : undefined;
  const isStored = view && data !== undefined ? await isStoredIn(data, view) : undefined;
  return { url, origin, get, preflight, post, large, largeBytes, project, view, isStored };
}

/** Returns a request that posts a body. With this header, its refusal doesn't count on the status page. */
const postFrom = (origin: string, body: string): RequestOptions => ({
  method: 'POST',
  headers: { 'Content-Type': 'application/json', Origin: origin, [REPLAY_HEADER]: 'doctor' },
  body,
});

const TAIL_BYTES = 4 * MiB;

/** Returns whether a view that was accepted just now is in a directory; `undefined`: unknown. */
async function isStoredIn(dir: string, view: Reply): Promise<boolean | undefined> {
  const { id } = replyFields(view);
  const day = typeof id === 'string' ? dayOfId(id) : undefined;
  if (day === undefined) return undefined;
  try {
    const file = await open(`${dir}/${fileNameOf('views', day)}`);
    try {
      const { size } = await file.stat();
      const tail = Buffer.alloc(Math.min(size, TAIL_BYTES));
      await file.read(tail, 0, tail.length, size - tail.length);
      return tail.includes(String(id));
    } finally {
      await file.close();
    }
  } catch (error) {
    return errnoOf(error) === 'ENOENT' ? false : undefined;
  }
}

/** @param bytes the size of the body. A proxy that cuts it off leaves no whole view. */
function sendView(url: string, origin: string, project: string, bytes: number): Promise<Reply> {
  const ld = new Date().toISOString();
  const view = { pn: 'viewlog doctor', pid: 'viewlog-doctor', p: project, ld, url: PROBE_PAGE };
  return fetchOnce(url, postFrom(origin, JSON.stringify(view).padStart(bytes)));
}

/** A proxy may pass on only some methods, or answer OPTIONS itself. */
const isReached = ({
  get,
  preflight,
  post,
}: Record<'get' | 'preflight', Reply> & { readonly post?: Reply | undefined }): boolean =>
  refusalIn(get) !== undefined ||
  isFromViewlog(preflight) ||
  (post !== undefined && refusalIn(post) !== undefined);

/** Makes a check that runs only if the address reaches viewlog. */
const reached =
  (check: (proxy: ProxyReplies, of: Installation, facts: Facts) => readonly Verdict[]) =>
  (facts: Facts): readonly Verdict[] => {
    const { proxy, of } = facts;
    return proxy !== undefined && isReached(proxy) ? check(proxy, of, facts) : [];
  };

const LOST = "views from pages don't arrive";

/** Reports a fault of the proxy, with the command that prints the page about proxies. */
const atProxy = (state: typeof error, of: Installation, what: string, fix: string): Verdict =>
  state(what, `${fix} For examples, run:`, help(of, 'proxies'));

/** Failures to connect, each with its fix. */
const UNREACHED: readonly (readonly [RegExp, (facts: Facts) => string])[] = [
  [/ECONNREFUSED/, () => 'Nothing listens there. Start the proxy or correct --url.'],
  [/ENOTFOUND/, () => "The name isn't in DNS. Correct --url or the DNS entry."],
  [/speaks http, not https/, () => 'Use http:// in --url or set up TLS in the proxy.'],
  [/^no answer in/, silentFix],
  [/^/, () => 'Check the host name in DNS, the certificate, the proxy and the firewall.'],
];

/** Caddy holds back every view while it can't reach viewlog. */
function silentFix({ of: { address = 'viewlog' }, settings: { status } }: Facts): string {
  const health = status === 'off' ? '' : ` and that health_port is ${status.port}`;
  return `If the proxy is Caddy, make sure that it passes /view on to ${address}${health}. Otherwise, check the proxy and the firewall.`;
}

/**
 * Reports an address that redirects. Browsers follow no redirect of a preflight; they repeat a POST
 * within their own origin only after 307 and 308.
 */
function redirectOf(location: string, what: string, url: string, of: Installation): Verdict {
  const target = parseUrl(location, url);
  const to = target && viewUrl.read(target.href);
  const lost = `${what} Browsers follow no redirect of a view to another origin, and make a GET of most others.`;
  if (target?.pathname !== new URL(url).pathname)
    return atProxy(error, of, lost, 'In the proxy, pass the path on without a redirect.');
  if (to === undefined) return error(lost, "In the pages, use viewlog's own address.");
  const fix = 'In the pages, use the target of the redirect. To test that address, run:';
  return error(lost, fix, doctor(of, { url: to }));
}

export function checkUrl(facts: Facts): readonly Verdict[] {
  const { proxy, of, reply } = facts;
  if (proxy === undefined) return [];
  const { url, get } = proxy;
  const refusal = refusalIn(get);
  if (refusal?.code === 'not-found') {
    // viewlog got the path unchanged, so the proxy isn't at fault.
    if (`${refusal.detail}.` === nothingAt(new URL(url).pathname)) {
      const what = `${url} reaches viewlog, which has nothing at that path, so ${LOST}.`;
      return [atProxy(error, of, what, 'Leave the path out of --url, or let the proxy remove it.')];
    }
    const what = `${url} reaches viewlog, but the proxy changes the path, so ${LOST}. viewlog answers: ${refusal.detail}.`;
    return [atProxy(error, of, what, 'In the proxy, pass the path on unchanged.')];
  }
  if (isReached(proxy)) {
    // A running collector holds the lock of its data directory.
    const isOther = facts.holder === undefined && of.data !== undefined && !facts.isOutsider;
    if (!isOther) return [ok(`${url} reaches viewlog.`)];
    const what = `${url} reaches another viewlog: none writes to "${of.data}".`;
    return [
      warning(what, "Pass the other viewlog's --data, or start the one that uses this directory."),
    ];
  }
  if ('body' in get && Object.values(STATUS_REFUSALS).includes(get.body.trim())) {
    const what = `${url} leads to viewlog's status page, so ${LOST}.`;
    return [
      atProxy(
        error,
        of,
        what,
        `In the proxy, pass /view on to ${of.address}. Without a proxy, use that address in --url.`,
      ),
    ];
  }
  const what = `${url} doesn't reach viewlog (${described(get)}), so ${LOST}.`;
  if ('failure' in get) {
    // Another check says how to start viewlog.
    if (`${url}/`.startsWith(`${of.address}/`)) return [error(what, 'Start viewlog.')];
    const [, fixFor] = UNREACHED.find(([failure]) => failure.test(get.failure))!;
    return [error(what, fixFor(facts))];
  }
  const location = get.headers.get('location');
  if (location !== null) return [redirectOf(location, what, url, of)];
  const { pathname } = new URL(url);
  if (pathname !== '/view') {
    const fix = `Leave the path out of --url, unless the proxy serves viewlog there. In that case, pass ${pathname} on to ${of.address}/view.`;
    return [atProxy(error, of, what, fix)];
  }
  const isRunning = reply !== undefined && isFromViewlog(reply);
  const pass = isRunning
    ? `In the proxy, pass /view on to ${of.address}.`
    : 'Start viewlog. In the proxy, pass /view on to viewlog.';
  return [atProxy(error, of, what, pass)];
}

export const checkCors = reached(({ origin, get, preflight }, of) => {
  const blocked = (what: string, effect = BLOCKED): readonly Verdict[] => [
    atProxy(
      warning,
      of,
      `${what}, so ${effect}.`,
      "In the proxy, pass on OPTIONS requests and Origin headers. Don't add Access-Control-… headers.",
    ),
  ];
  if (!isFromViewlog(preflight)) {
    return blocked(
      `The answer to a preflight (${described(preflight)}) isn't viewlog's, or a proxy has changed it`,
    );
  }
  // The answer to GET may be the proxy's own, which matters to no page.
  const answers = refusalIn(get) === undefined ? [preflight] : [preflight, get];
  const allowed = answers.map(allowedOrigin).find((one) => one !== origin);
  if (allowed === undefined)
    return [ok('Preflights are granted, and pages can read the responses.')];
  const header = 'Access-Control-Allow-Origin';
  if (allowed === '') return blocked(`Responses carry no ${header}`);
  return blocked(
    `Responses carry ${header} "${allowed}" instead of "${origin}"`,
    // Only a request with cookies needs the origin itself.
    allowed === '*'
      ? "browsers block views that pages send with sendBeacon; the printed script's views arrive"
      : BLOCKED,
  );
});

const BLOCKED = 'browsers block views from pages of other origins';

const allowedOrigin = (reply: Reply): string =>
  'failure' in reply ? '' : clip(reply.headers.get('access-control-allow-origin') ?? '', 200);

/**
 * Returns whether the view arrived cut off. The doctor's view is valid, and is at the end of
 * the body, so viewlog gives these answers only if the end is missing.
 */
const isCut = (view: Reply | undefined): boolean =>
  ['malformed-json', 'request-timeout'].includes((view && refusalIn(view)?.code) ?? '');

export const checkSize = reached(({ preflight, large, largeBytes, view }) => {
  // `checkCors` reports this.
  if (!isFromViewlog(preflight)) return [];
  const size = formatSize(largeBytes);
  if (isFromViewlog(large)) {
    if (isCut(view)) return [];
    // viewlog answers a preflight before its body has arrived.
    const tried = view
      ? ''
      : ' With --project, the doctor also tests whether such a body arrives whole.';
    return [ok(`A request with a body of ${size} reaches viewlog.${tried}`)];
  }
  const what = `A request with a body of ${size} doesn't reach viewlog (${described(large)}), so large views are lost.`;
  return [warning(what, `In the proxy, allow bodies of this size (${SIZE_SETTINGS}).`)];
});

const SIZE_SETTINGS = 'nginx: client_max_body_size; Caddy: max_size in request_body';

export const checkView = reached((proxy, of, { status, projects }) => {
  const { url, origin, project = '', large, largeBytes, view, isStored } = proxy;
  if (view === undefined) return [];
  const size = isFromViewlog(large) ? `, in a body of ${formatSize(largeBytes)},` : '';
  const what = `A view of project ${project} from ${origin}${size}`;
  if ('status' in view && view.status === 201) {
    if (isStored === false) {
      const lost = `${url} leads to another viewlog: it stored ${what.replace(/^A/, 'a')}, but not in "${of.data}".`;
      return [atProxy(error, of, lost, `In the proxy, pass /view on to ${of.address}.`)];
    }
    const counted = `Reports count it as a view of ${PROBE_PAGE}.`;
    return [ok(`${what} was stored: ${clip(view.body, 200)}. ${counted}`)];
  }
  if (isCut(view)) {
    const fix = `In the proxy, pass on whole bodies (${SIZE_SETTINGS}).`;
    return [warning(`${what} arrived cut off. Such views are lost.`, fix)];
  }
  const refusal = refusalIn(view);
  if (refusal === undefined) {
    const lost = `${what} didn't reach viewlog (${described(view)}), so views are lost.`;
    return [atProxy(warning, of, lost, 'In the proxy, pass POST requests on to viewlog.')];
  }
  const { code, detail } = refusal;
  // The doctor sent both headers, as a browser does.
  const type = code === 'unsupported-media-type' ? 'Content-Type' : undefined;
  const header = detail.includes(NO_ORIGIN) ? 'Origin' : type;
  if (header !== undefined) {
    const lost = `The proxy at ${url} removes or changes the ${header} header, so viewlog refuses views of project ${project} with ${code}.`;
    return [atProxy(error, of, lost, 'In the proxy, pass the headers on unchanged.')];
  }
  // The rest is for a site's owner.
  const [fault] = detail.split(/\. If the id is right/);
  const refused = `${what} was refused with ${code}: ${fault}.`;
  if (code === 'project-not-activated') {
    const removed = status.overview?.unlisted.find(({ id }) => id === project)?.removed;
    if (removed !== undefined) {
      const again = 'The project was removed from the projects file. To list it again:';
      return [warning(refused, again, activateAsWas(of, removed))];
    }
    const isListed = 'file' in projects && projects.file.projects.some(({ id }) => id === project);
    const fix = isListed
      ? 'The project is inactive. To activate it, run:'
      : 'If the id is right, activate the project. Without --origin, a new project accepts views from every site:';
    return [warning(refused, fix, activate(of, project))];
  }
  return [warning(refused, 'To read about the code, run:', help(of, code))];
});
