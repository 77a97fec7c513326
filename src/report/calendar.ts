import { DAY_MS } from '../base/time.ts';
import { type LocalHour, localHours } from './local-hour.ts';
import { lengthOf, shifted, type Span, spanBefore } from './span.ts';

export interface Selection {
  readonly timeZone: string;
  /** Local days, both included. */
  readonly fromDay: string | undefined;
  readonly toDay: string | undefined;
  readonly project: string | undefined;
}

/** Today, and the days that it is compared with as far as it has come. */
const DAYS_AGO = { today: 0, yesterday: 1, weekAgo: 7 } as const;

interface DaySoFar {
  readonly name: keyof typeof DAYS_AGO;
  /** Views from this `ts` on are of a time of the day that has not come yet. */
  readonly end: string;
}

/** A local hour, and what becomes of its views. */
export interface Hour extends LocalHour {
  readonly isSelected: boolean;
  /** Whether it is of the span before. */
  readonly isBefore: boolean;
  /** Where it is of today, or of a day that today is compared with. */
  readonly soFar: DaySoFar | undefined;
}

/** Later than any `ts`. */
const NEVER = '~';

/** The days asked for, those they are compared with, and today. */
export class Calendar {
  readonly today: LocalHour;
  /** As many days, those before; `undefined` where nothing is compared. */
  readonly before: Span | undefined;
  /** Whether its last day counts up to this time of the day only, as today does. */
  readonly isBeforeCut: boolean;
  /** Views from this `ts` on are not counted in the span before. */
  readonly beforeEnd: string;
  /** By their local days. */
  readonly #soFar: ReadonlyMap<string, DaySoFar>;
  readonly #selection: Selection;
  readonly #localHour: ReturnType<typeof localHours>;
  /** Views come in the order of time, so most are of the hour of the view before. */
  #local: LocalHour | undefined;
  #hour: Hour | undefined;

  constructor(selection: Selection, now: Date) {
    this.#selection = selection;
    this.#localHour = localHours(selection.timeZone);
    this.today = localHours(selection.timeZone)(now.toISOString())!;
    const daysAgo = (days: number): string => new Date(now.getTime() - days * DAY_MS).toISOString();
    this.#soFar = new Map(
      Object.entries(DAYS_AGO).map(([name, days]) => [
        shifted(this.today.day, -days),
        { name: name as keyof typeof DAYS_AGO, end: days === 0 ? NEVER : daysAgo(days) },
      ]),
    );
    this.before = spanBefore(selection, this.today.day);
    const { toDay } = selection;
    this.isBeforeCut = this.before !== undefined && (toDay ?? this.today.day) >= this.today.day;
    this.beforeEnd =
      this.before !== undefined && this.isBeforeCut ? daysAgo(lengthOf(this.before)) : NEVER;
  }

  /** The day of the same weekday that today is compared with. */
  get weekAgo(): Span {
    const day = shifted(this.today.day, -DAYS_AGO.weekAgo);
    return { fromDay: day, toDay: day };
  }

  /** Whether the days asked for include today. */
  get hasToday(): boolean {
    return this.#isSelected(this.today.day);
  }

  /** @returns `undefined` for what is no `ts`. */
  hourOf(ts: string): Hour | undefined {
    const local = this.#localHour(ts);
    if (local === undefined) return undefined;
    if (local !== this.#local || this.#hour === undefined) {
      this.#local = local;
      this.#hour = this.#described(local);
    }
    return this.#hour;
  }

  #described({ day, hour }: LocalHour): Hour {
    const { before } = this;
    return {
      day,
      hour,
      isSelected: this.#isSelected(day),
      isBefore: before !== undefined && day >= before.fromDay && day <= before.toDay,
      soFar: this.#soFar.get(day),
    };
  }

  #isSelected(day: string): boolean {
    const { fromDay, toDay } = this.#selection;
    return (fromDay === undefined || day >= fromDay) && (toDay === undefined || day <= toDay);
  }
}
