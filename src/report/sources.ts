import { originKey } from '../projects/origins.ts';
import { copyOf } from './ranking.ts';
import { short } from './report-line.ts';
import { sourceOf, withoutWww } from './source-names.ts';

export const NO_SOURCE = '(none)';
export const INTERNAL = '(internal)';
export const OTHER_ADDRESS = '(not an address)';

const HOST = /^[a-z][a-z0-9+.-]*:\/\/(?:[^/?#@]*@)?([^/?#:]+)/i;
/** Sources worked out that are remembered, of each project. */
const REMEMBERED_MAX = 1_000;
/** A host name has at most 253 characters. */
const HOST_LENGTH_MAX = 253;

/** Where the views of a project come from. */
export class Sources {
  readonly #own = new Set<string>();
  readonly #ownSuffixes: string[] = [];
  readonly #byHost = new Map<string, string>();

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
    const host = HOST.exec(referrer)?.[1];
    if (host === undefined) return /^\/(?!\/)/.test(referrer) ? INTERNAL : OTHER_ADDRESS;
    const known = this.#byHost.get(host);
    if (known !== undefined) return known;
    const source = this.#sourceOf(host);
    if (host.length <= HOST_LENGTH_MAX) {
      if (this.#byHost.size >= REMEMBERED_MAX) this.#byHost.clear();
      this.#byHost.set(copyOf(host), source);
    }
    return source;
  }

  #sourceOf(host: string): string {
    // Bytes beyond ASCII are parts of characters.
    const lower = short(host.replace(/[A-Z]+/g, (letters) => letters.toLowerCase()));
    const isOwn =
      this.#own.has(withoutWww(lower)) ||
      this.#ownSuffixes.some((suffix) => lower.endsWith(suffix) && lower.length > suffix.length);
    return isOwn ? INTERNAL : copyOf(sourceOf(lower));
  }
}
