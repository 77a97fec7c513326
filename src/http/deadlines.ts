/** Something to be done when its time is over, unless it is cleared before. */
class Deadline {
  readonly dueMs: number;
  readonly expire: () => void;
  before: Deadline | undefined;
  after: Deadline | undefined;

  constructor(dueMs: number, expire: () => void, before: Deadline | undefined) {
    this.dueMs = dueMs;
    this.expire = expire;
    this.before = before;
    this.after = undefined;
  }
}

/**
 * Many deadlines of one length, on one timer: a timer for each view costs Node 1 % of its speed
 * and Deno 8 %. In a list of their own, which costs 5 % less than a Set.
 */
export class Deadlines {
  readonly ms: number;
  /** In the order they were set, so in the order they are due. */
  #first: Deadline | undefined;
  #last: Deadline | undefined;
  #armed = false;

  constructor(ms: number) {
    this.ms = ms;
  }

  /** Calls `expire` in as many milliseconds as all of these wait. */
  set(expire: () => void): Deadline {
    const last = this.#last;
    const deadline = new Deadline(performance.now() + this.ms, expire, last);
    if (last === undefined) this.#first = deadline;
    else last.after = deadline;
    this.#last = deadline;
    if (!this.#armed) this.#arm(this.ms);
    return deadline;
  }

  /** Once more does nothing. */
  clear(deadline: Deadline): void {
    const { before, after } = deadline;
    if (before !== undefined) before.after = after;
    else if (this.#first === deadline) this.#first = after;
    if (after !== undefined) after.before = before;
    else if (this.#last === deadline) this.#last = before;
    deadline.before = undefined;
    deadline.after = undefined;
  }

  #arm(ms: number): void {
    this.#armed = true;
    // It may outlast what it was set for, and must then not keep the process.
    setTimeout(() => this.#expireDue(), Math.max(1, ms)).unref();
  }

  #expireDue(): void {
    this.#armed = false;
    for (let first = this.#first; first !== undefined; first = this.#first) {
      const leftMs = first.dueMs - performance.now();
      if (leftMs > 0) return this.#arm(leftMs);
      this.clear(first);
      first.expire();
    }
  }
}
