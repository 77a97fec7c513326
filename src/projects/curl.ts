import { shellQuoted } from '../base/text.ts';
import { originKey } from './origins.ts';

interface Sender {
  readonly id: string;
  readonly origins?: readonly string[] | undefined;
}

/**
 * What sends a view of this project that is taken, from the first site that it may come from.
 * @param address the collector's, without a slash at its end.
 * @param atMs when it was viewed.
 */
export function curlOf({ id, origins }: Sender, address: string, atMs = Date.now()): string {
  const ld = new Date(atMs).toISOString();
  const view = JSON.stringify({ pid: 'page-42', p: id, ld, url: '/home' });
  const headers = ['Content-Type: application/json'];
  const [first] = origins ?? [];
  // Below a wildcard any host will do.
  if (first !== undefined) headers.push(`Origin: ${originKey(first).replace('*', 'www')}`);
  const sent = headers.map((header) => `-H ${shellQuoted(header)} `).join('');
  return `curl ${shellQuoted(`${address}/view`)} ${sent}-d ${shellQuoted(view)}`;
}
