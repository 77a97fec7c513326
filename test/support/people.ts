import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { readFileSync } from 'node:fs';
import { sleep } from '../../src/base/time.ts';
import { newPage } from './chromium.ts';
import { startFirefox } from './firefox.ts';
import { listening } from './listening.ts';
import { TOOLS } from './runtimes.ts';
import { tempDir } from './temp-dir.ts';
import { dataDirectory, run, startViewlog, until } from './viewlog.ts';

// A web of sites with the printed script, a search engine, a collector behind a proxy, and people.

/** A tab of a browser. */
interface Tab {
  goto(url: string): Promise<unknown>;
  /** Returns the value of an expression. */
  run(code: string): Promise<unknown>;
  back(): Promise<unknown>;
  close(): Promise<unknown>;
}

/** A person on a site. Paths without an origin are the site's. */
export interface Visitor extends Omit<Tab, 'goto'> {
  /** Opens a page as if its address were typed, and waits until it has loaded. */
  open(path: string): Promise<void>;
  /** Opens a page without waiting for it. */
  openOnly(path: string): Promise<unknown>;
  /** Follows a link to a page, also from another site. */
  follow(path: string): Promise<void>;
  search(path: string): Promise<void>;
  /** Waits until the page says so. */
  sees(code: string): Promise<unknown>;
  wait(ms: number): Promise<void>;
}

export interface Person {
  readonly did: string;
  /** Options of `viewlog snippet`. */
  readonly args?: readonly string[];
  /** The project's id, if not one of its own. */
  readonly id?: string;
  /** A way of the proxy to the collector: `/hang`, `/reset`, `/redirect`. */
  readonly way?: string;
  /** Attributes of the script. */
  readonly attributes?: string;
  /** The site's host, if not one of its own. */
  readonly host?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** The site's policy before its owner follows the advice of `viewlog snippet`. */
  readonly policy?: string;
  /** The state of the browser before the page's scripts run. */
  readonly browser?: string;
  /** @returns a page, with the script in it. */
  readonly html?: (path: string, script: string) => string;
  readonly steps: (visitor: Visitor) => Promise<unknown>;
  /** As a person would count: `url | pn | ref | orgreferer`, and what is unusual. */
  readonly stored: readonly string[];
  /** The value that `steps` returns. */
  readonly saw?: string;
  readonly only?: 'Chromium' | 'Firefox';
}

export const LANGUAGE = 'ja';

export const pageOf = (path: string, script: string, more = ''): string =>
  `<!doctype html><html lang="en"><head><script src="/browser.js"></script>` +
  `<title>Page ${path}</title>${script}</head><body>${more}<p>Text</p></body></html>`;

/** Hides the automation from the script, and collects the console's messages. */
const HONEST = `
  const set = (name, value) =>
    Object.defineProperty(navigator, name, { value, configurable: true });
  set('webdriver', false);
  set('language', '${LANGUAGE}');
  self.said = [];
  for (const level of ['info', 'warn', 'error'])
    console[level] = (...words) => void said.push(words.join(' '));
  addEventListener('error', ({ message }) => said.push(message));\n`;

const LIBRARIES: Readonly<Record<string, string>> = {
  '/vue.js': 'vue/dist/vue.global.prod.js',
  '/vue-router.js': 'vue-router/dist/vue-router.global.prod.js',
  '/swup.js': 'swup/dist/Swup.umd.js',
  '/turbo.js': '@hotwired/turbo/dist/turbo.es2017-umd.js',
};

