/** A local day, `YYYY-MM-DD`, and an hour of it. */
export interface LocalHour {
  readonly day: string;
  readonly hour: number;
}

const TIMESTAMP = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;
/** The length of `2026-01-31T23:`. */
const HOUR_LENGTH = 14;

/**
 * Returns a function that finds the local hour of a stored `ts`; `undefined` for any other text.
 * Views come in the order of time, and zones differ from UTC by multiples of 15 minutes, so the
 * time zone is consulted once per 15 minutes of views instead of once per view.
 */
export function localHours(timeZone: string): (ts: string) => LocalHour | undefined {
  const format = new Intl.DateTimeFormat('en', {
    timeZone,
    hourCycle: 'h23',
    year: 'numeric',
    month: '2-digit',
    day: '2-digit',
    hour: '2-digit',
  });
  let lastHour = '-';
  let lastQuarter = -1;
  let last: LocalHour | undefined;
  return (ts) => {
    const quarter = quarterOf(ts);
    if (quarter === lastQuarter && ts.length === 24 && ts.startsWith(lastHour)) return last;
    const date = new Date(TIMESTAMP.test(ts) ? ts : Number.NaN);
    if (Number.isNaN(date.getTime())) return undefined;
    lastHour = ts.slice(0, HOUR_LENGTH);
    lastQuarter = quarter;
    const parts = Object.fromEntries(format.formatToParts(date).map((p) => [p.type, p.value]));
    const { year, month, day, hour } = parts as Record<'year' | 'month' | 'day' | 'hour', string>;
    last = { day: `${year.padStart(4, '0')}-${month}-${day}`, hour: Number(hour) };
    return last;
  };
}

/** Returns 0 to 3. */
function quarterOf(ts: string): number {
  const tens = ts.charCodeAt(HOUR_LENGTH) - 48;
  const ones = ts.charCodeAt(HOUR_LENGTH + 1) - 48;
  return Math.floor((10 * tens + ones) / 15);
}
