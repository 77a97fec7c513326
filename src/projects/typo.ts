import { nearest } from '../base/text.ts';

/** Returns the project that was probably meant by a mistyped id. Consecutive ids aren't typos. */
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
