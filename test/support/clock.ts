/** A clock that stands still until it is set. */
export function clockAt(iso: string): { ms: number; now: () => number } {
  const clock = { ms: Date.parse(iso), now: () => clock.ms };
  return clock;
}
