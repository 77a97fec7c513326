/** @returns what `make` gives, made when it is first asked for. For what a start should not pay. */
export function once<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined;
  return () => (made ??= { value: make() }).value;
}
