const TIMES = 16;
/** Well above what linear work gives, and below what quadratic work does. */
const ENOUGH = 6;

/**
 * How much more CPU a text takes than as many characters in 16 texts do: about once as much where
 * the work grows with the length, 16 times as much where it grows with its square. The least of up
 * to five tries, for whatever else the machine does can only add to it.
 * @param make a text of about that many characters.
 * @returns below 6 where the work is linear.
 */
export function growth(run: (text: string) => void, make: (length: number) => string): number {
  const small = make(16 * 1024);
  const large = make(TIMES * 16 * 1024);
  run(small);
  let least = Infinity;
  for (let tries = 0; tries < 5 && least >= ENOUGH; tries++) {
    const smallCpu = cpuOf(() => {
      for (let i = 0; i < TIMES; i++) run(small);
    });
    least = Math.min(least, cpuOf(() => run(large)) / smallCpu);
  }
  return least;
}

function cpuOf(work: () => void): number {
  const before = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(before);
  return user + system;
}
