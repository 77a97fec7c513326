import { MiB } from '../../base/size.ts';
import type { Log } from '../../base/log.ts';
import { RefusedBudget, type Dropped } from './refused-budget.ts';
import { refusedLine } from './refused-line.ts';
import { createStamper, type Stamp } from '../stamp.ts';
import type { RefusedView } from '../store.ts';

interface RefusedIntakeOptions {
  /** 0: keep none. */
  readonly maxBytesPerDay: number;
  readonly isListed: (projectId: string) => boolean;
  /** What a day has of them already. */
  readonly bytesOf: (day: string) => number;
  readonly now: () => number;
  readonly log: Log;
}

/** A refused view to keep. */
export interface RefusedLine extends Stamp {
  readonly isListed: boolean;
  readonly bytes: Buffer;
}

/** Enough for a burst; storage that hangs costs no more memory than this. */
const QUEUE_BYTES_MAX = MiB;

/** Stamps refused views, as far as the day's budget goes, and counts what is dropped. */
export class RefusedIntake {
  readonly #options: RefusedIntakeOptions;
  readonly #stamp: () => Stamp;
  #day = '';
  #budget: RefusedBudget;
  #budgetSaid = false;
  readonly dropped = { dayFull: 0, projectFull: 0, queueFull: 0, lowSpace: 0, writeFailed: 0 };

  constructor(options: RefusedIntakeOptions) {
    const { now, maxBytesPerDay } = options;
    this.#options = options;
    this.#budget = new RefusedBudget(maxBytesPerDay, 0);
    this.#stamp = createStamper(now);
  }

  /**
   * The line to keep; `undefined` where it is dropped.
   * @param queueBytes what waits to be written.
   */
  take(view: RefusedView, queueBytes: number): RefusedLine | undefined {
    // Before the line is built: a flood must not cost more than it has to.
    if (queueBytes + view.text.length > QUEUE_BYTES_MAX) return this.#drop('queueFull');
    const stamp = this.#stamp();
    if (stamp.day !== this.#day) this.#beginDay(stamp.day);
    const bytes = Buffer.from(refusedLine(stamp, view));
    if (queueBytes + bytes.length > QUEUE_BYTES_MAX) return this.#drop('queueFull');
    const { project } = view;
    const isListed = project !== undefined && this.#options.isListed(project);
    const full = this.#budget.spend(bytes.length, isListed ? undefined : (project ?? 'none'));
    if (full !== undefined) return this.#dropFull(full);
    return { ...stamp, isListed, bytes };
  }

  #beginDay(day: string): void {
    this.#day = day;
    this.#budget = new RefusedBudget(this.#options.maxBytesPerDay, this.#options.bytesOf(day));
    this.#budgetSaid = false;
  }

  #drop(reason: keyof RefusedIntake['dropped']): undefined {
    this.dropped[reason] += 1;
  }

  #dropFull(reason: Dropped): undefined {
    this.#drop(reason);
    if (reason !== 'dayFull' || this.#budgetSaid || this.#options.maxBytesPerDay === 0) return;
    this.#budgetSaid = true;
    this.#options.log.warn(
      `Refused views have reached --max-refused; not keeping all of them until ${this.#day} is over`,
    );
  }
}