/** Changes a policy as the advice on stderr says, word by word. */
export function followAdvice(policy: string, stderr: string): string {
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

/** Lets people visit their sites in a browser; returns what was stored and seen, per person. */
export async function visitsOf(people: readonly Person[], browser: 'Chromium' | 'Firefox') {
  const idOf = (index: number): string => String(1000 + index);
  const hostOf = (index: number): string => people[index]!.host ?? `p${index}.test`;
  const projects = people.map((_, index) => ({ id: idOf(index) }));
  const closed = { id: '7', active: false };
  const data = dataDirectory({ operator: 'views@example.com', projects: [...projects, closed] });
  const viewlog = await startViewlog({ data });
  const referers: (string | undefined)[] = [];
  /** The hosts of sites whose script is used, with their pages. */
  const sites = new Map<string, (path: string) => [body: string, headers: object]>();

  const answerView = async (asked: IncomingMessage, answer: ServerResponse): Promise<void> => {
    referers.push(asked.headers.referer);
    const parts: Buffer[] = [];
    for await (const part of asked) parts.push(part as Buffer);
    if (asked.url!.startsWith('/hang')) return;
    if (asked.url!.startsWith('/reset')) return void asked.socket.destroy();
    const { method = '', headers } = asked;
    if (asked.url!.startsWith('/redirect') && method === 'POST') {
      answer.setHeader('access-control-allow-origin', headers.origin!);
      return void answer.writeHead(307, { location: `http://views.test:${port}/view` }).end();
    }
    const passed = Object.fromEntries(
      ['origin', 'content-type', 'access-control-request-method', 'access-control-request-headers']
        .filter((name) => headers[name] !== undefined)
        .map((name) => [name, headers[name] as string]),
    );
    const body = method === 'POST' ? Buffer.concat(parts) : null;
    const passedOn = await fetch(`${viewlog.url}/view`, { method, headers: passed, body });
    for (const [name, value] of passedOn.headers) answer.setHeader(name, value);
    answer.statusCode = passedOn.status;
    answer.end(Buffer.from(await passedOn.arrayBuffer()));
  };
  const server = createServer((asked, answer): unknown => {
    const url = new URL(asked.url!, `http://${asked.headers.host}`);
    const path = url.pathname;
    if (path.endsWith('/view')) return answerView(asked, answer);
    if (path in LIBRARIES) {
      answer.setHeader('content-type', 'text/javascript');
      return answer.end(readFileSync(`${TOOLS}/${LIBRARIES[path]}`));
    }
    const [, index] = /^p(\d+)\.test$/.exec(url.hostname) ?? [];
    const who =
      index === undefined ? people.findIndex(({ host }) => host === url.hostname) : Number(index);
    if (path === '/browser.js') {
      answer.setHeader('content-type', 'text/javascript');
      return answer.end(HONEST + (people[who]?.browser ?? ''));
    }
    answer.setHeader('content-type', path.endsWith('.js') ? 'text/javascript' : 'text/html');
    if (url.hostname === 'search.test') {
      const to = url.searchParams.get('to');
      return answer.end(`<meta name="referrer" content="unsafe-url"><a href="${to}">found</a>`);
    }
    if (path === '/bare') return answer.end('<title>Bare</title>');
    if (path === '/data') return answer.end('"data"');
    const [body, headers] = sites.get(url.hostname)!(path + url.search);
    for (const [name, value] of Object.entries(headers)) answer.setHeader(name, value as string);
    if (path.startsWith('/old')) answer.writeHead(302, { location: '/new' });
    answer.write(body);
    return path === '/endless' || answer.end();
  });
  const port = await listening(server);

  const hosts = ['search.test', 'views.test', ...people.map((_, index) => hostOf(index))];
  const newTab: () => Promise<Tab> =
    browser === 'Firefox' ? await startFirefox(hosts) : newChromiumTab;

  const visit = async (person: Person, index: number): Promise<Result> => {
    const site = `http://${hostOf(index)}:${port}`;
    const base = person.way === '/hang' ? site : `http://views.test:${port}`;
    const id = person.id ?? idOf(index);
    const url = base + (person.way ?? '');
    const printed = await run(['snippet', id, '--url', url, ...(person.args ?? [])], {
      data: tempDir(),
    });
    const script = printed.stdout.replace('<script', `<script ${person.attributes ?? ''}`);
    const policy = person.policy && followAdvice(person.policy, printed.stderr);
    const headers = { ...person.headers, ...(policy && { 'content-security-policy': policy }) };
    const html = person.html ?? pageOf;
    sites.set(hostOf(index), (path) => [html(path, script), headers]);
    const tab = await newTab();
    const see = (code: string) =>
      until(async () => {
        const seen = await tab.run(code).catch(() => undefined); // the page may be leaving
        if (!seen) await sleep(100);
        return seen;
      });
    const hasLoaded = (to: string) =>
      see(`location.href == ${JSON.stringify(to)} && document.readyState == 'complete'`);
    const full = (path: string): string => (path.startsWith('/') ? site + path : path);
    const follow = async (path: string): Promise<void> => {
      await tab.run(
        `document.querySelector('a[href="${path}"]') ? 1 : document.body.insertAdjacentHTML('beforeend', '<a href="${path}">go</a>')`,
      );
      await tab.run(`void document.querySelector('a[href="${path}"]').click()`);
      await hasLoaded(full(path));
    };
    const visitor: Visitor = {
      ...tab,
      openOnly: (path) => tab.goto(full(path)),
      open: async (path) => {
        await tab.goto(full(path));
        await hasLoaded(full(path));
      },
      follow,
      search: async (path) => {
        await tab.goto(
          `http://search.test:${port}/find?q=secret&to=${encodeURIComponent(site + path)}`,
        );
        await see(`document.querySelector('a') != null`);
        await follow(site + path);
      },
      sees: see,
      wait: sleep,
    };
    const lines = () =>
      viewlog
        .lines()
        .map((line) => JSON.parse(line) as Record<string, string>)
        .filter(({ p }) => p === id)
        .map((view) =>
          rowOf(view).replaceAll(site, 'SITE').replaceAll(`http://search.test:${port}`, 'SEARCH'),
        );
    const saw = await person.steps(visitor);
    // Leaving sends what still waits. The rest of the time shows views that nobody should count.
    await visitor.openOnly('/bare').catch(() => {});
    const deadline = Date.now() + 5_000;
    while (lines().length < person.stored.length && Date.now() < deadline) await sleep(50);
    await sleep(300);
    await tab.close().catch(() => {});
    return { did: person.did, stored: lines(), ...(saw !== undefined && { saw }) };
  };

  const results: Result[] = [];
  const queue = [...people.entries()];
  const work = async (): Promise<void> => {
    for (let next = queue.shift(); next !== undefined; next = queue.shift()) {
      const [index, person] = next;
      if (person.only !== undefined && person.only !== browser) continue;
      const late = sleep(150_000).then(() => ({ did: person.did, stored: ['took too long'] }));
      const failed = (error: unknown) => ({ did: person.did, stored: [String(error)] });
      results[index] = await Promise.race([visit(person, index).catch(failed), late]);
    }
  };
  await Promise.all(Array.from({ length: 4 }, work));
  return { results: results.filter(Boolean), referers };
}

interface Result {
  readonly did: string;
  readonly stored: readonly string[];
  readonly saw?: unknown;
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
  };
}
