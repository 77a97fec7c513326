// The script that `viewlog snippet` prints for a project's pages. The build minifies it, and the
// command puts values in the place of the names declared here. Every page loads every byte of it,
// so it is terse. A browser that cannot read its syntax (before 2020) sends nothing.

/** The project's id. */
declare const PROJECT: string;
/** Where views are posted to. */
declare const VIEW_URL: string;
/** Whether `url` keeps the `utm_*` parameters; the build makes a script of each. */
declare const CAMPAIGNS: boolean;

((id: string, address: string) => {
  // A well-formed BCP 47 tag whose language has 2 or 3 letters; all that it matches is taken.
  const languageTag =
    /^(?!.{65})[a-z]{2,3}(-[a-z]{3}){0,3}(-[a-z]{4})?(-([a-z]{2}|\d{3}))?(-([^\W_]{5,8}|\d[^\W_]{3}))*(-[^\W_](-[^\W_]{2,8})+)*$/i;
  const page = document;
  const where = location;
  const on = addEventListener;
  const key = `viewlog${id}`;
  const scripts = self as unknown as Record<string, HTMLOrSVGScriptElement | null>;
  const isHere = key in scripts;
  // A library that swaps a page's body runs its scripts again: then only `data-pid` is new.
  scripts[key] = page.currentScript;
  if (isHere) return;

  /** The referrer of the view under way, or of the last one. */
  let ref: string;
  /** The first referrer of the visit, which lasts until its tab is closed. */
  let first: string | undefined;
  let path: string;
  let url: string;
  /** When the view under way began; empty once it was sent. */
  let ld = '';

  const send = (): void => {
    if (!ld) return;
    // In the order in which the collector takes fields as they are.
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
        // oxlint-disable-next-line no-console -- where the page's developer looks
        if (!answer.ok) console.warn(key, (await answer.json()).detail);
      })
      // The browser's console has what was not sent, or not answered by viewlog.
      .catch(() => {});
  };

  const begin = (from: string): void => {
    send();
    ref = from;
    url = path = where.pathname;
    if (CAMPAIGNS) {
      const kept = where.search.match(/[?&]utm_[^&]*/g) || [];
      url += kept.join('').replace(/^&/, '?');
    }
    ld = new Date().toJSON();
  };

  /** Of a single-page site, which sets its title a moment later. */
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
    // At once, for visitors who leave early; but a script before the title waits for that.
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
