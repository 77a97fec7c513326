import { shellQuoted } from '../base/text.ts';
import { exampleOrigin } from './origins.ts';
import type { ProjectEntry } from './projects-schema.ts';

type Sender = Pick<ProjectEntry, 'id'> & { readonly origins?: readonly string[] | undefined };

/**
 * Returns a command that sends an acceptable view of this project, from its first origin.
 * @param address the collector's, without a slash at its end.
 * @param atMs the time of the view.
 */
export function curlOf({ id, origins }: Sender, address: string, atMs = Date.now()): string {
  const ld = new Date(atMs).toISOString();
  const view = JSON.stringify({ pid: 'page-42', p: id, ld, url: '/home' });
  const headers = ['Content-Type: application/json'];
  const [first] = origins ?? [];
  if (first !== undefined) headers.push(`Origin: ${exampleOrigin(first)}`);
  const sent = headers.map((header) => `-H ${shellQuoted(header)} `).join('');
  return `curl ${shellQuoted(`${address}/view`)} ${sent}-d ${shellQuoted(view)}`;
}
