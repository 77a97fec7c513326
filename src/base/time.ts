/** Whether the text is a day of the calendar, `YYYY-MM-DD`. */
export function isDay(text: string): boolean {
  const date = new Date(/^\d{4}-\d\d-\d\d$/.test(text) ? `${text}T00:00:00Z` : Number.NaN);
  // 2026-02-30 parses as 2 March.
  return !Number.isNaN(date.getTime()) && date.toISOString().startsWith(text);
}
