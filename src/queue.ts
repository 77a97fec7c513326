/** What is under way, in bytes: from a body's first byte until its answer. */
export interface Queue {
  /** Whether there is room for `bytes` more; if so they are taken. */
  enter(bytes: number): boolean;
  /** Gives back what was taken. */
  leave(bytes: number): void;
  readonly bytes: number;
}

export function createQueue(bytesMax: number): Queue {
  let bytes = 0;
  return {
    enter(more) {
      if (bytes + more > bytesMax) return false;
      bytes += more;
      return true;
    },
    leave(less) {
      bytes -= less;
    },
    get bytes() {
      return bytes;
    },
  };
}
