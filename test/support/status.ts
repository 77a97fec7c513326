import { type StartOptions, startViewlog } from './viewlog.ts';

/** Values by series, as `name{label="value"}`. */
export type Metrics = Readonly<Record<string, number>>;

/** A running collector with its status server. */
export type Watched = Awaited<ReturnType<typeof startWatched>>;

export async function startWatched(options: StartOptions = {}) {
  const args = ['--status=127.0.0.1:0', ...(options.args ?? [])];
  const viewlog = await startViewlog({ ...options, args });
  const [, statusUrl = ''] = await viewlog.says(/^Status page on (\S+)\/$/m);
  return {
    ...viewlog,
    /** The status server's address, without a slash at its end. */
    statusUrl,
    statusPort: Number(new URL(statusUrl).port),
    async metrics(): Promise<Metrics> {
      const text = await (await fetch(`${statusUrl}/metrics`)).text();
      const samples = text.matchAll(/^([^#].*) (\S+)$/gm);
      return Object.fromEntries(
        Array.from(samples, ([, series, value]) => [series, Number(value)]),
      );
    },
  };
}

/** Returns the sum of all series of a metric. */
export const sumOf = (metrics: Metrics, name: string): number =>
  Object.entries(metrics)
    .filter(([series]) => series.replace(/\{.*/, '') === name)
    .reduce((sum, [, value]) => sum + value, 0);
