import { originKey } from '../projects/origins.ts';
import { sourceOf, withoutWww } from './source-names.ts';

/** Sources that are not a name or a host. */
export const NO_SOURCE = '(none)';
export const INTERNAL = '(internal)';
export const NOT_AN_ADDRESS = '(not an address)';

const HOST = /^[a-z][a-z0-9+.-]*:\/\/(?:[^/?#@]*@)?([^/?#:]+)/i;
/** A host name has at most 253 characters. */
const SITE_LENGTH_MAX = 300;
/** The number of sources that are remembered per project. */
const REMEMBERED_MAX = 1_000;

/** Finds the sources of a project's views. */
export class Sources {
  readonly #own = new Set<string>();
  readonly #ownSuffixes: string[] = [];
  readonly #remembered = new Map<string, string>();

  /** @param origins the project's own origins, as in the projects file. */
  constructor(origins: readonly string[] = []) {
    for (const origin of origins) {
      const host = HOST.exec(originKey(origin))?.[1] ?? '';
      if (host.startsWith('*')) this.#ownSuffixes.push(host.slice(1));
      else this.#own.add(withoutWww(host));
    }
  }

  /** Returns a name, a host, or one of the three constants above. */
  of(referrer: string): string {
    if (referrer === '') return NO_SOURCE;
    // The site is the text before the path. Remembering its source is faster than matching its host.
    const end = referrer.indexOf('/', referrer.indexOf('://') + '://'.length);
    const site = (end < 0 ? referrer : referrer.slice(0, end)).slice(0, SITE_LENGTH_MAX);
    let source = this.#remembered.get(site);
    if (source === undefined) {
      source = this.#sourceOf(site);
      if (this.#remembered.size >= REMEMBERED_MAX) this.#remembered.clear();
      this.#remembered.set(site, source);
    }
    return source;
  }

  #sourceOf(site: string): string {
    const host = HOST.exec(site)?.[1]?.replace(/[A-Z]+/g, lowerCase);
    if (host === undefined) return /^\/(?!\/)/.test(site) ? INTERNAL : NOT_AN_ADDRESS;
    const isOwn =
      this.#own.has(withoutWww(host)) || this.#ownSuffixes.some((suffix) => host.endsWith(suffix));
    return isOwn ? INTERNAL : sourceOf(host);
  }
}

/** Bytes beyond ASCII, which are parts of characters, must stay. */
const lowerCase = (letters: string): string => letters.toLowerCase();
