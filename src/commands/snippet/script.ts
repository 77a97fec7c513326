// The script that `viewlog snippet` prints for a project's pages. The build minifies it, and the
// command replaces the names declared here with values. Every page loads every byte of the script,
// so the script is terse and uses no `const`. Browsers without `||=`, from before the autumn of
// 2020, can't parse it, so they send nothing.

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
  readonly activation?: { readonly from: unknown; readonly navigationType: string };
}

interface NavigationEvent extends Event {
  readonly navigationType?: string;
}

{
  let id = PROJECT;
  /** The reason why the script sends nothing. */
  let why: string | false | undefined;
  /** The page before the next view's page; `ref` is the page before the current view's page. */
  let from: string;
  let ref: string;
  /** The first referrer of the visit. */
  let first: string | undefined;
  let path: string;
  let url: string;
  let byHand: ByHand | undefined;
  /** Shorter than `undefined`; for the same reason, `1` stands for `true`. */
  // oxlint-disable-next-line no-unassigned-vars
  let none: undefined;
  /** When the current view began; 0 once that view was sent. */
  let ld: Date | 0;
  /** For how long after `ld` the site may set the title. */
  let titleMs: number;
  /** The title at `ld`. */
  let oldTitle: string;
  /** The view's title, once it is known. */
  let pn: string | undefined;
  /** The view that is being sent. */
  let body: string | undefined;
  let page = document;
  let where = location;
  let browser = navigator as Navigator & Record<string, DOMStringMap>;
  let on = addEventListener;
  let name = 'viewlog';
  let key = name + id; // not a template, which JSP and FreeMarker would fill in
  let globals = self as unknown as { readonly navigation?: NavigationApi; [name]: unknown };
  let navigation = globals.navigation;
  let bodies: string[] = [];
  // Not a property of the window, which also names the page's elements by their ids.
  let isHere = browser[key];

  /**
   * Sends one view at a time: a collector that hangs then takes only one of the browser's six
   * connections to the site.
   */
  let post = (): unknown =>
    (body = bodies.shift()) &&
    fetch(VIEW_URL, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body,
      keepalive: 1 as never,
      referrerPolicy: 'origin',
      signal: AbortSignal.timeout?.(1e4),
    })
      .then(
        (answer): unknown =>
          answer.ok ||
          // oxlint-disable-next-line no-console -- the page's developer looks there
          answer.json().then((problem) => console.warn(key, problem.detail, problem)),
      )
      // The browser logs a view that couldn't be sent, and an answer that isn't viewlog's.
      .then(post, post);

  let send = (began = ld, { pid, template } = browser[key]!): void => {
    ld = 0; // even if JSON can't express the view
    bodies.push(
      // Fields in the order of the stored line, so that the collector need not parse the view.
      JSON.stringify({
        pn,
        pid: pid || path,
        p: id,
        ubl: /^[a-z]{2,3}\b(-\w\w+)*/i.exec(browser.language)?.[0],
        ref,
        ld: began,
        url,
        content: template ? { templateId: template } : none,
        orgreferer: first,
        ...byHand,
      }),
    );
    if (!body) post();
  };

  let place = (): void => {
    url = path = where.pathname;
    from = where.origin + path;
    if (CAMPAIGNS) {
      url += where.search
        .replace(/[?&](?!utm_(source|medium|campaign|term|content)=)[^&]*/g, '')
        .replace(/^&/, '?');
    }
  };

  /**
   * Sends the view once the site has had time to set the title, or when the visitor leaves the
   * page.
   */
  let look = (isLeft?: unknown): void => {
    let canChange = (new Date() as never) - (ld as never) < titleMs;
    // `page.title` without `slice` is an image or a form named `title`.
    if (!(canChange && page.title == oldTitle)) pn = page.title.slice?.(0, 1e3);
    // `loading` is the only state that sorts after `l`.
    if (!isLeft && (page.readyState > 'l' ? titleMs || !pn : canChange)) setTimeout(look, 100);
    else if (ld) send();
  };

  /** @param set the switch that the page has set. */
  // oxlint-disable-next-line consistent-return -- `undefined` is shorter than `false`
  let isOff = (set?: unknown): unknown => {
    try {
      return set == 'off' || localStorage[name] == 'off';
    } catch {
      // Without storage, nobody can have turned the script off there.
    }
  };

  /** @param waitMs by default 0. */
  let begin = (waitMs?: number, given?: ByHand): void => {
    // Sends the old view with the title seen last: the new page may already have set its own title.
    if (ld) send();
    // The visitor may have turned the script off since, on this page or on another one.
    if (isOff()) return;
    ref = from;
    place();
    ld = new Date();
    byHand = given;
    oldTitle = page.title;
    pn = none;
    titleMs = waitMs as number;
    look();
  };

  /**
   * Called when a single-page site changes its address. The site sets its title a moment later.
   * @param change an event, or the name of the function that was called.
   */
  let moved = (change: Event | string): void => {
    if (path != where.pathname) {
      // oxlint-disable-next-line unicorn/prefer-string-starts-ends-with -- an event becomes a text
      if (/^r/.test((change as NavigationEvent).navigationType || (change as string))) place();
      else begin(1500);
    }
  };

  /** Prerendered pages are hidden, and so are tabs that are opened in the background. */
  let whenShown = (run: () => void): void =>
    page.hidden ? on('visibilitychange', run, { once: 1 as never }) : run();

  let start = (): void => {
    let activation = navigation?.activation;
    from = page.referrer.split('?')[0]!;
    // After a reload or the back button, and when a discarded tab is shown again (`traverse`, the
    // last type in the alphabet), browsers repeat the page's first referrer. If the site makes
    // browsers send none, `activation` may still show that the previous page was the site's own.
    if (
      performance.navigation?.type ||
      (activation?.navigationType as string) > 't' ||
      (!from && activation?.from)
    ) {
      from = where.origin;
    }
    try {
      let storage = sessionStorage;
      // A visit begins when the visitor comes from elsewhere, if the browser shows that.
      storage[name] = first = (from ? from.split('/')[2] != where.host : activation)
        ? from
        : (storage[name] ?? from);
    } catch {
      // The visitor or a sandbox forbids storage.
    }
    on('pagehide', (event) => {
      look(event);
      while (bodies[0]) post();
    });
    if (browser[key]!.manual != null) return;
    begin('app' in browser[key]! ? 1500 : 0);
    on('pageshow', (event) => event.persisted && begin());
    on('popstate', moved);
    if (navigation) on.call(navigation, 'currententrychange', moved);
    else {
      (['pushState', 'replaceState'] as const).map((name) => {
        let change = history[name];
        history[name] = (...to) => {
          change.apply(history, to);
          moved(name);
        };
      });
    }
  };

  // Some libraries swap the page's body and run the scripts in the new body again. Such a run only
  // takes over the attributes of the script's new element.
  browser[key] = page.currentScript?.dataset || {};
  if (!isHere) {
    // A page can turn the script off, for example for visitors who ask not to be tracked. The
    // site's owner can turn it off in a browser, so that it counts only visitors. The page's other
    // scripts find the switch in `browser`, because this one replaces the page's own.
    why = isOff((browser[name] ||= globals[name] as never))
      ? 'opt-out'
      : (globals as unknown) != top
        ? 'frame'
        : browser.webdriver || /compat|[^u]bot|spider|lighth|headl|ptst/i.test(browser.userAgent)
          ? 'bot'
          : /^(127[.\d]+|[0.]*)$|^\[::|\blocalhost\.?$/.test(where.hostname) &&
            browser[key].local == null &&
            'no data-local';
    // A promise, so that a view that JSON can't express doesn't stop the router that sends it.
    globals[name] = async (view?: ByHand) => why || whenShown(() => begin(0, view));
    // oxlint-disable-next-line no-console -- the page's developer looks there
    if (why) console.info(key, 'is off:', why);
    else whenShown(start);
  }
}
