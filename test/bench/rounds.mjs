// The length of a measurement, and how rounds become figures.

export const ROUNDS = Number(process.env.BENCH_ROUNDS ?? 5);
export const SECONDS = Number(process.env.BENCH_SECONDS ?? 6);

export const median = (values) => values.toSorted((a, b) => a - b)[values.length >> 1];

/** For a table. */
export const rounded = (value, digits = 0) =>
  value === undefined || Number.isNaN(value) ? '' : Number(value.toFixed(digits));

/**
 * Runs each subject once per round. Each round begins with the next subject and reverses the order,
 * so that no subject is always first, and each neighbour comes first in turn.
 * @returns the results of all rounds, by the subject's key.
 */
export async function inRounds(keys, run) {
  const results = new Map(keys.map((key) => [key, []]));
  for (let round = 0; round < ROUNDS; round++) {
    const from = (round >> 1) % keys.length;
    const order = [...keys.slice(from), ...keys.slice(0, from)];
    if (round % 2 === 1) order.reverse();
    for (const key of order) results.get(key).push(await run(key));
  }
  return results;
}
