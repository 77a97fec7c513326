// How long is measured, and how rounds become figures.

export const ROUNDS = Number(process.env.BENCH_ROUNDS ?? 5);
export const SECONDS = Number(process.env.BENCH_SECONDS ?? 6);
export const WARM_UP_SECONDS = Math.min(2, SECONDS);

export const median = (values) => quantile(values, 0.5);

/** Undefined where there are too few values to say. */
export function quantile(values, part) {
  if (values.length * (1 - part) < 1 && part !== 0.5) return undefined;
  return values.toSorted((a, b) => a - b)[Math.floor(values.length * part)];
}

/** For a table. */
export const rounded = (value, digits = 0) =>
  value === undefined || Number.isNaN(value) ? '' : Number(value.toFixed(digits));

/**
 * Runs each once a round, each round from another one on and in the other direction, so that none
 * is always the first after the disk was idle, and of two neighbours either comes first.
 * @returns the results of each, a round after the other, by its key.
 */
export async function inRounds(keys, run, rounds = ROUNDS) {
  const results = new Map(keys.map((key) => [key, []]));
  for (let round = 0; round < rounds; round++) {
    const from = (round >> 1) % keys.length;
    const order = [...keys.slice(from), ...keys.slice(0, from)];
    if (round % 2 === 1) order.reverse();
    for (const key of order) results.get(key).push(await run(key));
  }
  return results;
}

/** One key's figure by another's, round by round; empty where one was not measured. */
export const ratios = (results, a, b, field) =>
  results.has(a) && results.has(b)
    ? results.get(a).map((result, round) => result[field] / results.get(b)[round][field])
    : [];
