// Keeps the page up to date: fetches it every two seconds while the tab is visible, and swaps it in
// place. Open rows and the filter are part of the address, so that the server renders them.
import { Idiomorph } from 'idiomorph';

const INTERVAL_MS = 2_000;
const TIMEOUT_MS = 10_000;

/** Counts up with each change of the address, after which an older answer is out of date. */
let asked = 0;

async function refresh(): Promise<void> {
  const current = asked;
  try {
    const next = await load();
    if (current !== asked) return;
    if (next.body.dataset['version'] !== document.body.dataset['version']) return location.reload();
    showLocalTimes(next);
    document.title = next.title;
    const options = { morphStyle: 'outerHTML', ignoreActiveValue: true } as const;
    Idiomorph.morph(document.body, next.body, options);
  } catch {
    document.body.dataset['lost'] = '';
    document.title = 'viewlog: no contact';
  }
}

/** XMLHttpRequest parses the page without making markup of a string, which the policy forbids. */
function load(): Promise<Document> {
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    request.open('GET', location.pathname + location.search);
    request.responseType = 'document';
    request.timeout = TIMEOUT_MS;
    const end = (): void => {
      const { status, responseXML: page } = request;
      if (status === 200 && page !== null) resolve(page);
      else reject(new Error(`status ${status}`));
    };
    request.addEventListener('loadend', end);
    request.send();
  });
}

/** The server writes times in UTC. */
function showLocalTimes(page: Document): void {
  const today = new Date().toDateString();
  for (const time of page.querySelectorAll('time')) {
    const at = new Date(time.dateTime);
    const day = { day: 'numeric', month: 'short' } as const;
    const clock = { hour: '2-digit', minute: '2-digit' } as const;
    time.textContent =
      at.toDateString() === today
        ? at.toLocaleTimeString([], clock)
        : at.toLocaleString([], { ...day, ...clock });
    time.title = at.toLocaleString();
  }
}

function ask(change: (parameters: URLSearchParams) => void): void {
  const address = new URL(location.href);
  change(address.searchParams);
  history.replaceState(null, '', address);
  asked += 1;
  void refresh();
}

// Rows are opened by readers and by swaps; only a reader's change differs from the address.
document.addEventListener(
  'toggle',
  ({ target }) => {
    if (!(target instanceof HTMLDetailsElement) || target.dataset['id'] === undefined) return;
    const { id } = target.dataset;
    const isAsked = new URLSearchParams(location.search).getAll('open').includes(id);
    if (target.open === isAsked) return;
    ask((parameters) =>
      target.open ? parameters.append('open', id) : parameters.delete('open', id),
    );
  },
  true,
);

document.addEventListener('input', ({ target }) => {
  const { value } = target as HTMLInputElement;
  ask((parameters) =>
    value === '' ? parameters.delete('filter') : parameters.set('filter', value),
  );
});

document.addEventListener('submit', (event) => event.preventDefault());

document.addEventListener('click', ({ target }) => {
  if (!(target instanceof HTMLButtonElement)) return;
  const text = target.parentElement?.querySelector('code')?.textContent ?? '';
  void navigator.clipboard.writeText(text).then(() => (target.textContent = 'Copied'));
});

showLocalTimes(document);
setInterval(() => void (document.hidden || refresh()), INTERVAL_MS);
document.addEventListener('visibilitychange', () => void (document.hidden || refresh()));
