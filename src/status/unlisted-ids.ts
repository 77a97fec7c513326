import { nearest } from '../base/text.ts';
import type { RefusalCode } from '../view/refusal.ts';
import type { RefusedSample } from './refused-samples.ts';
import { Timeline } from './timeline.ts';

export const IDS_MAX = 100;
/** Looking for a typing slip among more ids than this would hold up the collector. */
const NEAREST_IDS_MAX = 5_000;

/** An id that is not listed, and that views keep coming for. */
export interface UnlistedId {
  readonly id: string;
  /** In 24 hours. */
  readonly count: number;
  readonly lastHour: number;
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
  readonly #byId = new Map<string, Sent>();

  add(id: string, { atMs, origin, code }: RefusedSample, nowMs: number): void {
    let sent = this.#byId.get(id);
    if (sent === undefined) {
      if (this.#byId.size >= IDS_MAX) this.#byId.delete(this.#rarest());
      sent = { count: 0, came: new Timeline(), lastMs: atMs, origin, code };
      this.#byId.set(id, sent);
    }
    sent.count += 1;
    sent.came.addEarlier(atMs, nowMs);
    // What came before the start is read newest first.
    if (atMs >= sent.lastMs) Object.assign(sent, { lastMs: atMs, origin, code });
  }

  /** Those of the last 24 hours, the most frequent first. Ids that are listed by now are dropped. */
  list(isListed: (id: string) => boolean, nowMs: number): UnlistedId[] {
    for (const id of this.#byId.keys()) if (isListed(id)) this.#byId.delete(id);
    return Array.from(this.#byId, ([id, { came, lastMs, origin, code }]) => {
      const count = came.day(nowMs).reduce((sum, many) => sum + many, 0);
      return { id, count, lastHour: came.lastHour(nowMs), lastMs, origin, code };
    })
      .filter(({ count }) => count > 0)
      .sort((a, b) => b.count - a.count || b.lastMs - a.lastMs);
  }

  #rarest(): string {
    const [first, ...others] = this.#byId;
    return others.reduce(
      (rarest, other) => (isRarer(other[1], rarest[1]) ? other : rarest),
      first!,
    )[0];
  }
}

/** What came for an id. */
interface Sent {
  /** As far back as is known. */
  count: number;
  readonly came: Timeline;
  lastMs: number;
  origin: string | undefined;
  code: RefusalCode;
}

const isRarer = (a: Sent, b: Sent): boolean =>
  a.count < b.count || (a.count === b.count && a.lastMs < b.lastMs);

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
