import { formatCount } from '../../base/format.ts';
import { counter, type Description } from '../../base/description.ts';
import type { RefusedState } from './refused-files.ts';

/** What the operator is told of the refused views that are kept. */
export const describeRefused = ({
  keptLines,
  keptBytes,
  droppedLines,
}: RefusedState): Description => ({
  warnings: [],
  metrics: [
    counter('viewlog_refused_kept_total', 'Refused views kept to be replayed.', [[keptLines]]),
    counter('viewlog_refused_kept_bytes_total', 'Bytes of refused views kept.', [[keptBytes]]),
    counter('viewlog_refused_dropped_total', 'Refused views that were not kept.', [[droppedLines]]),
  ],
  facts: [['Refused, kept', formatCount(keptLines)]],
});
