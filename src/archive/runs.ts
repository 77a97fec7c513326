/** The first and the last sequence of messages that were read as missing. */
export type Run = readonly [from: number, to: number];

/** More would make the record slow to write; the oldest are forgotten. */
export const RUNS_MAX = 10_000;

/** Writes runs as `11-15 20 59-60`. */
export const runsText = (runs: readonly Run[]): string =>
  runs.map(([from, to]) => (from === to ? `${from}` : `${from}-${to}`)).join(' ');

/** Reads what `runsText` has written; `undefined` if it is anything else. */
export function parseRuns(text: string): Run[] | undefined {
  if (!/^(\d{1,15}(-\d{1,15})?( (?=\d)|$))*$/.test(text)) return undefined;
  return text
    .split(' ')
    .filter(Boolean)
    .map((part) => {
      const [from, to = from] = part.split('-').map(Number);
      return [from!, to!];
    });
}

/** Returns runs without the messages before `first`, which the stream has removed since. */
export const runsFrom = (runs: readonly Run[], first: number): Run[] =>
  runs.filter(([, to]) => to >= first).slice(-RUNS_MAX);
