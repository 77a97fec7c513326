// Keeps the page up to date: while the tab is visible, fetches it every two seconds and swaps it in
// place. Open rows and the filter are part of the address, so that the server renders them.
import { Idiomorph } from 'idiomorph';

const INTERVAL_MS = 2_000;
const TIMEOUT_MS = 10_000;

/** Uses XMLHttpRequest, which returns a parsed document: the policy forbids parsing HTML text. */
function refresh(): void {
  if (document.hidden) return;
  const { href } = location;
  const request = new XMLHttpRequest();
  request.open('GET', href);
  request.responseType = 'document';
  request.timeout = TIMEOUT_MS;
  request.addEventListener('loadend', () => {
    // The reader has opened a row or typed since the request.
    if (href !== location.href) return;
    if (request.status === 200 && request.responseXML) return show(request.responseXML);
    document.body.dataset['lost'] = '';
    document.title = 'viewlog: out of date';
  });
  request.send();
}

function show(next: Document): void {
  if (next.body.dataset['version'] !== document.body.dataset['version']) return location.reload();
  showLocalTimes(next);
  document.title = next.title;
  const options = { morphStyle: 'outerHTML', ignoreActiveValue: true };
  Idiomorph.morph(document.body, next.body, options);
}

/** The server writes times in UTC. */
function showLocalTimes(page: Document): void {
  // `8:22 PM`, but `08:22` if the locale has 24 hours.
  const { hour12 } = new Intl.DateTimeFormat([], { hour: 'numeric' }).resolvedOptions();
  const hour = hour12 ? 'numeric' : '2-digit';
  const minutes = { day: 'numeric', month: 'short', hour, minute: '2-digit' } as const;
  for (const time of page.querySelectorAll('time')) {
    const at = new Date(time.dateTime);
    const hasSeconds = /:\d\d:/.test(time.dateTime);
    const shown = hasSeconds ? ({ ...minutes, second: '2-digit' } as const) : minutes;
    time.textContent = at.toLocaleString([], shown);
    time.title = at.toLocaleString();
  }
}

function changeAddress(change: (parameters: URLSearchParams) => void): void {
  const address = new URL(location.href);
  change(address.searchParams);
  history.replaceState(null, '', address);
  refresh();
}

// Rows are opened by readers and by swaps; only a reader's change differs from the address.
document.addEventListener(
  'toggle',
  ({ target }) => {
    const { open, dataset } = target as HTMLDetailsElement;
    const id = dataset['id'] ?? '';
    if (open === new URLSearchParams(location.search).getAll('open').includes(id)) return;
    changeAddress((parameters) =>
      open ? parameters.append('open', id) : parameters.delete('open', id),
    );
  },
  true,
);

document.addEventListener('input', ({ target }) => {
  const { value } = target as HTMLInputElement;
  changeAddress((parameters) => parameters.set('filter', value));
});

document.addEventListener('click', ({ target }) => {
  if (!(target instanceof HTMLButtonElement)) return;
  const text = target.parentElement?.querySelector('code')?.textContent ?? '';
  const copy = (event: ClipboardEvent): void => {
    event.clipboardData?.setData('text/plain', text);
    event.preventDefault();
  };
  // navigator.clipboard exists only on https and on this machine.
  document.addEventListener('copy', copy, { once: true });
  // oxlint-disable-next-line no-deprecated -- it works everywhere
  if (document.execCommand('copy')) target.textContent = 'Copied';
});

showLocalTimes(document);
setInterval(refresh, INTERVAL_MS);
document.addEventListener('visibilitychange', refresh);
