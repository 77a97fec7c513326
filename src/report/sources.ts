import { originKey } from '../projects/origins.ts';
import { copyOf } from './ranking.ts';
import { short } from './report-line.ts';
import { sourceOf, withoutWww } from './source-names.ts';

export const NO_SOURCE = '(none)';
export const INTERNAL = '(internal)';
export const OTHER_ADDRESS = '(not an address)';

/** Whether it is a name or a host. */
export const isNamedSource = (source: string): boolean =>
  source !== NO_SOURCE && source !== OTHER_ADDRESS;

const HOST = /^[a-z][a-z0-9+.-]*:\/\/(?:[^/?#@]*@)?([^/?#:]+)/i;
/** Sources worked out that are remembered, of each project. */
const REMEMBERED_MAX = 1_000;
/** A host name has at most 253 characters; with its scheme, and what may be before it. */
const SITE_LENGTH_MAX = 300;

/** Where the views of a project come from. */
export class Sources {
  readonly #own = new Set<string>();
  readonly #ownSuffixes: string[] = [];
  readonly #bySite = new Map<string, string>();

  /** @param origins the project's own, as its entry in the projects file lists them. */
  constructor(origins: readonly string[] = []) {
    for (const origin of origins) {
      const host = HOST.exec(originKey(origin))?.[1] ?? '';
      if (host.startsWith('*')) this.#ownSuffixes.push(host.slice(1));
      else this.#own.add(withoutWww(host));
    }
  }

  /** @returns a name or a host, or one of the three constants above. */
  of(referrer: unknown): string {
    if (typeof referrer !== 'string' || referrer === '') return NO_SOURCE;
    // All that matters is before the path. Finding that is faster than matching the host.
    const end = referrer.indexOf('/', referrer.indexOf('://') + '://'.length);
    const site = end < 0 ? referrer : referrer.slice(0, end);
    const known = this.#bySite.get(site);
    if (known !== undefined) return known;
    const source = this.#sourceOf(site);
    if (site.length <= SITE_LENGTH_MAX) {
      if (this.#bySite.size >= REMEMBERED_MAX) this.#bySite.clear();
      this.#bySite.set(copyOf(site), source);
    }
    return source;
  }

  #sourceOf(site: string): string {
    const host = HOST.exec(site)?.[1];
    if (host === undefined) return /^\/(?!\/)/.test(site) ? INTERNAL : OTHER_ADDRESS;
    // Bytes beyond ASCII are parts of characters.
    const lower = short(host.replace(/[A-Z]+/g, (letters) => letters.toLowerCase()));
    const isOwn =
      this.#own.has(withoutWww(lower)) ||
      this.#ownSuffixes.some((suffix) => lower.endsWith(suffix) && lower.length > suffix.length);
    return isOwn ? INTERNAL : copyOf(sourceOf(lower));
  }
}
