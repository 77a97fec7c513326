import { printable } from '../base/text.ts';
import type { Report } from './schema.ts';

/** The report as JSON. Characters that a terminal would obey are escaped, which reads the same. */
export const jsonReport = (report: Report): string =>
  JSON.stringify(report, null, 2)
    .split('\n')
    .map((line) => printable(line, Infinity))
    .join('\n');
