// The one request that every load sends: a browser's headers and a realistic view, with letters
// beyond ASCII, like most views.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/**
 * Headers that Chromium sends with a cross-origin `fetch` of JSON over TLS, as a proxy passes them
 * on.
 */
const RECORDED = join(import.meta.dirname, 'browser-headers.json');
const { headers: HEADERS } = JSON.parse(readFileSync(RECORDED, 'utf8'));

/** The page's origin, as the projects file lists it. */
export const ORIGIN = HEADERS.find(([name]) => name === 'Origin')[1];

export const BODY = {
  pn: 'Høst i fjellene – sju turer for en lang helg (日本語)',
  pid: '5f3c1a9e-7d42',
  mb: 0,
  mv: { vt: 1280, v30: 312, dlv: -4 },
  mp: { p: ['5f3c1a9e-7d41', '5f3c1a9e-7d40'] },
  cf: [],
  csf: [],
  p: '1000001',
  ubl: 'nb-NO',
  ref: 'https://www.example.com/turer',
  ld: '2026-01-31T12:34:56.789Z',
  url: '/turer/høst-i-fjellene',
  content: { templateId: 'article-2' },
  orgreferer: 'https://search.example/',
  hc: true,
};
const TEXT = JSON.stringify(BODY);
export const BODY_BYTES = Buffer.byteLength(TEXT);

const lines = HEADERS.map(
  ([name, value]) => `${name}: ${name === 'Content-Length' ? BODY_BYTES : value}`,
);
/** The request's bytes, ready to write. */
export const REQUEST = Buffer.from(['POST /view HTTP/1.1', ...lines, '', TEXT].join('\r\n'));
