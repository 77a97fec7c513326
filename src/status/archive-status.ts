import type { Description } from '../base/description.ts';
import type { Service } from './app.ts';
import { reply } from './replies.ts';

const NAME_LENGTH = 24;

/**
 * Returns the service of the archive, whose page is its facts as text.
 * @param describe `reasons` say why nothing is archived now; none if it is.
 */
export const archiveStatus = (
  describe: () => Description & { readonly reasons: readonly string[] },
): Service => ({
  health: describe,
  metrics: () => describe().metrics,
  pages: { '/': () => reply(200, 'text/plain; charset=utf-8', pageOf(describe())) },
});

const pageOf = ({ facts }: Description): string =>
  facts.map(([name, text]) => `${name.padEnd(NAME_LENGTH)} ${text}\n`).join('');
