import {
  counter,
  type Description,
  type Fact,
  gauge,
  type Metric,
} from '../../base/description.ts';
import { number, roundedSize } from '../../base/readable.ts';
import { formatSize } from '../../base/size.ts';
import { linesMetrics } from '../store.ts';
import type { ViewStoreState } from './view-store.ts';

/** What the operator is told of the view files. */
export function describeFiles(
  state: ViewStoreState,
  minFreeBytes: number,
  viewsPerDay: number | undefined,
): Description {
  const { freeBytes, fileBytes } = state;
  const isNearlyLow = freeBytes !== undefined && freeBytes < 2 * minFreeBytes;
  const nearlyLow =
    `Free disk space is near --min-free (${formatSize(minFreeBytes)}); ` +
    'refused views are not kept any more';
  return {
    warnings: isNearlyLow ? [nearlyLow] : [],
    metrics: [
      ...linesMetrics(state),
      ...writingMetrics(state),
      gauge('viewlog_file_bytes', 'Size of the view file being written.', [[fileBytes]]),
    ],
    facts: factsOf(state, daysLeft(state, minFreeBytes, viewsPerDay)),
  };
}

/** Of whatever writes view files: a collector, or an archive. */
export const writingMetrics = (
  state: Pick<ViewStoreState, 'batches' | 'syncSeconds' | 'sealedFragments' | 'freeBytes'>,
): Metric[] => [
  counter('viewlog_written_batches_total', 'Batches of lines written and synced together.', [
    [state.batches],
  ]),
  counter('viewlog_sync_seconds_total', 'Time until what was written was durable.', [
    [state.syncSeconds],
  ]),
  counter('viewlog_sealed_fragments_total', 'Half lines, left by crashes, that were ended.', [
    [state.sealedFragments],
  ]),
  gauge('viewlog_disk_free_bytes', 'Free disk space at the data directory.', [[state.freeBytes]]),
];

function factsOf({ path, fileBytes, freeBytes }: ViewStoreState, days: number | undefined): Fact[] {
  const file = path?.slice(path.lastIndexOf('/') + 1);
  return [
    ['File', file === undefined ? 'none yet' : `${file}, ${roundedSize(fileBytes)}`],
    ['Free disk', freeBytes === undefined ? 'not known' : roundedSize(freeBytes)],
    ['Lasts for', daysText(days)],
  ];
}

/** How long the free space lasts, by the size of the lines so far. */
function daysLeft(
  { freeBytes, lines, bytes }: ViewStoreState,
  minFreeBytes: number,
  viewsPerDay = 0,
): number | undefined {
  const bytesPerDay = lines === 0 ? 0 : viewsPerDay * (bytes / lines);
  if (freeBytes === undefined || bytesPerDay === 0) return undefined;
  return Math.max(0, freeBytes - minFreeBytes) / bytesPerDay;
}

function daysText(days: number | undefined): string {
  if (days === undefined) return 'not known yet';
  if (days > 3650) return 'more than 10 years';
  return days < 1 ? 'less than a day' : `${number(Math.floor(days))} days at this rate`;
}
