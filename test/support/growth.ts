const TIMES = 16;

/**
 * How much more CPU a text takes than as many characters in 16 texts do: about once as much where
 * the work grows with the length, 16 times as much where it grows with its square.
 * @param make a text of about that many characters.
 * @returns below 6 where the work is linear.
 */
export function growth(run: (text: string) => void, make: (length: number) => string): number {
  const small = make(16 * 1024);
  const large = make(TIMES * 16 * 1024);
  return cpuRatio(
    () => run(large),
    () => {
      for (let i = 0; i < TIMES; i++) run(small);
    },
    6,
  );
}

/**
 * How many times the CPU of `other` the work takes: the least of up to five tries, for whatever
 * else the machine does can only add to it.
 * @param enough ends the tries: less than that will do.
 */
export function cpuRatio(work: () => void, other: () => void, enough: number): number {
  other();
  let least = Infinity;
  for (let tries = 0; tries < 5 && least >= enough; tries++) {
    const otherCpu = cpuOf(other);
    least = Math.min(least, cpuOf(work) / otherCpu);
  }
  return least;
}

function cpuOf(work: () => void): number {
  const before = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(before);
  return user + system;
}
