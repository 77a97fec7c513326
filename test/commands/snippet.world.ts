import { buildSync } from 'esbuild';
import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { faultsIn, plant } from '../simulation/planted.mjs';
import { hasChromium } from '../support/chromium.ts';
import { blocksOf, MANUAL, read } from '../support/documents.ts';
import { hasFirefox } from '../support/firefox.ts';
import { pageOf, type Person, type Result, type Visitor, visitsOf } from '../support/people.ts';
import { TOOLS } from '../support/runtimes.ts';

// Tests visits to sites with the printed script: exactly the views that a person would count must
// be stored.

/** Changes the address as a router does, and later the title. */
const route = (path: string, titleAfterMs: number, title = `App ${path}`): string =>
  `(history.pushState(null, '', '${path}'),
    setTimeout(() => { document.title = '${title}' }, ${titleAfterMs}), 1)`;

const reloaded = (v: Visitor): Promise<unknown> =>
  v.sees(`performance.navigation.type == 1 && document.readyState == 'complete'`);

const said = (v: Visitor): Promise<unknown> => v.sees('self.said.join() || undefined');

/** A page whose own scripts must work; they set its title. */
const WITH_OWN = (path: string, script: string): string =>
  `<!doctype html><script src="/browser.js"></script><title>Broken ${path}</title>
   <script nonce="n">document.title = 'Works'</script>${script}`;

const withScripts =
  (...scripts: string[]) =>
  (path: string, script: string): string =>
    pageOf(path, script, `<div id="app"></div>${scripts.join('')}`);

const VUE = `<script src="/vue.js"></script><script src="/vue-router.js"></script><script>
  const page = { template: '<p>{{ $route.path }}</p>' };
  self.router = VueRouter.createRouter({
    history: VueRouter.createWebHistory(),
    routes: [{ path: '/old', redirect: '/new' }, { path: '/:any*', component: page }],
  });
  router.afterEach((to) => setTimeout(() => { document.title = 'App ' + to.path }, 500));
  Vue.createApp({ template: '<router-view/>' }).use(router).mount('#app');
</script>`;

const reactApp = (): string => {
  const contents = `
    import { createElement as h, useEffect } from 'react';
    import { createRoot } from 'react-dom/client';
    import { createBrowserRouter, Navigate, RouterProvider, useLocation } from 'react-router';
    function Page() {
      const { pathname } = useLocation();
      useEffect(() => { setTimeout(() => { document.title = 'App ' + pathname }, 500) }, [pathname]);
      return h('p', null, pathname);
    }
    self.router = createBrowserRouter([
      { path: '/old', element: h(Navigate, { to: '/new', replace: true }) },
      { path: '*', element: h(Page) },
    ]);
    createRoot(document.getElementById('app')).render(h(RouterProvider, { router: self.router }));`;
  const { outputFiles } = buildSync({
    stdin: { contents, resolveDir: TOOLS },
    bundle: true,
    minify: true,
    write: false,
    format: 'iife',
    define: { 'process.env.NODE_ENV': '"production"' },
  });
  return `<script>${outputFiles[0]!.text.replaceAll('</script', String.raw`<\/script`)}</script>`;
};

/** Follows three links of a single-page site, the last of which redirects. */
const goThrice =
  (to: (path: string) => string) =>
  async (v: Visitor): Promise<void> => {
    await v.open('/');
    await v.counted(1);
    await v.run(to('/a'));
    await v.counted(2);
    await v.run(to('/b'));
    await v.counted(3);
    await v.run(to('/old'));
    await v.sees(`location.pathname == '/new'`);
    await v.counted(4);
  };
const ROUTED_THRICE = [
  '/ | App / |  | ',
  '/a | App /a | SITE/ | ',
  '/b | App /b | SITE/a | ',
  '/new | App /new | SITE/b | ',
];

/** Pages of a site whose library swaps the body. */
const swapped =
  (scripts: string) =>
  (path: string, script: string): string =>
    `<!doctype html><head><script src="/browser.js"></script><title>Page ${path}</title>${script}
     ${scripts}</head><body><main id="swup" class="transition-fade">
     <a href="/a">a</a><a href="/b">b</a><a href="/old">old</a></main></body>`;
const followThrice = goThrice((path) => `document.querySelector('a[href="${path}"]').click()`);
const FOLLOWED_THRICE = ROUTED_THRICE.map((row) => row.replace('App', 'Page'));

const open = async (v: Visitor): Promise<void> => v.open('/');
const openAndHear = async (v: Visitor): Promise<unknown> => {
  await v.open('/');
  return said(v);
};
const HOME = '/ | Page / |  | ';

/** Not every browser has a Navigation API. */
const WITH_AND_WITHOUT_NAVIGATION = [
  '',
  `Object.defineProperty(self, 'navigation', { value: undefined });`,
];

