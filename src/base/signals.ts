/** Calls `stop` at the first SIGTERM or SIGINT; the second ends the process at once. */
export function onStopSignal(stop: () => void): void {
  let signals = 0;
  // Not `once`: a listener added while Deno calls this one is called for the same signal.
  const onSignal = (_: NodeJS.Signals, number: number): void => {
    signals += 1;
    if (signals > 1) process.exit(128 + number);
    stop();
  };
  process.on('SIGTERM', onSignal).on('SIGINT', onSignal);
}
