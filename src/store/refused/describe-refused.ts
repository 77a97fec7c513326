import { formatCount } from '../../base/format.ts';
import { counter, type Description, samplesBy } from '../../base/description.ts';
import type { RefusedState } from './refused-files.ts';

/** What the operator is told of the refused views that are kept. */
export const describeRefused = ({ keptLines, keptBytes, dropped }: RefusedState): Description => ({
  warnings: [],
  metrics: [
    counter('viewlog_refused_kept_total', 'Refused views kept to be replayed.', [[keptLines]]),
    counter('viewlog_refused_kept_bytes_total', 'Bytes of refused views kept.', [[keptBytes]]),
    counter(
      'viewlog_refused_dropped_total',
      'Refused views not kept, by reason.',
      samplesBy('reason', kebabKeys(dropped)),
    ),
  ],
  facts: [['Refused, kept', formatCount(keptLines)]],
});

/** `dayFull` as `day-full`. */
const kebabKeys = (counts: Readonly<Record<string, number>>): Record<string, number> =>
  Object.fromEntries(
    Object.entries(counts).map(([name, count]) => [
      name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`),
      count,
    ]),
  );
