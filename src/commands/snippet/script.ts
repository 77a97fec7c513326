// The script that `viewlog snippet` prints for a project's pages. The build minifies it, and the
// command replaces the names declared here by values. Every page loads every byte of it, so it is
// terse. Browsers older than 2021 can't parse it, and send nothing.

/** The project's id. */
declare const PROJECT: string;
/** The address that views are posted to. */
declare const VIEW_URL: string;
/** True: `url` keeps the `utm_*` parameters. The build makes one script for each value. */
declare const CAMPAIGNS: boolean;

/** A view that a page sends by hand. */
interface ByHand {
  readonly url?: string;
  readonly pid?: string;
  readonly pn?: string;
}

/** The part of the Navigation API that the script uses. */
interface NavigationApi extends EventTarget {
  readonly activation?: { readonly from: unknown };
}

interface NavigationEvent extends Event {
  readonly navigationType?: string;
}

((id: string, address: string) => {
  /** Why nothing is sent. */
  let why: string | false | undefined;
  /** The page before the next view's; `ref` is the page before the current view's. */
  let from: string;
  let ref: string;
  /** The first referrer of the visit, which ends when its tab is closed. */
  let first: string | undefined;
  let path: string;
  let url: string;
  let byHand: ByHand | undefined;
  /** When the current view began; 0 once it was sent. */
  let ld: Date | 0;
  /** The page's title when it was last looked at. */
  let title: string;
  /** While positive, the title may still be the previous page's. */
  let looksLeft: number;
  let timer: ReturnType<typeof setTimeout>;
  let isBusy: unknown;
  /** How often the script looks whether a title has changed: every 100 ms, for 1.5 s. */
  const LOOKS = 16;
  const page = document;
  const where = location;
  const browser = navigator;
  const on = addEventListener;
  const key = 'viewlog' + id; // not a template, which JSP and FreeMarker would fill in
  const globals = self as unknown as Record<string, DOMStringMap>;
  const navigation = globals['navigation'] as unknown as NavigationApi | undefined;
  const bodies: string[] = [];
  const isHere = key in globals;
  // A library that swaps a page's body runs its scripts again. Then only its attributes are new.
  globals[key] = page.currentScript?.dataset || {};
  if (isHere) return;

  /** Sends one view at a time: a collector that hangs takes one of the site's six connections. */
  const post = (): void => {
    const body = (isBusy = bodies.shift());
    if (!body) return;
    fetch(address, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body,
      keepalive: true,
      referrerPolicy: 'origin',
      signal: AbortSignal.timeout?.(1e4),
    })
      .then(
        (answer): unknown =>
          // oxlint-disable-next-line no-console -- the page's developer looks there
          answer.ok || answer.json().then((problem) => console.warn(key, problem.detail)),
      )
      // The browser logs a view that couldn't be sent, and an answer that isn't viewlog's.
      .then(post, post);
  };

  const send = (): void => {
    if (!ld) return;
    bodies.push(
      // In the order of the stored line: the collector then need not parse the view.
      JSON.stringify({
        pn: looksLeft > 0 ? undefined : page.title,
        pid: globals[key]!.pid || path,
        p: id,
        ubl: /^[a-z]{2,3}\b[\w-]*$/i.exec(browser.language)?.[0],
        ref,
        ld,
        url,
        content: globals[key]!.template ? { templateId: globals[key]!.template } : undefined,
        orgreferer: first,
        ...byHand,
      }),
    );
    ld = 0;
    if (!isBusy) post();
  };

  const place = (): void => {
    url = path = where.pathname;
    from = where.origin + path;
    if (CAMPAIGNS) {
      url += (where.search.match(/[?&]utm_(source|medium|campaign|term|content)=[^&]*/g) || [])
        .join('')
        .replace(/^&/, '?');
    }
  };

  /** Sends the view when its title has changed, or was looked at often enough. */
  const wait = (): void => {
    clearTimeout(timer);
    const isChanged = page.title != title;
    // Looks once more even then: a router that redirects changes the address after the title.
    if (isChanged && title) looksLeft = 0;
    title = page.title;
    if (isChanged || (page.readyState == 'loading' && (looksLeft || !title)) || looksLeft-- > 0) {
      timer = setTimeout(wait, 100);
    } else send();
  };

  const begin = (looks: number, given?: ByHand): void => {
    send();
    ref = from;
    place();
    ld = new Date();
    byHand = given;
    title = page.title;
    looksLeft = looks;
    wait();
  };

  /**
   * Called when a single-page site changes its address. The site sets its title a moment later.
   * @param change an event, or the name of the function that was called.
   */
  const moved = (change: Event | string): void => {
    if (path != where.pathname) {
      // oxlint-disable-next-line unicorn/prefer-string-starts-ends-with -- an event becomes a text
      if (/^r/.test((change as NavigationEvent).navigationType || (change as string))) {
        place();
        looksLeft = LOOKS;
      } else begin(LOOKS);
    }
  };

  const start = (): void => {
    from = page.referrer.split('?')[0]!;
    // After a reload or the back button, browsers repeat the page's first referrer. If the site has
    // them send none, the page before may still be known to be the site's.
    if (performance.navigation?.type || (!from && navigation?.activation?.from)) {
      from = where.origin;
    }
    try {
      first = sessionStorage.viewlog ??= from;
    } catch {
      // The visitor, or a sandbox, allows no storage.
    }
    on('pagehide', () => {
      send();
      while (bodies[0]) post();
    });
    if (globals[key]!.manual != null) return;
    begin(globals[key]!.app == null ? 0 : LOOKS);
    on('pageshow', (event) => event.persisted && begin(0));
    on('popstate', moved);
    // Without a Navigation API the listener is the window's, and never called.
    on.call(navigation, 'currententrychange', moved);
    for (const name of ['pushState', 'replaceState'] as const) {
      const change = history[name];
      history[name] = (...to) => {
        change.apply(history, to);
        moved(name);
      };
    }
  };

  // Counts readers, not the owner's work on the site.
  try {
    why = localStorage.viewlog == 'off' && 'localStorage.viewlog';
  } catch {
    // Without storage, the script can't have been turned off.
  }
  why ||=
    (globals as unknown) != top
      ? 'frame'
      : browser.webdriver || /compatible;|[^u]bot|spider|lighthouse/i.test(browser.userAgent)
        ? 'bot'
        : /^$|^(127|0)\.|^\[::|(^|\.)localhost\.?$/.test(where.hostname) &&
          globals[key].local == null &&
          'local page';
  const whenShown = (run: () => void): void =>
    (page as { prerendering?: boolean }).prerendering
      ? on.call(page, 'prerenderingchange', run)
      : run();
  (globals as { viewlog?: unknown }).viewlog = (view?: ByHand) =>
    why || whenShown(() => begin(0, view));
  // oxlint-disable-next-line no-console -- the page's developer looks there
  if (why) console.info(key, 'is off:', why);
  else whenShown(start);
})(PROJECT, VIEW_URL);
