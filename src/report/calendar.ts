import { DAY_MS } from '../base/time.ts';
import { type LocalHour, localHours } from './local-hour.ts';
import { lengthOf, type OpenSpan, previousSpan, shifted, type Span } from './span.ts';

/** The days and the project that a report is about. */
export interface Selection extends OpenSpan {
  readonly timeZone: string;
  readonly project: string | undefined;
}

/** A local hour, and the part of the report that its views belong to. */
interface Hour extends LocalHour {
  readonly isSelected: boolean;
  /** True if the hour is in the previous period. */
  readonly isBefore: boolean;
}

/** Later than any `ts`. */
const NEVER = '~';

/** Knows which part of the report a view belongs to. */
export class Calendar {
  readonly today: string;
  readonly yesterday: string;
  readonly hasToday: boolean;
  /** Views of yesterday with a later `ts` came after this time of day. */
  readonly yesterdayEndTs: string;
  /** The same number of days just before; `undefined` if nothing is compared. */
  readonly before: Span | undefined;
  /** True if the previous period ends at this time of day, because today is not over. */
  readonly isBeforeCut: boolean;
  /** Views with a later `ts` do not count for the previous period. */
  readonly beforeEndTs: string;
  readonly #selection: Selection;
  readonly #localHour: ReturnType<typeof localHours>;
  /** Most views are of the same hour as the view before. */
  #local: LocalHour | undefined;
  #hour: Hour | undefined;

  constructor(selection: Selection, now: Date) {
    const tsDaysAgo = (days: number): string =>
      new Date(now.getTime() - days * DAY_MS).toISOString();
    this.#selection = selection;
    this.#localHour = localHours(selection.timeZone);
    this.today = this.#localHour(now.toISOString())!.day;
    this.yesterday = shifted(this.today, -1);
    this.yesterdayEndTs = tsDaysAgo(1);
    this.hasToday = isWithin(selection, this.today);
    this.before = previousSpan(selection, this.today);
    this.isBeforeCut = this.before !== undefined && this.hasToday;
    this.beforeEndTs =
      this.before !== undefined && this.hasToday ? tsDaysAgo(lengthOf(this.before)) : NEVER;
  }

  /** Returns all days whose views are counted. Yesterday is among them if today is. */
  get spans(): readonly OpenSpan[] {
    return this.before === undefined ? [this.#selection] : [this.before, this.#selection];
  }

  /** Returns `undefined` if the text is not a stored `ts`. */
  hourOf(ts: string): Hour | undefined {
    const local = this.#localHour(ts);
    if (local === undefined || local === this.#local) return local && this.#hour;
    this.#local = local;
    this.#hour = {
      ...local,
      isSelected: isWithin(this.#selection, local.day),
      isBefore: this.before !== undefined && isWithin(this.before, local.day),
    };
    return this.#hour;
  }
}

const isWithin = ({ fromDay, toDay }: OpenSpan, day: string): boolean =>
  (fromDay === undefined || day >= fromDay) && (toDay === undefined || day <= toDay);
