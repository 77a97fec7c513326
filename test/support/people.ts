import { readFileSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { sleep } from '../../src/base/time.ts';
import { newPage } from './chromium.ts';
import { startFirefox } from './firefox.ts';
import { listening } from './listening.ts';
import { TOOLS } from './runtimes.ts';
import { tempDir } from './temp-dir.ts';
import { dataDirectory, run, startViewlog, until, type Viewlog } from './viewlog.ts';

// Simulates sites with the printed script, a search engine, a collector behind a proxy, and
// visitors.

/** A tab of a browser. */
interface Tab {
  goto(url: string): Promise<unknown>;
  /** Returns the value of an expression. */
  run(code: string): Promise<unknown>;
  back(): Promise<unknown>;
  close(): Promise<unknown>;
  /** Opens another tab in front of this tab. Chromium without a screen shows all tabs. */
  hide(): Promise<unknown>;
  show(): Promise<unknown>;
}

/** A person on a site. Paths without an origin are the site's. */
export interface Visitor extends Omit<Tab, 'goto'> {
  /** Opens a page as if its address were typed and waits until it has loaded. */
  open(path: string): Promise<void>;
  /** Opens a page without waiting for it. */
  openOnly(path: string): Promise<unknown>;
  /** Follows a link to a page, also from another site. */
  follow(path: string): Promise<void>;
  search(path: string): Promise<void>;
  /** Waits until an expression is true on the page. */
  sees(code: string): Promise<unknown>;
  wait(ms: number): Promise<void>;
  /**
   * Waits until the page has an answer to a view: a browser doesn't keep a page for the back button
   * while the page waits for one.
   */
  answered(): Promise<unknown>;
  /** Waits up to 20 s until this many views are stored; returns whether they are. */
  counted(views: number): Promise<boolean>;
  /** Leaves the site for another site, without a link. */
  elsewhere(): Promise<unknown>;
  /** Opens a page of the site that was saved as a file. */
  openFile(): Promise<unknown>;
}

/** The path tells a proxy how to treat views. Nothing listens at `/down`. */
type Way = '/hang' | '/hang-once' | '/slow' | '/closed' | '/reset' | '/redirect' | '/down';

export interface Person {
  readonly did: string;
  /** Returns another script's element instead of the printed one. */
  readonly plant?: (element: string) => string;
  /** Options of `viewlog snippet`. */
  readonly args?: readonly string[];
  /** The project's id; by default a different one for each person. */
  readonly id?: string;
  readonly way?: Way;
  /** Attributes of the script. */
  readonly attributes?: string;
  /** The site's host; by default a different one for each person. */
  readonly host?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** The site's policy before its owner follows the advice of `viewlog snippet`. */
  readonly policy?: string;
  /** The state of the browser before the page's scripts run. */
  readonly browser?: string;
  /** @returns a page, with the script in it. */
  readonly html?: (path: string, script: string) => string;
  readonly steps: (visitor: Visitor) => Promise<unknown>;
  /** The views that a person would count: `url | pn | ref | orgreferer`, and unusual fields. */
  readonly stored: readonly string[];
  /** The value that `steps` returns. */
  readonly saw?: string;
  readonly only?: 'Chromium' | 'Firefox';
}

export const LANGUAGE = 'ja';

export const pageOf = (path: string, script: string, more = ''): string =>
  `<!doctype html><html lang="en"><head><script src="/browser.js"></script>` +
  `<title>Page ${path}</title>${script}</head><body>${more}<p>Text</p></body></html>`;

/**
 * Gives a page timers that a busy machine can't reorder: each runs at its own time of the page's
 * clock. The clock advances by at most 10 ms between two of the page's other tasks, and stops while
 * the page loads data and after `stopClock()`.
 */
const CLOCK = `{
  const [RealDate, later, clear] = [Date, setTimeout, clearTimeout];
  let real = RealDate.now();
  let now = real;
  let timers = [];
  let loading = 0;
  let isStopped = false;
  self.stopClock = () => { isStopped = true; };
  const load = self.fetch;
  self.viewsSent = 0;
  self.fetch = (...given) => {
    if (String(given[0]).endsWith('/view')) {
      self.viewsSent += 1;
      return load(...given);
    }
    loading += 1;
    return load(...given).finally(() => { loading -= 1; });
  };
  self.Date = class extends RealDate {
    constructor(...given) { super(...(given.length > 0 ? given : [now])); }
    static now() { return now; }
  };
  self.setTimeout = (run, ms = 0, ...given) => {
    const timer = { id: later(() => {}), at: now + Number(ms), run: () => run(...given) };
    timers = [...timers, timer].sort((a, b) => a.at - b.at || a.id - b.id);
    return timer.id;
  };
  self.clearTimeout = (id) => {
    timers = timers.filter((timer) => timer.id !== id);
    clear(id);
  };
  addEventListener('pageshow', ({ persisted }) => {
    if (persisted) now = real = RealDate.now(); // the browser had kept the page without its timers
  });
  const tick = async () => {
    const passed = RealDate.now() - real;
    real += passed;
    // Browsers run the timers of hidden pages once a second.
    const most = loading > 0 || isStopped ? 0 : document.hidden ? Infinity : 10;
    const end = now + Math.min(passed, most);
    while (timers[0]?.at <= end) {
      const timer = timers.shift();
      now = Math.max(now, timer.at);
      try { timer.run(); } catch (error) { reportError(error); }
      await undefined; // code that awaits the timer's promises runs before the next timer
    }
    now = end;
    later(tick, 5);
  };
  tick();
}
`;

/** Hides the automation from the script and collects the console's messages. */
const HONEST = `${CLOCK}
  const set = (name, value) =>
    Object.defineProperty(navigator, name, { value, configurable: true });
  set('webdriver', false);
  set('language', '${LANGUAGE}');
  self.said = [];
  for (const level of ['info', 'warn', 'error'])
    console[level] = (...words) =>
      void said.push(words.map((word) => word?.detail ? JSON.stringify(word) : word).join(' '));
  addEventListener('error', ({ message }) => said.push(message));\n`;

const LIBRARIES: Readonly<Record<string, string>> = {
  '/vue.js': 'vue/dist/vue.global.prod.js',
  '/vue-router.js': 'vue-router/dist/vue-router.global.prod.js',
  '/swup.js': 'swup/dist/Swup.umd.js',
  '/turbo.js': '@hotwired/turbo/dist/turbo.es2017-umd.js',
};

/** Changes policies exactly as the advice on stderr says. */
export const followAdvice = (policies: string, stderr: string): string =>
  policies
    .split(',')
    .map((policy) => changedPolicy(policy, stderr))
    .join();

function changedPolicy(policy: string, stderr: string): string {
  const [, hash = ''] = /script-src: ('sha256-\S+)/.exec(stderr)!;
  const [, origin = ''] = /connect-src: (\S+)/.exec(stderr)!;
  const directives = new Map(
    policy.split(';').map((text) => {
      const [name = '', ...sources] = text.trim().split(/\s+/);
      return [name, sources];
    }),
  );
  const add = (name: string, source: string): void => {
    const sources = directives.get(name) ?? directives.get('default-src');
    if (sources === undefined) return;
    const isOpen = sources.includes("'unsafe-inline'") && !/'(nonce|sha)/.test(sources.join(' '));
    const added = source === hash && isOpen ? [] : [source];
    directives.set(name, [...sources.filter((one) => one !== "'none'"), ...added]);
  };
  add('connect-src', origin);
  add(directives.has('script-src-elem') ? 'script-src-elem' : 'script-src', hash);
  return [...directives].map(([name, sources]) => [name, ...sources].join(' ')).join('; ');
}

/** A person, and the site that this person visits. */
interface Site {
  readonly person: Person;
  /** The project's id. */
  readonly id: string;
  readonly host: string;
  readonly origin: string;
  readonly page: (path: string) => string;
  readonly headers: Readonly<Record<string, string>>;
}

const HEADERS_PASSED = [
  'origin',
  'content-type',
  'access-control-request-method',
  'access-control-request-headers',
];

/**
 * Returns the proxy in front of the collector; `referers` are the Referer headers that it received.
 * On `/closed`, it answers the pages of an origin only once their tab is in `closed`.
 */
function proxyTo(viewlog: Viewlog) {
  const referers: (string | undefined)[] = [];
  const closed = new Set<string | undefined>();
  let hasHung = false;
  const answerView = async (asked: IncomingMessage, answer: ServerResponse): Promise<void> => {
    const { method = '', headers, url = '' } = asked;
    referers.push(headers.referer);
    const body = await text(asked);
    const way = url.replace(/\/view$/, '') as Way;
    if (way === '/hang') return;
    if (way === '/hang-once' && !hasHung) return void (hasHung = true);
    if (way === '/slow') await sleep(700);
    if (way === '/closed') await until(() => closed.has(headers.origin));
    if (way === '/reset') return void asked.socket.destroy();
    if (way === '/redirect' && method === 'POST') {
      answer.setHeader('access-control-allow-origin', headers.origin!);
      answer.writeHead(307, { location: `http://${headers.host}/view` }).end();
      return;
    }
    const passed = HEADERS_PASSED.filter((name) => headers[name] !== undefined);
    const stored = await fetch(`${viewlog.url}/view`, {
      method,
      headers: Object.fromEntries(passed.map((name) => [name, headers[name] as string])),
      body: method === 'POST' ? body : null,
    });
    for (const [name, value] of stored.headers) answer.setHeader(name, value);
    answer.writeHead(stored.status).end(await stored.text());
  };
  return { referers, closed, answerView };
}

/** Answers a request for a page of a site, or for what it includes. */
function answerPage(url: URL, site: Site | undefined, answer: ServerResponse): unknown {
  const path = url.pathname;
  const isScript = path in LIBRARIES || path.endsWith('.js');
  answer.setHeader('content-type', isScript ? 'text/javascript' : 'text/html');
  if (path in LIBRARIES) return answer.end(readFileSync(`${TOOLS}/${LIBRARIES[path]}`));
  if (path === '/browser.js') return answer.end(HONEST + (site?.person.browser ?? ''));
  if (path === '/bare') return answer.end('<title>Bare</title>');
  if (path === '/data') return answer.end('"data"');
  if (site === undefined) {
    const to = url.searchParams.get('to');
    return answer.end(`<meta name="referrer" content="unsafe-url"><a href="${to}">found</a>`);
  }
  for (const [name, value] of Object.entries(site.headers)) answer.setHeader(name, value);
  if (path.startsWith('/old')) answer.writeHead(302, { location: '/new' });
  answer.write(site.page(path + url.search));
  return path === '/endless' || answer.end();
}

/** Starts the sites of these people, and the servers that they need. */
async function startWeb(people: readonly Person[]) {
  const idOf = (index: number): string => people[index]!.id ?? String(1000 + index);
  const hostOf = (index: number): string => people[index]!.host ?? `p${index}.test`;
  const projects = people.map((_, index) => ({ id: idOf(index), active: idOf(index) !== '7' }));
  const data = dataDirectory({ operator: 'views@example.com', projects });
  const viewlog = await startViewlog({ data });
  const { referers, closed, answerView } = proxyTo(viewlog);
  const sites = new Map<string, Site>();
  const answerAny = (asked: IncomingMessage, answer: ServerResponse): unknown => {
    const url = new URL(asked.url!, `http://${asked.headers.host}`);
    return url.pathname.endsWith('/view')
      ? answerView(asked, answer)
      : answerPage(url, sites.get(url.hostname), answer);
  };
  const port = await listening(createServer(answerAny));
  await listening(createServer(answerAny), '::1', port);
  const views = `http://views.test:${port}`;
  const down = `http://views.test:${await closedPort()}`;

  const printed = new Map<string, ReturnType<typeof run>>();
  /** Prints a script once for each set of arguments. */
  const print = (id: string, ...args: string[]): ReturnType<typeof run> => {
    const key = [id, ...args].join(' ');
    const result = printed.get(key) ?? run(['snippet', id, ...args], { data: tempDir() });
    printed.set(key, result);
    return result;
  };
  const build = async (person: Person, index: number): Promise<Site> => {
    const [id, host] = [idOf(index), hostOf(index)];
    const origin = `http://${host}:${port}`;
    const { way = '', policy = '', args = [] } = person;
    const base = way === '/down' ? down : (way.startsWith('/hang') ? origin : views) + way;
    const { stdout, stderr } = await print(policy ? id : ANY_ID, '--url', base, ...args);
    const script = (person.plant ?? String)(stdout)
      .replace(`"${ANY_ID}"`, `"${id}"`)
      .replace('<script', `<script ${person.attributes ?? ''}`);
    const page = (path: string): string => (person.html ?? pageOf)(path, script);
    const advised = policy && { 'content-security-policy': followAdvice(policy, stderr) };
    const site = { person, id, host, origin, page, headers: { ...person.headers, ...advised } };
    sites.set(host, site);
    return site;
  };
  const search = `http://search.test:${port}`;
  const hosts = ['search.test', 'views.test', ...people.map((_, index) => hostOf(index))];
  return { build, hosts, search, referers, closed, lines: () => viewlog.lines() };
}

type Web = Awaited<ReturnType<typeof startWeb>>;

/** The id in the scripts that several people share; `build` replaces it with each person's id. */
const ANY_ID = '1';

async function closedPort(): Promise<number> {
  const server = createServer();
  const port = await listening(server);
  await new Promise((resolve) => server.close(resolve));
  return port;
}

/** Returns a person in a tab of a browser. */
function visitorOf({ origin, id, page, person }: Site, tab: Tab, web: Web) {
  const stored = (): string[] =>
    web
      .lines()
      .filter((line) => line.includes(`"p":"${id}"`))
      .map((line) => JSON.parse(line) as Record<string, unknown>)
      // When a person leaves a page, it sends all waiting views at the same time, in any order.
      .toSorted((a, b) => Date.parse(String(a['ld'])) - Date.parse(String(b['ld'])))
      .map(rowOf)
      .map((row) => row.replaceAll(origin, 'SITE').replaceAll(web.search, 'SEARCH'));
  const sees = (code: string) =>
    until(async () => {
      const seen = await tab.run(code).catch(() => undefined); // the page may be leaving
      if (!seen) await sleep(50);
      return seen;
    });
  const full = (path: string): string => (path.startsWith('/') ? origin + path : path);
  const hasLoaded = (path: string) =>
    sees(`location.href == ${JSON.stringify(full(path))} && document.readyState == 'complete'`);
  const follow = async (path: string): Promise<void> => {
    const link = `document.querySelector('a[href="${path}"]')`;
    const added = `document.body.insertAdjacentHTML('beforeend', '<a href="${path}">go</a>')`;
    await tab.run(`(${link} || ${added}, void ${link}.click())`);
    await hasLoaded(path);
  };
  const visitor: Visitor = {
    ...tab,
    close: async () => {
      await tab.close();
      await sleep(1_000); // a browser aborts the requests of a closed tab a moment later
      web.closed.add(origin);
    },
    openOnly: (path) => tab.goto(full(path)),
    open: async (path) => {
      await tab.goto(full(path));
      await hasLoaded(path);
    },
    openFile: () => {
      const file = join(tempDir(), 'page.html');
      writeFileSync(join(file, '../browser.js'), HONEST + (person.browser ?? ''));
      writeFileSync(file, page('/').replace('/browser.js', 'browser.js'));
      return tab.goto(`file://${file}`);
    },
    follow,
    search: async (path) => {
      await tab.goto(`${web.search}/find?q=secret&to=${encodeURIComponent(origin + path)}`);
      await sees(`document.querySelector('a') != null`);
      await follow(origin + path);
    },
    elsewhere: () => tab.goto(`${web.search}/bare`),
    sees,
    answered: () =>
      sees(`performance.getEntriesByType('resource').some(({ name }) => name.endsWith('/view'))`),
    wait: sleep,
    counted: async (views) => {
      const deadline = Date.now() + 20_000;
      while (stored().length < views && Date.now() < deadline) await sleep(50);
      return stored().length >= views;
    },
  };
  return { visitor, stored };
}

/** Lets a person visit their site; returns what was stored and seen. */
async function visit(site: Site, tab: Tab, web: Web): Promise<Result> {
  const { visitor, stored } = visitorOf(site, tab, web);
  const { did, steps, stored: expected } = site.person;
  const saw = await steps(visitor);
  // Leaving sends the views that still wait. The remaining time reveals wrong views.
  await visitor.openOnly(`${web.search}/bare`).catch(() => {});
  await visitor.counted(expected.length);
  await sleep(300);
  return { did, stored: stored(), ...(saw !== undefined && { saw: JSON.stringify(saw) }) };
}

const TOO_LONG = 'took too long';

/** Lets people visit their sites in a browser; returns what was stored and seen, per person. */
export async function visitsOf(people: readonly Person[], browser: 'Chromium' | 'Firefox') {
  const web = await startWeb(people);
  const newTab: () => Promise<Tab> =
    browser === 'Firefox' ? await startFirefox(web.hosts) : newChromiumTab;
  const results: Result[] = [];
  const queue = [...people.entries()];
  const work = async (): Promise<void> => {
    let tab: Tab | undefined;
    for (let next = queue.shift(); next !== undefined; next = queue.shift()) {
      const [index, person] = next;
      tab ??= await newTab();
      const { did } = person;
      const visited = web.build(person, index).then((site) => visit(site, tab!, web));
      results[index] = await Promise.race([
        visited.catch((error: unknown) => ({ did, stored: [String(error)] })),
        sleep(150_000).then(() => ({ did, stored: [TOO_LONG] })),
      ]);
      const isOpen = await Promise.race([tab.run('true').catch(() => false), sleep(1_000)]);
      // A visit that took too long may still go on in its tab.
      if (isOpen !== true || results[index].stored[0] === TOO_LONG) tab = undefined;
    }
  };
  await Promise.all(Array.from({ length: 6 }, work));
  return { results, referers: web.referers };
}

export interface Result {
  readonly did: string;
  readonly stored: readonly string[];
  readonly saw?: string;
}

/** `url | pn | ref | orgreferer`, and what is unusual. */
function rowOf(view: Record<string, unknown>): string {
  const { url, pn = '-', ref, orgreferer = '-', pid, ubl, content } = view;
  const path = String(url).split('?')[0];
  return [
    url,
    pn,
    ref,
    orgreferer,
    ...(pid === path ? [] : [`pid ${String(pid)}`]),
    ...(ubl === LANGUAGE ? [] : [`language ${String(ubl)}`]),
    ...(content === undefined ? [] : [JSON.stringify(content)]),
  ].join(' | ');
}

async function newChromiumTab(): Promise<Tab> {
  const page = await newPage();
  return {
    goto: (url) => page.goto(url, { waitUntil: 'commit' }),
    run: (code) => page.evaluate(code),
    back: () => page.goBack({ waitUntil: 'commit' }),
    close: () => page.close(),
    hide: () => Promise.reject(new Error('no tab is hidden')),
    show: () => Promise.resolve(),
  };
}
