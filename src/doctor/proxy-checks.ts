import { formatSize } from '../base/format.ts';
import { clip } from '../base/text.ts';
import { originTest } from '../projects/origins.ts';
import { LATEST_MAX } from '../status/counts.ts';
import { activationOf, installationOf } from '../status/shell-commands.ts';
import { described, refusalIn, type Reply } from './ask.ts';
import { activeIn, type Facts } from './facts.ts';
import { error, ok, type Verdict, warning } from './finding.ts';
import { faultColumn, PROBE_PAGE, type ProxyReplies } from './probe-proxy.ts';

// Checks of what is between pages and viewlog: what of a page's requests gets through.

type Check = (proxy: ProxyReplies, facts: Facts) => readonly Verdict[];

/** A check that needs an address by which viewlog is reached. */
const reached =
  (check: Check) =>
  (facts: Facts): readonly Verdict[] =>
    facts.proxy === undefined || refusalIn(facts.proxy.small) === undefined
      ? []
      : check(facts.proxy, facts);

const LOST = 'views of pages do not arrive';
const PROXIES = 'viewlog help proxies';

export function checkUrl({ proxy }: Facts): readonly Verdict[] {
  if (proxy === undefined) return [];
  const { url, small } = proxy;
  const { code, detail } = refusalIn(small) ?? {};
  if (code === undefined) {
    const fix =
      'failure' in small
        ? 'Check its name in the DNS, its certificate, the proxy and the firewall'
        : `Start viewlog, and have the proxy pass POST /view on to it: ${PROXIES}`;
    return [error(`${url} does not reach viewlog: ${described(small)}`, LOST, fix)];
  }
  if (code === 'malformed-json' || code === 'view-too-large') return [ok(`${url} reaches viewlog`)];
  const fix = `Have the proxy pass POST /view and its headers on unchanged: ${PROXIES}`;
  if (code === 'not-found' || code === 'method-not-allowed') {
    return [error(`${url} does not reach viewlog as POST /view: ${detail}`, LOST, fix)];
  }
  const isPassing = code === 'overloaded' || code === 'storage-unavailable';
  const what = `${url} reaches viewlog, which answers ${code}: ${detail}`;
  return [warning(what, LOST, isPassing ? 'See viewlog help trouble, 503' : fix)];
}

/** Browsers do not let a page on HTTPS send to an address without. */
export const checkHttps = reached(({ url }) => {
  if (/^(https:|http:\/\/(localhost|127\.[\d.]+|\[::1\])[:/])/.test(url)) return [];
  const why = 'browsers do not let a page on HTTPS send there';
  return [warning(`${url} is not HTTPS`, why, `Have the proxy serve HTTPS: ${PROXIES}`)];
});

/** As a browser judges a preflight and an answer, in credentials mode. */
export const checkCors = reached(({ origin, preflight, small }) => {
  const fault =
    preflightFault(preflight) ??
    corsFault(origin, preflight, 'the answer to a preflight') ??
    corsFault(origin, small, 'an answer');
  if (fault === undefined) return [ok('Preflights are granted, and pages can read answers')];
  const fix = 'Have the proxy pass OPTIONS and Origin on, and leave Access-Control-… to viewlog';
  return [warning(fault, 'browsers do not let pages send, or read answers', `${fix}: ${PROXIES}`)];
});

function preflightFault(reply: Reply): string | undefined {
  if ('failure' in reply || reply.status < 200 || reply.status > 299) {
    return `A preflight is not granted: ${described(reply)}`;
  }
  const allowed = reply.headers.get('access-control-allow-headers') ?? '';
  if (/\bcontent-type\b/i.test(allowed)) return undefined;
  return `A preflight does not allow Content-Type but "${clip(allowed, 200)}"`;
}

