import type { ProjectEntry } from '../../src/projects/projects-schema.ts';
import { Calendar, type Selection } from '../../src/report/calendar.ts';
import { reportOf } from '../../src/report/model.ts';
import { parseViewLine, type ViewLine } from '../../src/report/report-line.ts';
import type { Report } from '../../src/report/schema.ts';
import { Totals } from '../../src/report/totals.ts';
import { storedLines } from '../support/stored-lines.ts';

/** Saturday noon. */
export const NOW = new Date('2026-03-14T12:00:00Z');

export const SITE: ProjectEntry = {
  id: '1000001',
  name: 'Example site',
  origins: ['https://www.example.com', 'https://*.example.org', 'http://[fd00::1]:8080'],
};

interface Asked extends Partial<Selection> {
  readonly last?: number;
  readonly now?: Date;
  readonly listed?: readonly ProjectEntry[];
  readonly keepsQuery?: boolean;
  readonly top?: number;
  /** False: the views are those of some view files. */
  readonly isWhole?: boolean;
}

export const bytes = (text: string): string => Buffer.from(text).toString('latin1');

/** Returns the report on these lines, by default made at `NOW`. */
export const reportOn = (lines: readonly string[], asked?: Asked): Report =>
  reportOnViews(
    lines.map((line) => parseViewLine(bytes(line))),
    asked,
  );

/** @param views `undefined`: a line that isn't a view. */
export function reportOnViews(views: readonly (ViewLine | undefined)[], asked: Asked = {}): Report {
  const { listed = [SITE], keepsQuery = false, top = 10, now = NOW, isWhole, ...selected } = asked;
  const all = { project: undefined, timeZone: 'UTC' };
  const totals = new Totals(new Calendar({ ...all, ...selected }, now), listed, keepsQuery);
  totals.isWhole = isWhole ?? true;
  for (const view of views) totals.addView(view);
  return reportOf(totals, top);
}

/** Returns a view's line; by default without a referrer. */
export const viewAt = (time: string, change: object = {}): string =>
  storedLines('2026-03-01', 1, { orgreferer: undefined, ...change })[0]!.replace(
    '2026-03-01T00:00:00.000Z',
    time.length > 'YYYY-MM-DD'.length ? time : `${time}T10:00:00.000Z`,
  );

/** Returns views at ten o'clock, from `fromDay` on: as many per day as `counts` lists. */
export const daily = (fromDay: string, counts: readonly number[], change: object = {}): string[] =>
  counts.flatMap((count, i) => {
    const day = new Date(Date.parse(fromDay) + i * 86_400_000).toISOString().slice(0, 10);
    return Array.from({ length: count }, () => viewAt(day, change));
  });

/** Returns the rows of a list as `key count`; a page's key is its `url`. */
export const rowsOf = (list: {
  readonly top: readonly {
    readonly key: string | { readonly url: string };
    readonly count: number;
  }[];
}): string[] =>
  list.top.map(({ key, count }) => `${typeof key === 'string' ? key : key.url} ${count}`);
