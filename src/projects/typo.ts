import { nearest } from '../base/text.ts';

/**
 * Returns the project that was probably meant by a mistyped id. Ids that differ only in their last
 * digit aren't typos: ids are often given out in sequence.
 */
export function typoOf<P extends { readonly id: string }>(
  id: string,
  listed: readonly P[],
): P | undefined {
  const isConsecutive = (other: string): boolean =>
    other.length === id.length && other.slice(0, -1) === id.slice(0, -1);
  const others = listed.filter((project) => !isConsecutive(project.id));
  const near = nearest(
    id,
    others.map((project) => project.id),
    1,
  );
  return others.find((project) => project.id === near);
}
