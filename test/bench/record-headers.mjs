// Prints the headers of one cross-origin `fetch` of JSON, as the Chromium of this machine sends
// them over TLS (as what stands before a collector passes them on), in their order:
// node test/bench/record-headers.mjs > test/bench/browser-headers.json
import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:https';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const PLAYWRIGHT = join(import.meta.dirname, '../../.ci/tools/node_modules/playwright-core');
const PAGE = 'https://www.example.com/walks/autumn-in-the-mountains';
const COLLECTOR = 'https://views.example.net/view';

/** What a browser with a window says of itself. */
const withWindow = (value) => value.replace('HeadlessChrome', 'Chrome');

/** A key and a certificate that nobody need trust. */
function certificate() {
  const dir = mkdtempSync(join(tmpdir(), 'viewlog-record-'));
  const [key, cert] = [join(dir, 'key.pem'), join(dir, 'cert.pem')];
  const subject = ['-subj', '/CN=example', '-keyout', key, '-out', cert];
  execFileSync('openssl', ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', ...subject], {
    stdio: 'ignore',
  });
  const read = { key: readFileSync(key), cert: readFileSync(cert) };
  rmSync(dir, { recursive: true });
  return read;
}

/** Serves the page, answers preflights, and tells the headers of the POST. */
const server = createServer(certificate(), (request, response) => {
  request.resume();
  if (request.method === 'GET') {
    response.setHeader('content-type', 'text/html');
    response.end('<!doctype html><title>Walks</title>');
    return;
  }
  response.setHeader('access-control-allow-origin', request.headers.origin);
  response.setHeader('access-control-allow-headers', 'content-type');
  response.writeHead(204).end();
  if (request.method === 'POST') server.emit('view', request.rawHeaders);
});
server.listen(0, '127.0.0.1');
await once(server, 'listening');

/** The browser finds both hosts here. */
const toServer = (url) => `MAP ${new URL(url).host}:443 127.0.0.1:${server.address().port}`;

const { chromium } = createRequire(import.meta.url)(PLAYWRIGHT);
const browser = await chromium.launch({
  executablePath: '/usr/bin/chromium',
  args: [
    '--no-sandbox',
    '--disable-gpu',
    '--disable-background-networking',
    '--ignore-certificate-errors',
    '--disable-features=LocalNetworkAccessChecks',
    `--host-resolver-rules=${[PAGE, COLLECTOR].map(toServer).join()}`,
  ],
});
const page = await browser.newPage();
await page.goto(PAGE);
const viewed = once(server, 'view');
await page.evaluate(
  (url) =>
    fetch(url, { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: '{}' }),
  COLLECTOR,
);
const [raw] = await viewed;
const version = browser.version();
await browser.close();
server.close();
server.closeAllConnections();

const headers = raw.flatMap((name, i) => (i % 2 ? [] : [[name, withWindow(raw[i + 1])]]));
console.log(JSON.stringify({ browser: `Chromium ${version}`, headers }, undefined, 2));
