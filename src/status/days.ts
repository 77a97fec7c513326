/** When today and yesterday began, in the time zone of the system, as in a report. */
export interface Days {
  readonly todayMs: number;
  readonly yesterdayMs: number;
}

export function daysAt(nowMs: number): Days {
  const now = new Date(nowMs);
  const [year, month, day] = [now.getFullYear(), now.getMonth(), now.getDate()];
  return {
    todayMs: new Date(year, month, day).getTime(),
    yesterdayMs: new Date(year, month, day - 1).getTime(),
  };
}
