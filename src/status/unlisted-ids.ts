import { nearest } from '../base/text.ts';
import type { RefusedSample } from './refused-samples.ts';

const IDS_MAX = 100;
/** Looking for a typing slip among more ids than this would hold up the collector. */
const NEAREST_IDS_MAX = 5_000;

/** An id that is not listed, and that views keep coming for. */
export interface UnlistedId {
  readonly id: string;
  readonly count: number;
  readonly latest: RefusedSample;
}

/**
 * Unlisted ids that views were sent for. Whoever makes ids up shall not fill the memory: when it
 * is full the id with the fewest views goes, the longest unseen of those.
 */
export class UnlistedIds {
  readonly #byId = new Map<string, { count: number; latest: RefusedSample }>();

  add(id: string, latest: RefusedSample): void {
    const unlistedId = this.#byId.get(id);
    if (unlistedId === undefined) {
      if (this.#byId.size >= IDS_MAX) this.#byId.delete(this.#rarest());
      this.#byId.set(id, { count: 1, latest });
      return;
    }
    unlistedId.count += 1;
    unlistedId.latest = latest;
  }

  /** The most frequent first. Ids that are listed by now are dropped. */
  list(isListed: (id: string) => boolean): UnlistedId[] {
    for (const id of this.#byId.keys()) if (isListed(id)) this.#byId.delete(id);
    return Array.from(this.#byId, ([id, { count, latest }]) => ({ id, count, latest })).toSorted(
      (a, b) => b.count - a.count || b.latest.atMs - a.latest.atMs,
    );
  }

  #rarest(): string {
    let found: [string, { count: number; latest: RefusedSample }] | undefined;
    for (const entry of this.#byId) {
      const [, { count, latest }] = entry;
      const isRarer =
        found === undefined ||
        count < found[1].count ||
        (count === found[1].count && latest.atMs < found[1].latest.atMs);
      if (isRarer) found = entry;
    }
    return found![0];
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
