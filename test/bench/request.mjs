// The one request that every load sends, ready to write: a browser's headers and a view.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { SPELLINGS } from './view.mjs';

const RECORDED = join(import.meta.dirname, 'browser-headers.json');
const { headers: HEADERS } = JSON.parse(readFileSync(RECORDED, 'utf8'));

/** Where the page is that sends the views, as the projects file lists it. */
export const ORIGIN = HEADERS.find(([name]) => name === 'Origin')[1];

/**
 * @param {{ spelling?: keyof SPELLINGS, target?: string }} subject
 * @returns {{ bytes: Buffer, bodyBytes: number }}
 */
export function requestTo({ spelling = 'usual', target = '/view' }) {
  const body = SPELLINGS[spelling];
  const bodyBytes = Buffer.byteLength(body);
  const lines = HEADERS.map(([name, value]) =>
    name === 'Content-Length' ? `${name}: ${bodyBytes}` : `${name}: ${value}`,
  );
  const text = [`POST ${target} HTTP/1.1`, ...lines, '', body].join('\r\n');
  return { bytes: Buffer.from(text), bodyBytes };
}