/** Makes every access to the browser's storage fail, as if the visitor had blocked it. */
const WITHOUT_STORAGE = `for (const name of ['localStorage', 'sessionStorage'])
  Object.defineProperty(self, name, { get() { throw new Error('denied') } });`;

/** The manual's script for visitors who don't want to be counted, and its hash. */
const PRIVACY = (() => {
  const page = read(`${MANUAL}/privacy.md`);
  const [script = ''] = /<script>[^]*?globalPrivacyControl[^]*?<\/script>/.exec(page) ?? [];
  const [hash = ''] = /'sha256-[^']+'/.exec(page) ?? [];
  const buttonOf = (id: string): string => {
    const texts = blocksOf(page).map(({ text }) => text);
    const [button, onClick] = [`<button id="${id}"`, `#${id}'`].map((part) =>
      texts.find((text) => text.includes(part)),
    );
    return `${button}<script>${onClick}</script>`;
  };
  return {
    script,
    hash,
    object: buttonOf('object'),
    accept: buttonOf('accept'),
    withdraw: buttonOf('withdraw'),
  };
})();

const WITH_CONSENT = (path: string, script: string): string =>
  pageOf(
    path,
    '',
    PRIVACY.accept.replace(/<!--.*?-->/, () => script),
  );

const PEOPLE: Person[] = [
  {
    did: 'read on while the collector hung on the first view, which the script gives up on after 10 s',
    way: '/hang-once',
    steps: async (v) => {
      await v.open('/');
      await v.run(route('/a', 0));
      return v.counted(1);
    },
    stored: ['/a | App /a | SITE/ | '],
    saw: 'true',
  },
  {
    did: 'found the site in a search, and read four pages',
    steps: async (v) => {
      await v.search('/');
      for (const path of ['/a', '/b', '/c']) await v.follow(path);
    },
    stored: [
      '/ | Page / | SEARCH/find | SEARCH/find',
      '/a | Page /a | SITE/ | SEARCH/find',
      '/b | Page /b | SITE/a | SEARCH/find',
      '/c | Page /c | SITE/b | SEARCH/find',
    ],
  },
  {
    did: 'came directly, then from a search in the same tab, then typed the address there',
    steps: async (v) => {
      await v.open('/');
      await v.follow('/a');
      await v.search('/b');
      await v.follow('/c');
      await v.elsewhere();
      await v.open('/d');
      await v.follow('/e');
    },
    stored: [
      HOME,
      '/a | Page /a | SITE/ | ',
      '/b | Page /b | SEARCH/find | SEARCH/find',
      '/c | Page /c | SITE/b | SEARCH/find',
      '/d | Page /d |  | ',
      '/e | Page /e | SITE/d | ',
    ],
  },
  {
    did: 'looked at a discarded tab again',
    browser: `self.navigation && location.hash &&
      Object.defineProperty(navigation.activation, 'navigationType', { value: 'traverse' })`,
    steps: async (v) => {
      await v.search('/');
      await v.search('/#again');
    },
    stored: ['/ | Page / | SEARCH/find | SEARCH/find', '/ | Page / | SITE | SEARCH/find'],
  },
  {
    did: 'opened a page in a background tab, and looked at it later',
    only: 'Firefox',
    html: withScripts(`<script>viewlog({ pid: 'by-hand' })</script>`),
    steps: async (v) => {
      await v.hide();
      await v.open('/');
      await v.run(`void (document.title = 'Later', self.opened = new Date())`);
      await v.wait(1_000);
      await v.show();
      await v.counted(2);
      await v.hide();
      await v.run(route('/a', 0));
      await v.counted(3);
      await v.show();
    },
    stored: ['/ | Later |  | ', '/ | Later | SITE/ |  | pid by-hand', '/a | App /a | SITE/ | '],
  },
  {
    did: 'opened a page in a background tab, and closed it',
    only: 'Firefox',
    steps: async (v) => {
      await v.hide();
      await v.open('/');
      await v.wait(1_000);
      await v.close();
    },
    stored: [],
  },
  {
    did: 'typed the address, and read four pages of a site that hides its addresses',
    headers: { 'referrer-policy': 'no-referrer' },
    steps: async (v) => {
      await v.open('/');
      for (const path of ['/a', '/b', '/c']) await v.follow(path);
    },
    stored: [HOME, '/a | Page /a | SITE | ', '/b | Page /b | SITE | ', '/c | Page /c | SITE | '],
  },
  {
    did: 'found the site in a search, read on, and went back to a page that the browser had kept',
    steps: async (v) => {
      await v.search('/');
      await v.answered();
      await v.follow('/a');
      await v.back();
      await v.counted(3);
    },
    stored: [
      '/ | Page / | SEARCH/find | SEARCH/find',
      '/a | Page /a | SITE/ | SEARCH/find',
      '/ | Page / | SITE/ | SEARCH/find',
    ],
  },
  {
    did: "found the site in a search, went back to a page that the browser hadn't kept, and reloaded it",
    html: (path, script) =>
      pageOf(
        path,
        script,
        '<script>onunload = () => {}; new BroadcastChannel("x").onmessage = () => {}; navigator.locks?.request("x", () => new Promise(() => {}))</script>',
      ),
    headers: { 'cache-control': 'no-store' },
    steps: async (v) => {
      await v.search('/');
      await v.follow('/a');
      await v.back();
      await v.counted(3);
      await v.run('location.reload()');
      await v.counted(4);
    },
    stored: [
      '/ | Page / | SEARCH/find | SEARCH/find',
      '/a | Page /a | SITE/ | SEARCH/find',
      '/ | Page / | SITE | SEARCH/find',
      '/ | Page / | SITE | SEARCH/find',
    ],
  },
  {
    did: 'read a page with a query under unsafe-url, on a site that keeps campaign parameters',
    args: ['--campaigns'],
    headers: { 'referrer-policy': 'unsafe-url' },
    steps: (v) =>
      v.open('/a?email=x&utm_source=s&utm_email=y&utm_medium=m%20n&utm_content=c&autm_term=1'),
    stored: [
      '/a?utm_source=s&utm_medium=m%20n&utm_content=c | Page /a?email=x&utm_source=s&utm_email=y&utm_medium=m%20n&utm_content=c&autm_term=1 |  | ',
    ],
  },
  {
    did: 'used a site whose routes set their title after 0.5 and 1.4 s',
    steps: async (v) => {
      await v.open('/');
      await v.run(route('/a', 500));
      await v.counted(2);
      await v.run(route('/b', 1_400));
      await v.counted(3);
    },
    stored: [HOME, '/a | App /a | SITE/ | ', '/b | App /b | SITE/a | '],
  },
  {
    did: 'went to another route after 250 ms, before the first route had its title',
    steps: async (v) => {
      await v.open('/');
      await v.run(
        `(history.pushState(null, '', '/a'), setTimeout(() => ${route('/b', 1_200)}, 250))`,
      );
      await v.counted(3);
    },
    stored: [HOME, '/a | - | SITE/ | ', '/b | App /b | SITE/a | '],
  },
  {
    did: 'used a site that shows "Loading" first, and later sets a title before its address',
    steps: async (v) => {
      await v.open('/');
      await v.run(`(${route('/a', 20, 'Loading')}, ${route('/a', 800)})`);
      await v.counted(2);
      await v.run(`(${route('/b', 100)}, setTimeout(() => {
        document.title = 'App /c'; ${route('/c', 0)} }, 700))`);
      await v.counted(4);
    },
    stored: [HOME, '/a | App /a | SITE/ | ', '/b | App /b | SITE/a | ', '/c | App /c | SITE/b | '],
  },
  {
    did: 'left a route that had shown "Loading"',
    steps: async (v) => {
      await v.open('/');
      await v.run(`(${route('/a', 20, 'Loading')}, setTimeout(() => {
        document.title = 'App /a'; stopClock(); location.href = '/bare' }, 450))`);
      await v.sees(`location.pathname == '/bare'`);
    },
    stored: [HOME, '/a | App /a | SITE/ | '],
  },
  {
    did: 'panned a map for 4 s on a route that constantly replaces its address',
    steps: async (v) => {
      await v.open('/');
      await v.answered(); // the script sends one view at a time
      await v.run(`{
        const pan = (left) => {
          for (const at of 'ba') history.replaceState(null, '', '/' + at);
          if (left > 0) setTimeout(pan, 100, left - 1);
          else self.viewsSentByEnd = viewsSent;
        };
        history.pushState(null, '', '/map');
        document.title = 'Map';
        pan(40);
      }`);
      return v.sees('self.viewsSentByEnd');
    },
    stored: [HOME, '/a | Map | SITE/ | '],
    saw: '2',
  },
  {
    did: 'used a site whose title never changes, with hashes and queries',
    steps: async (v) => {
      await v.open('/?a=b');
      await v.run(`history.pushState(null, '', '/a?x')`);
      await v.run(`history.pushState(null, '', '/a?y#z')`);
      await v.run(`(location.hash = 'part', history.replaceState(null, '', '/a?q'))`);
      await v.counted(2);
      await v.back();
      await v.sees(`location.search == '?y'`);
    },
    stored: ['/ | Page /?a=b |  | ', '/a | Page /?a=b | SITE/ | '],
  },
  ...WITH_AND_WITHOUT_NAVIGATION.map((browser): Person => ({
    did: `went back and forward in a single-page site: ${browser}`,
    browser,
    steps: async (v) => {
      await v.open('/');
      await v.run(route('/a', 0));
      await v.counted(2);
      await v.back();
      await v.counted(3);
      await v.run('history.forward()');
      await v.counted(4);
    },
    stored: [HOME, '/a | App /a | SITE/ | ', '/ | App /a | SITE/a | ', '/a | App /a | SITE/ | '],
  })),
  {
    did: 'left a route immediately',
    steps: async (v) => {
      await v.open('/');
      await v.run(`void (history.pushState(null, '', '/a'),
        setTimeout(() => { stopClock(); location.href = '/bare' }, 50))`);
      await v.sees(`location.pathname == '/bare'`);
    },
    stored: [HOME, '/a | - | SITE/ | '],
  },
  {
    did: 'left while a view was on its way and another waited',
    way: '/slow',
    steps: async (v) => {
      await v.open('/');
      await v.run(`void (history.pushState(null, '', '/a'),
        setTimeout(() => history.pushState(null, '', '/b'), 20),
        setTimeout(() => { stopClock(); location.href = '/bare' }, 50))`);
      await v.counted(3);
    },
    stored: [HOME, '/a | - | SITE/ | ', '/b | - | SITE/a | '],
  },
  {
    did: 'closed the tab before the collector had answered anything',
    way: '/closed',
    steps: async (v) => {
      await v.open('/');
      await v.close();
    },
    stored: [HOME],
  },
  {
    did: 'opened an app that sets its title, then one of its routes',
    attributes: 'data-app',
    html: withScripts(
      `<script>setTimeout(() => { history.replaceState(null, '', '/en') }, 100);
       setTimeout(() => { document.title = 'App /en' }, 700)</script>`,
    ),
    steps: async (v) => {
      await v.openOnly('/');
      await v.sees(`document.title == 'App /en'`);
      await v.counted(1);
      await v.run(route('/a', 100));
      await v.counted(2);
    },
    stored: ['/en | App /en |  | ', '/a | App /a | SITE/en | '],
  },
  {
    did: 'opened a page that replaces its address, and panned a map 20 times',
    html: withScripts(`<script>history.replaceState(null, '', '/en')</script>`),
    steps: async (v) => {
      await v.openOnly('/');
      await v.sees(`location.pathname == '/en'`);
      for (let i = 0; i < 20; i++) await v.run(`history.replaceState(null, '', '/map/${i}')`);
      await v.run(`history.pushState(null, '', '/map/19?layer=2')`);
    },
    stored: [HOME],
  },
  ...WITH_AND_WITHOUT_NAVIGATION.map((browser): Person => ({
    did: `followed a link that redirects in the page: ${browser}`,
    browser,
    steps: async (v) => {
      await v.open('/');
      await v.run(`(history.pushState(null, '', '/old'), setTimeout(() => {
          history.replaceState(null, '', '/new'); document.title = 'New' }, 200), 1)`);
      await v.counted(2);
    },
    stored: [HOME, '/new | New | SITE/ | '],
  })),
  {
    did: 'used Vue Router',
    attributes: 'data-app',
    html: withScripts(VUE),
    steps: goThrice((to) => `void router.push('${to}')`),
    stored: ROUTED_THRICE,
  },
  {
    did: 'used React Router',
    attributes: 'data-app',
    html: withScripts(reactApp()),
    steps: goThrice((to) => `void router.navigate('${to}')`),
    stored: ROUTED_THRICE,
  },
  {
    did: 'used Turbo on a site whose pages have ids',
    html: (path, script) =>
      pageOf(
        path,
        '<script src="/turbo.js"></script>',
        script.replace('<script', `<script data-pid="page${path}"`) + '<a href="/a">a</a>',
      ),
    steps: async (v) => {
      await v.open('/');
      await v.run(`document.querySelector('a').click()`);
      await v.counted(2);
    },
    stored: [`${HOME} | pid page/`, '/a | Page /a | SITE/ |  | pid page/a'],
  },
  {
    did: 'used Turbo',
    html: swapped('<script src="/turbo.js"></script>'),
    steps: followThrice,
    stored: FOLLOWED_THRICE,
  },
  {
    did: 'used Swup',
    html: swapped(
      `<script src="/swup.js"></script>
       <script>addEventListener('DOMContentLoaded', () => new Swup({ animationSelector: false }))</script>`,
    ),
    steps: followThrice,
    stored: FOLLOWED_THRICE,
  },
  {
    did: 'used a site with a library that later wraps History.prototype.pushState',
    html: withScripts(`<script>{
      const { pushState } = History.prototype;
      History.prototype.pushState = function (...to) {
        self.wrapped = to[2];
        return pushState.apply(this, to);
      };
    }</script>`),
    steps: async (v) => {
      await v.open('/');
      await v.run(route('/a', 0));
      return v.run('self.wrapped');
    },
    stored: [HOME, '/a | App /a | SITE/ | '],
    saw: '/a',
  },
  {
    did: 'used a site that navigates with the Navigation API, then with a copy of pushState',
    html: (path, script) =>
      pageOf(path, `<script>self.kept = history.pushState.bind(history)</script>${script}`),
    steps: async (v) => {
      await v.open('/');
      await v.run(`(navigation.addEventListener('navigate', (event) => event.intercept({
        handler: async () => { document.title = 'App ' + new URL(event.destination.url).pathname } })),
        navigation.navigate('/a'), 1)`);
      await v.counted(2);
      await v.run(`void kept(null, '', '/b')`);
      await v.counted(3);
    },
    stored: [HOME, '/a | App /a | SITE/ | ', '/b | App /b | SITE/a | '],
  },
  {
    did: 'used a site with hash routes that sends views by hand',
    attributes: 'data-manual',
    steps: async (v) => {
      await v.open('/');
      await v.run(`void viewlog({ url: '/#/start', pid: 'start', pn: 'Start' })`);
      await v.run(`history.pushState(null, '', '/ignored')`);
      await v.run(`void viewlog({ url: '/#/about', pid: 'about' })`);
    },
    stored: ['/#/start | Start |  |  | pid start', '/#/about | Page / | SITE/ |  | pid about'],
  },
  {
    did: "used a site that sends two views by hand: one that JSON can't express, then one with two faults",
    steps: async (v) => {
      await v.open('/');
      await v.run(`{
        const loop = {};
        loop.loop = loop;
        void viewlog(loop);
        history.pushState(null, '', '/a');
      }`);
      await v.counted(2);
      await v.run(`void viewlog({ url: 'a', pn: 1 })`);
      return v.sees(`said.join().includes('"field":"pn"') && 'both faults'`);
    },
    stored: [HOME, '/a | Page / | SITE/ | '],
    saw: 'both faults',
  },
  {
    did: 'opened a page with a frame of the same site',
    html: (path, script) =>
      pageOf(path, script, path === '/' ? '<iframe src="/frame"></iframe>' : ''),
    steps: async (v) => {
      await v.open('/');
      return v.sees('frames[0].said?.join()');
    },
    stored: [HOME],
    saw: 'is off: frame',
  },
  {
    did: 'opened an XHTML page',
    headers: { 'content-type': 'application/xhtml+xml' },
    html: (path, script) =>
      `<?xml version="1.0"?><html xmlns="http://www.w3.org/1999/xhtml"><head><script src="/browser.js"/><title>Page ${path}</title>${script}</head><body><p>Text</p></body></html>`,
    steps: open,
    stored: [HOME],
  },
  ...[`default-src 'self'`, `script-src 'self' 'unsafe-inline'`].map((policy): Person => ({
    did: `opened a page that loads data and whose whole policy is ${policy}`,
    policy,
    html: (path, script) =>
      path === '/own.js'
        ? `document.title = 'Works'`
        : `<!doctype html><script src="/browser.js"></script><title>Broken ${path}</title>
           <script src="/own.js"></script>
           ${policy.includes('inline') ? `<script>document.title += ' inline'</script>` : ''}
           ${script}`,
    steps: async (v) => {
      await v.open('/');
      return v.run(`fetch('/data').then((answer) => answer.json(), String)`);
    },
    stored: [`/ | Works${policy.includes('inline') ? ' inline' : ''} |  | `],
    saw: 'data',
  })),
  ...[
    `script-src 'self' 'unsafe-inline'; connect-src 'self'`,
    `default-src 'self' 'unsafe-inline'`,
    `default-src 'none'; script-src 'self' 'nonce-n' 'unsafe-inline'`,
    `default-src 'self' 'nonce-n'; connect-src 'none'`,
    `script-src 'none'; script-src-elem 'self' 'nonce-n'; connect-src 'self'; require-trusted-types-for 'script'`,
    `img-src 'self'`,
    `default-src 'self' 'nonce-n', script-src 'self' 'nonce-n'`,
  ].map((policy): Person => ({
    did: `opened a page under ${policy}`,
    policy,
    html: WITH_OWN,
    steps: open,
    stored: ['/ | Works |  | '],
  })),
  ...(
    [
      [`set('globalPrivacyControl', true)`, []],
      [`set('globalPrivacyControl', true); ${WITHOUT_STORAGE}`, []],
      [`set('doNotTrack', '1')`, []],
      [`set('globalPrivacyControl', false)`, [HOME]],
      [`set('globalPrivacyControl', undefined)`, [HOME]],
    ] as const
  ).map(([browser, stored]): Person => ({
    did: `opened a page that honours Global Privacy Control under a policy, after ${browser}`,
    browser,
    policy: `default-src 'none'; script-src 'self' ${PRIVACY.hash}`,
    html: (path, script) => pageOf(path, PRIVACY.script + script),
    steps: async (v) => {
      await v.open('/');
      return v.run('said.join()');
    },
    stored,
    saw: stored.length > 0 ? '' : 'is off: opt-out',
  })),
  {
    did: 'opened a page whose script has a nonce',
    headers: { 'content-security-policy': `script-src 'self' 'nonce-n'` },
    attributes: 'nonce="n"',
    steps: open,
    stored: [HOME],
  },
  {
    did: 'left while the head was still loading',
    html: (path, script) =>
      pageOf(path, script).replace(
        '<head>',
        '<head><meta http-equiv="refresh" content="0; url=/bare">',
      ),
    steps: async (v) => {
      await v.openOnly('/');
      await v.sees(`location.pathname == '/bare'`);
    },
    stored: [HOME],
  },
  {
    did: 'left before the title arrived',
    only: 'Chromium', // Firefox's driver sees nothing of a page that never ends
    html: (_, script) =>
      `<!doctype html><script src="/browser.js"></script>${script}<!-- slow -->${' '.repeat(4096)}`,
    steps: async (v) => {
      await v.openOnly('/endless');
      await v.sees(`document.querySelectorAll('script').length == 2`);
    },
    stored: ['/endless |  |  | '],
  },
  {
    did: 'opened a page with a late title, an id and a template',
    attributes: 'data-pid="page-42" data-template="article"',
    html: (path, script) =>
      `<!doctype html><script src="/browser.js"></script>${script}<script src="/browser.js"></script><title>Late</title>`,
    steps: open,
    stored: ['/ | Late |  |  | pid page-42 | {"templateId":"article"}'],
  },
  {
    did: 'opened a page with the script twice, and no template',
    attributes: 'data-template=""',
    html: (path, script) => pageOf(path, script + script, script),
    steps: open,
    stored: [HOME],
  },
  {
    did: "opened a page whose script element has the script's key as its id, and whose title is an image",
    html: (path, script) => {
      const [, id = ''] = /="(\d+)"/.exec(script)!;
      const named = script.replace('<script', `<script id="viewlog${id}"`);
      return pageOf(path, named, '<img name="title" alt="">');
    },
    steps: async (v) => {
      await v.open('/');
      await v.run(`(history.pushState(null, '', '/a'), 1)`);
      await v.counted(2);
    },
    stored: [HOME, '/a | - | SITE/ | '],
  },
  {
    did: 'opened a page with a very long title',
    html: (path, script) =>
      pageOf(path, '').replace(/Page.*?(?=<.title)/, 'long '.repeat(4_000)) + script,
    steps: open,
    stored: [`/ | ${'long '.repeat(200)} |  | `],
  },
  {
    did: 'allows no storage',
    browser: WITHOUT_STORAGE,
    steps: open,
    stored: ['/ | Page / |  | -'],
  },
  {
    did: 'opened a sandboxed page',
    headers: { 'content-security-policy': 'sandbox allow-scripts' },
    steps: open,
    stored: ['/ | Page / |  | -'],
  },
  {
    did: 'opened a page with a service worker',
    host: 'localhost',
    attributes: 'data-local',
    html: (path, script) =>
      path === '/worker.js'
        ? `onactivate = (event) => event.waitUntil(clients.claim()); onfetch = (event) => event.request.mode == 'navigate' || event.respondWith(fetch(event.request))`
        : pageOf(path, script),
    steps: async (v) => {
      await v.open('/');
      await v.run(`void navigator.serviceWorker.register('/worker.js')`);
      await v.sees('navigator.serviceWorker.controller != null');
      await v.follow('/a');
      return v.run('String(navigator.serviceWorker.controller != null)');
    },
    saw: 'true',
    stored: [HOME, '/a | Page /a | SITE/ | '],
  },
  ...(['/reset', '/hang', '/down'] as const).map((way): Person => ({
    did: `used a site whose collector doesn't answer: ${way}`,
    way,
    steps: async (v) => {
      await v.open('/');
      for (let i = 0; i < 7; i++) await v.run(`history.pushState(null, '', '/${i}')`);
      return v.run(`fetch('/data', { signal: AbortSignal.timeout(5000) })
        .then((answer) => answer.json(), String)`);
    },
    stored: [],
    saw: 'data',
  })),
  { did: 'used a site whose collector has moved', way: '/redirect', steps: open, stored: [HOME] },
  {
    did: 'opened a page of an inactive project',
    id: '7',
    steps: openAndHear,
    stored: [],
    saw: "viewlog7 Project 7 isn't activated. If the id is right, ask views@example.com to activate it.",
  },
  {
    did: 'objected with a button',
    html: withScripts(PRIVACY.object),
    steps: async (v) => {
      await v.open('/');
      await v.counted(1);
      await v.run(`void document.querySelector('#object').click()`);
      await v.open('/a');
      return said(v);
    },
    stored: [HOME],
    saw: 'is off: opt-out',
  },
  {
    did: 'accepted with a button, objected, and accepted again on the next page',
    html: (path, script) => WITH_CONSENT(path, script) + PRIVACY.object,
    steps: async (v) => {
      await v.open('/');
      await v.run(`void document.querySelector('#accept').click()`);
      await v.counted(1);
      await v.run(`void document.querySelector('#object').click()`);
      await v.follow('/a');
      await v.run(`void document.querySelector('#accept').click()`);
      await v.counted(2);
    },
    stored: [HOME, '/a | Page /a | SITE/ | SITE/'],
  },
  ...['object', 'withdraw'].map((id): Person => ({
    did: `read on, clicked #${id}, and went back to a page that the browser had kept`,
    html: (path, script) =>
      WITH_CONSENT(path, script) + (id === 'object' ? PRIVACY.object : PRIVACY.withdraw),
    steps: async (v) => {
      await v.open('/');
      await v.run(`void document.querySelector('#accept').click()`);
      await v.answered();
      await v.follow('/a');
      await v.counted(2);
      await v.run(`void document.querySelector('#${id}').click()`);
      if (id === 'withdraw') await reloaded(v);
      await v.back();
      await v.sees(`location.pathname == '/'`);
      await v.run(`void history.pushState(null, '', '/b')`);
      await v.wait(2000);
    },
    stored: [HOME, '/a | Page /a | SITE/ | '],
  })),
  {
    did: 'accepted with a button, and read on',
    html: WITH_CONSENT,
    steps: async (v) => {
      await v.search('/');
      await v.run(`void document.querySelector('#accept').click()`);
      await v.counted(1);
      await v.follow('/a');
      await v.counted(2);
    },
    stored: ['/ | Page / | SEARCH/find | SEARCH/find', '/a | Page /a | SITE/ | SEARCH/find'],
  },
  {
    did: 'accepted with a button, and withdrew the consent',
    html: (path, script) => WITH_CONSENT(path, script) + PRIVACY.withdraw,
    steps: async (v) => {
      await v.search('/');
      await v.run(`void document.querySelector('#accept').click()`);
      await v.counted(1);
      await v.run(`void document.querySelector('#withdraw').click()`);
      await reloaded(v);
      await v.open('/a');
      return v.run('[localStorage.consent, localStorage.viewlog, sessionStorage.length].join()');
    },
    stored: ['/ | Page / | SEARCH/find | SEARCH/find'],
    saw: ',off,0',
  },
  { did: "didn't accept", html: WITH_CONSENT, steps: open, stored: [] },
  {
    did: 'turned the script off',
    browser: `localStorage.viewlog = 'off';`,
    steps: async (v) => {
      await v.open('/');
      await v.run('void viewlog({})');
      return said(v);
    },
    stored: [],
    saw: 'is off: opt-out',
  },
  ...[`localStorage.viewlog = 'off';`, `self.viewlog = 'off'; ${WITHOUT_STORAGE}`].map(
    (browser): Person => ({
      did: `opened a page with two scripts, after ${browser}`,
      browser,
      html: (path, script) => pageOf(path, script + script.replace(/"\d+"/, '"99999999"')),
      steps: openAndHear,
      stored: [],
      saw: 'is off: opt-out,viewlog99999999 is off: opt-out',
    }),
  ),
  ...[
    'Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)',
    'AhrefsBot/7.0',
    'HeadlessChrome/150.0.0.0',
    'Baiduspider/2.0',
  ].map((agent): Person => ({
    did: `is ${agent}`,
    browser: `Object.defineProperty(navigator, 'userAgent', { value: '${agent}' });`,
    steps: openAndHear,
    stored: [],
    saw: 'is off: bot',
  })),
  {
    did: 'is an automated browser',
    browser: `set('webdriver', true);`,
    steps: async (v) => {
      await v.open('/');
      await v.run('void viewlog({})');
      return said(v);
    },
    stored: [],
    saw: 'is off: bot',
  },
  {
    did: 'has a Cubot phone',
    browser: `set('userAgent', 'Mozilla/5.0 (Linux; Android 9; CUBOT_X19) AppleWebKit/537.36');`,
    steps: open,
    stored: [HOME],
  },
  ...['site.localhost', 'localhost.', '127.0.0.1', '0.0.0.0', '[::1]'].map((host): Person => ({
    did: `is the developer at ${host}`,
    host,
    steps: openAndHear,
    stored: [],
    saw: 'is off: no data-local',
  })),
  {
    did: 'is the developer, who opened the page as a file',
    steps: async (v) => {
      await v.openFile();
      return said(v);
    },
    stored: [],
    saw: 'is off: no data-local',
  },
  ...['0.30000000000000004.test', '127.0.0.1.test'].map((host): Person => ({
    did: `opened a page of ${host}`,
    host,
    steps: open,
    stored: [HOME],
  })),
  {
    did: 'is the developer, whose site counts local visits',
    host: 'app.localhost',
    attributes: 'data-local',
    steps: open,
    stored: [HOME],
  },
  ...[
    ['zh-Hant-TW', 'zh-Hant-TW'],
    ['en-', 'en'],
    ['en-US@posix', 'en-US'],
    ['de_DE', undefined],
    ['C', undefined],
    ['', undefined],
  ].map(([language, stored]): Person => ({
    did: `has the language "${language}"`,
    browser: `set('language', '${language}');`,
    steps: open,
    stored: [`${HOME} | language ${stored}`],
  })),
];

