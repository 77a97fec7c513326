import { nearest } from '../base/text.ts';

/** Looking for a typo among more ids than this would take too long. */
const LISTED_MAX = 5_000;
const REMEMBERED_MAX = 200;

/**
 * Returns a function that finds the listed id that an unlisted one is probably a typo of, or `''`.
 * It remembers what it found for as long as the list stays the same.
 */
export function nearestIds(): (id: string, listed: readonly { readonly id: string }[]) => string {
  let list: readonly { readonly id: string }[] | undefined;
  let found = new Map<string, string>();
  return (id, listed) => {
    if (listed !== list || found.size > REMEMBERED_MAX) {
      list = listed;
      found = new Map();
    }
    let near = found.get(id);
    if (near === undefined) {
      const ids = listed.length > LISTED_MAX ? [] : listed.map((project) => project.id);
      near = nearest(id, ids) ?? '';
      found.set(id, near);
    }
    return near;
  };
}
