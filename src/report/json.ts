import { printable } from '../base/text.ts';
import type { Report } from './schema.ts';

/** Returns the report as JSON, in which characters that a terminal would obey are escaped. */
export const jsonReport = (report: Report): string =>
  JSON.stringify(report, null, 2)
    .split('\n')
    .map((line) => printable(line, Infinity))
    .join('\n');