function corsFault(origin: string, reply: Reply, which: string): string | undefined {
  if ('failure' in reply) return undefined;
  const wanted = [
    ['Access-Control-Allow-Origin', origin],
    ['Access-Control-Allow-Credentials', 'true'],
  ] as const;
  const wrong = wanted.find(([name, value]) => reply.headers.get(name) !== value);
  if (wrong === undefined) return undefined;
  const found = reply.headers.get(wrong[0]);
  return `${wrong[0]} of ${which} ${found === null ? 'is missing' : `is "${clip(found, 200)}"`}`;
}

export const checkSize = reached(({ large }, { settings }) => {
  const bytes = settings['max-view'];
  const what = `A body of ${formatSize(bytes)} (--max-view)`;
  const { code, detail } = refusalIn(large) ?? {};
  if (code === 'view-too-large') {
    const why = 'it has a smaller limit';
    return [warning(`${what} is too large for the collector`, why, 'Give its own --max-view')];
  }
  const isCut =
    code === 'malformed-json' && !detail?.startsWith(`Line 1, column ${faultColumn(bytes)}:`);
  if (code !== undefined && !isCut) return [ok(`${what} reaches viewlog`)];
  const fault = isCut ? 'reaches viewlog cut off' : `does not reach viewlog: ${described(large)}`;
  const settingNames = 'nginx: client_max_body_size; Caddy: request_body, max_size';
  const fix = `Have the proxy pass ${formatSize(bytes)} on (${settingNames})`;
  return [warning(`${what} ${fault}`, 'large views are lost', fix)];
});

const SENT = 'one request that is not a view was sent there, and counts as refused (400 or 413)';

/** Whether the request has come to the collector that is examined. */
export const checkWay = reached(({ url, sign, sentMs, latestRefused }) => {
  const latest = latestRefused ?? [];
  const isHere = latest.some(({ text }) => text?.startsWith(sign));
  if (isHere) return [ok(`${url} leads to this collector`, SENT)];
  const since = latest.filter(({ atMs }) => atMs >= sentMs);
  // The latest are not all, and a body that was too large is not shown.
  const mayHaveCome =
    since.length === LATEST_MAX || since.some(({ code }) => code === 'view-too-large');
  if (latestRefused === undefined || mayHaveCome) return [ok(`${url} leads to a collector`, SENT)];
  const why = `its pages' views are not in this collector's files; ${SENT}`;
  const fix = 'Have the proxy lead to this collector, or examine the other one: --data, --status';
  return [warning(`${url} leads to another viewlog than this one`, why, fix)];
});

/** Whether pages beside `/view`, on the same origin, may send. */
export const checkSite = reached(({ url, isSite }, { projects, project, settings }) => {
  const active = activeIn(projects);
  const [only, ...others] = active;
  if (!isSite || only === undefined) return [];
  const { origin } = new URL(url);
  const asked = active.filter(({ id }) => project === undefined || id === project);
  const sender = asked.find(({ origins }) => !origins || originTest(origins)(origin));
  if (sender !== undefined) {
    return [ok(`Pages of ${origin} may send, as those of project ${sender.id}`)];
  }
  const who =
    project === undefined ? 'no active project lists' : `project ${project} does not list`;
  const id = project ?? (others.length === 0 ? only.id : 'ID');
  const { account } = installationOf({ ...settings, data: '', store: undefined });
  const fix = activationOf(id, origin, settings.projects, account);
  const why = 'views of these pages are refused with 403';
  return [warning(`${origin} has pages too, and ${who} this origin`, why, fix)];
});

export const checkView = reached(({ origin, view }, { project }) => {
  if (view === undefined) return [];
  const what = `A view of project ${project} from ${origin}`;
  if ('status' in view && view.status === 201) {
    const why = `reports count it as a visitor's, of page ${PROBE_PAGE}`;
    return [ok(`${what} is stored: ${clip(view.body, 200)}`, why)];
  }
  const { code, detail } = refusalIn(view) ?? { code: 'not by viewlog', detail: described(view) };
  const fix = 'See viewlog help trouble, by that code';
  return [warning(`${what} is refused, ${code}: ${detail}`, LOST, fix)];
});