// PEOPLE='used (Turbo|Swup)' BROWSERS=Firefox tries only these people, and only in Firefox.
const CHOSEN = PEOPLE.filter(({ did }) => new RegExp(process.env['PEOPLE'] ?? '').test(did));
const BROWSERS = [
  ['Chromium', hasChromium],
  ['Firefox', hasFirefox],
] as const;

it(
  'the script sends the views that a person would count, in each browser',
  { timeout: 900_000 },
  async () => {
    const browsers = BROWSERS.filter(
      ([name, isHere]) => name.includes(process.env['BROWSERS'] ?? '') && isHere(),
    );
    const visits = browsers.map(([browser]) =>
      miscounted(
        CHOSEN.filter(({ only = browser }) => only === browser),
        browser,
      ),
    );
    for (const { person, browser, result } of (await Promise.all(visits)).flat()) {
      expect.soft(result, `${browser}: ${person.did}`).toStrictEqual(expectedOf(person));
    }
  },
);

/** Returns the people whose stored views aren't those that a person would count. */
async function miscounted(people: readonly Person[], browser: 'Chromium' | 'Firefox') {
  const { results, referers } = await visitsOf(people, browser);
  const paths = referers.map((referer = 'http://a') => new URL(referer).pathname);
  expect(new Set(paths), `${browser}: referers`).toStrictEqual(new Set(['/']));
  return people
    .map((person, i) => ({ person, browser, result: results[i]! }))
    .filter(({ person, result }) => !isRight(person, result));
}

