// The script that `viewlog snippet` prints for a project's pages. The build minifies it, and the
// command replaces the names declared here by values. Every page loads every byte of it, so it is
// terse. Browsers older than 2020 cannot parse it, and send nothing.

/** The project's id. */
declare const PROJECT: string;
/** The address that views are posted to. */
declare const VIEW_URL: string;
/** True: `url` keeps the `utm_*` parameters. The build makes one script for each value. */
declare const CAMPAIGNS: boolean;

((id: string, address: string) => {
  // Language, script and region: what pages and browsers name. The collector accepts them all.
  const languageTag = /^[a-z]{2,3}(-[a-z]{4})?(-([a-z]{2}|\d{3}))?$/i;
  const page = document;
  const where = location;
  const on = addEventListener;
  const key = `viewlog${id}`;
  const scripts = self as unknown as Record<string, HTMLOrSVGScriptElement | null>;
  const isHere = key in scripts;
  // A library that swaps a page's body runs its scripts again. Then only `data-pid` is new.
  scripts[key] = page.currentScript;
  if (isHere) return;

  // Counts readers, not the owner's work on the site.
  let off: string | undefined;
  try {
    off = localStorage.viewlog;
  } catch {
    // The visitor, or a sandbox, allows no storage.
  }
  const why =
    off == 'off'
      ? 'localStorage.viewlog'
      : navigator.webdriver
        ? 'automated browser'
        : /^(localhost|127\..*|\[::1]|)$/.test(where.hostname) &&
          scripts[key]?.dataset.local == null &&
          'local page, no data-local';
  if (why) {
    // oxlint-disable-next-line no-console -- the page's developer looks there
    console.info(key, 'is off:', why);
    return;
  }

  /** The referrer of the current view. */
  let ref: string;
  /** The first referrer of the visit, which ends when its tab is closed. */
  let first: string | undefined;
  let path: string;
  let url: string;
  /** When the current view began; empty once it was sent. */
  let ld = '';

  const send = (): void => {
    if (!ld) return;
    // In the order of the stored line: the collector then need not parse the view.
    const view = {
      pn: page.title,
      pid: scripts[key]?.dataset.pid || path,
      p: id,
      ubl: [page.documentElement.lang, navigator.language].find((tag) => languageTag.test(tag)),
      ref,
      ld,
      url,
      orgreferer: first,
    };
    ld = '';
    fetch(address, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify(view),
      keepalive: true,
    })
      .then(async (answer) => {
        // oxlint-disable-next-line no-console -- the page's developer looks there
        if (!answer.ok) console.warn(key, (await answer.json()).detail);
      })
      // The browser logs a view that could not be sent, and an answer that is not viewlog's.
      .catch(() => {});
  };

  const begin = (from: string): void => {
    send();
    ref = from;
    url = path = where.pathname;
    if (CAMPAIGNS) {
      const tags = where.search.match(/[?&]utm_[^&]*/g) || [];
      url += tags.join('').replace(/^&/, '?');
    }
    ld = new Date().toJSON();
  };

  /** Called when a single-page site changes its address. The site sets its title a moment later. */
  const moved = (): void => {
    if (path === where.pathname) return;
    begin(where.origin + path);
    setTimeout(send, 300);
  };

  const start = (): void => {
    begin(page.referrer.replace(/[?#].*/, ''));
    try {
      first = sessionStorage.viewlog ??= ref;
    } catch {
      // The visitor, or a sandbox, allows no storage.
    }
    // At once, for visitors who leave early. A script before the title waits for the title.
    if (page.title || page.body) send();
    else on('DOMContentLoaded', send);
    on('pagehide', send);
    on('popstate', moved);
    on('pageshow', ({ persisted }) => {
      if (!persisted) return;
      begin(ref);
      send();
    });
    for (const name of ['pushState', 'replaceState'] as const) {
      const change = history[name];
      history[name] = (...to) => {
        change.apply(history, to);
        moved();
      };
    }
  };

  if ((page as { prerendering?: boolean }).prerendering) {
    page.addEventListener('prerenderingchange', start);
  } else start();
})(PROJECT, VIEW_URL);
