import { nearest } from '../base/text.ts';
import type { RefusalCode } from '../view/refusal.ts';
import type { RefusedSample } from './refused-samples.ts';

export const IDS_MAX = 100;
/** Looking for a typing slip among more ids than this would hold up the collector. */
const NEAREST_IDS_MAX = 5_000;

/** An id that is not listed, and that views keep coming for. */
export interface UnlistedId {
  readonly id: string;
  readonly count: number;
  /** When the last view came, from where, and why it was refused. */
  readonly lastMs: number;
  readonly origin: string | undefined;
  readonly code: RefusalCode;
}

/**
 * Unlisted ids that views were sent for. Whoever makes ids up shall not fill the memory: when it
 * is full the id with the fewest views goes, the longest unseen of those.
 */
export class UnlistedIds {
  readonly #byId = new Map<string, UnlistedId>();

  add(id: string, { atMs, origin, code }: RefusedSample): void {
    const known = this.#byId.get(id);
    if (known === undefined && this.#byId.size >= IDS_MAX) this.#byId.delete(this.#rarest());
    const count = (known?.count ?? 0) + 1;
    // What came before the start is read newest first.
    if (known !== undefined && known.lastMs > atMs) this.#byId.set(id, { ...known, count });
    else this.#byId.set(id, { id, count, lastMs: atMs, origin, code });
  }

  /** The most frequent first. Ids that are listed by now are dropped. */
  list(isListed: (id: string) => boolean): UnlistedId[] {
    for (const id of this.#byId.keys()) if (isListed(id)) this.#byId.delete(id);
    return [...this.#byId.values()].sort((a, b) => b.count - a.count || b.lastMs - a.lastMs);
  }

  #rarest(): string {
    let rarest: UnlistedId | undefined;
    for (const one of this.#byId.values()) {
      const isRarer =
        rarest === undefined ||
        one.count < rarest.count ||
        (one.count === rarest.count && one.lastMs < rarest.lastMs);
      if (isRarer) rarest = one;
    }
    return rarest!.id;
  }
}

/** Finds the listed id that an unlisted one was probably meant to be; remembers what it found. */
export function nearestIds(): (id: string, listed: readonly { readonly id: string }[]) => string {
  let list: readonly { readonly id: string }[] | undefined;
  let found = new Map<string, string>();
  return (id, listed) => {
    if (listed !== list || found.size > 2 * IDS_MAX) {
      list = listed;
      found = new Map();
    }
    let near = found.get(id);
    if (near === undefined) {
      const ids = listed.length > NEAREST_IDS_MAX ? [] : listed.map((project) => project.id);
      near = nearest(id, ids) ?? '';
      found.set(id, near);
    }
    return near;
  };
}
