const TIMES = 16;

/**
 * Returns the CPU for one text, divided by the CPU for as many characters in 16 texts: about 1 if
 * work grows with the length, 16 if it grows with its square. Linear work stays below 6.
 * @param make returns a text of about that many characters.
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
 * Returns the CPU of the work, divided by that of `other`: the least of up to five tries, because
 * other programs can only add to it.
 * @param enough no more tries are made below this.
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