function isRight({ stored, saw = '' }: Person, result: Result): boolean {
  return result.stored.join('\n') === stored.join('\n') && (result.saw ?? '').includes(saw);
}

const expectedOf = ({ did, stored, saw }: Person) =>
  saw === undefined
    ? { did, stored }
    : { did, stored, saw: expect.stringContaining(saw) as unknown };

/** Returns the people who should find each fault of planted.txt, with the fault in their script. */
function plantedPeople(): (Person & { readonly fault: string })[] {
  return chosenFaults().flatMap(({ name: fault, finders, file, replacements }) => {
    const planted = plant(readFileSync(file, 'utf8'), replacements);
    return PEOPLE.filter(({ did }) => new RegExp(finders).test(did)).map((person) => ({
      ...person,
      fault,
      plant: (element: string) => {
        const [, id = '', url = ''] = /=("\d+"),.*fetch\(("http.*?")/.exec(element)!;
        const script = minified(planted, person.args?.includes('--campaigns') ?? false);
        const faulty = script.replace('PROJECT', id).replace('VIEW_URL', url);
        return element.replace(/(?<=CDATA\[\*\/).*(?=\/\*]])/, () => faulty);
      },
    }));
  });
}

function chosenFaults() {
  const chosen = new RegExp(process.env['PLANTED'] ?? '');
  return faultsIn(import.meta.dirname).filter(({ name }) => chosen.test(name));
}

