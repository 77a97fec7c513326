/** Returns a clock that stops at a time until the test sets it. */
export function clockAt(iso: string): { ms: number; now: () => number } {
  const clock = { ms: Date.parse(iso), now: () => clock.ms };
  return clock;
}
