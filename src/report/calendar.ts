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

/** A local hour, and what becomes of its views. */
export interface Hour extends LocalHour {
  readonly isSelected: boolean;
  /** Whether it is of the span before. */
  readonly isBefore: boolean;
  readonly isToday: boolean;
  readonly isYesterday: boolean;
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
  /** The `ts` of a day ago. */
  readonly dayAgo: string;
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
    this.dayAgo = daysAgo(1);
    this.before = spanBefore(selection, this.today.day);
    const { toDay } = selection;
    this.isBeforeCut = this.before !== undefined && (toDay ?? this.today.day) >= this.today.day;
    this.beforeEnd =
      this.before !== undefined && this.isBeforeCut ? daysAgo(lengthOf(this.before)) : NEVER;
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
    const { before, today } = this;
    return {
      day,
      hour,
      isSelected: this.#isSelected(day),
      isBefore: before !== undefined && day >= before.fromDay && day <= before.toDay,
      isToday: day === today.day,
      isYesterday: day === shifted(today.day, -1),
    };
  }

  #isSelected(day: string): boolean {
    const { fromDay, toDay } = this.#selection;
    return (fromDay === undefined || day >= fromDay) && (toDay === undefined || day <= toDay);
  }
}