function minified(contents: string, keepsCampaigns: boolean): string {
  const { outputFiles } = buildSync({
    stdin: { contents, loader: 'ts' },
    define: { CAMPAIGNS: String(keepsCampaigns) },
    minify: true,
    write: false,
  });
  return outputFiles[0]!.text.trim();
}

// PLANTED=. plants each fault of planted.txt in the script and prints which people find it.
it.runIf(process.env['PLANTED'])(
  'some person finds each planted fault of the script',
  { timeout: 900_000 },
  async () => {
    const usual = process.env['BROWSERS'] === 'Firefox' ? 'Firefox' : 'Chromium';
    const planted = plantedPeople();
    const found = new Map(chosenFaults().map(({ name }) => [name, [] as string[]]));
    const referers: (string | undefined)[] = [];
    for (const [browser] of BROWSERS) {
      const people = planted.filter(({ only = usual }) => only === browser);
      if (people.length === 0) continue;
      const visits = await visitsOf(people, browser);
      referers.push(...visits.referers);
      for (const [i, person] of people.entries()) {
        if (!isRight(person, visits.results[i]!)) found.get(person.fault)!.push(person.did);
      }
    }
    if (referers.some((referer = '') => referer.includes('email'))) {
      found.get("send the page's query to the collector's host")!.push('the referers');
    }
    for (const [fault, finders] of found) console.log(fault, '<-', finders.join('; ') || 'NOBODY');
    const survivors = [...found].filter(([, finders]) => finders.length === 0);
    expect(survivors).toStrictEqual([]);
  },
);
