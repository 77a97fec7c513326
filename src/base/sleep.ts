/** @param stop ends it early. */
export async function sleep(ms: number, stop?: AbortSignal): Promise<void> {
  if (stop?.aborted) return;
  await new Promise<void>((resolve) => {
    const end = (): void => {
      clearTimeout(timer);
      stop?.removeEventListener('abort', end);
      resolve();
    };
    const timer = setTimeout(end, ms);
    stop?.addEventListener('abort', end);
  });
}
