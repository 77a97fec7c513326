import { formatCount, formatRoundedSize, formatSize } from '../../base/format.ts';
import {
  counter,
  type Description,
  type Fact,
  gauge,
  type Metric,
  type Remedy,
} from '../../base/description.ts';
import { shellQuoted } from '../../base/text.ts';
import { enoughBytes } from '../../disk/free-space.ts';
import { DISK_FULL } from '../../disk/trouble.ts';
import { linesMetrics } from '../store.ts';
import type { ViewStoreState } from './view-store.ts';

/** Where view files are, and how much of its disk stays free. */
interface FilesPlace {
  readonly dir: string;
  readonly minFreeBytes: number;
}

/** What the operator is told of the view files. */
export function describeFiles(
  state: ViewStoreState,
  place: FilesPlace,
  viewsPerDay: number | undefined,
  lineBytes?: number,
): Description {
  const { path, freeBytes, fileBytes, unavailable } = state;
  const { minFreeBytes } = place;
  const days = daysLeft(state, minFreeBytes, viewsPerDay, lineBytes);
  const file = path?.slice(path.lastIndexOf('/') + 1);
  const isNearlyLow = freeBytes !== undefined && freeBytes < 2 * minFreeBytes;
  const nearlyLow =
    `Free disk space is near --min-free (${formatSize(minFreeBytes)}); ` +
    'refused views are not kept any more';
  return {
    warnings: isNearlyLow && unavailable === undefined ? [nearlyLow] : [],
    metrics: [
      ...linesMetrics(state),
      ...writingMetrics(state),
      gauge('viewlog_file_bytes', 'Size of the view file being written.', [[fileBytes]]),
    ],
    facts: [freeFact(freeBytes, minFreeBytes, days, unavailable === DISK_FULL)],
    details: [
      ['File', file === undefined ? 'none yet' : `${file}, ${formatRoundedSize(fileBytes)}`],
    ],
    remedy: unavailable === undefined ? undefined : remedyOf(state, place),
  };
}

const SPARE =
  'of earlier days, views-*.ndjson that are shipped or copied, and refused-*.ndjson, may be deleted';

function remedyOf({ freeBytes, unavailable }: ViewStoreState, place: FilesPlace): Remedy {
  const { dir, minFreeBytes } = place;
  const command = `df -h ${shellQuoted(dir)}`;
  const enough = enoughBytes(minFreeBytes);
  if (freeBytes !== undefined && freeBytes < enough) {
    const free = `Make room on the disk of ${dir} until ${formatRoundedSize(enough)} are free`;
    return { text: `${free}: ${SPARE}. Or start viewlog with a lower --min-free.`, command };
  }
  if (unavailable === DISK_FULL) {
    const room = `Make room on the disk of ${dir}: ${SPARE}.`;
    return { text: `${room} Or look for a quota, or for inodes that ran out.`, command };
  }
  return { text: `Look at the disk of ${dir}, and at the log of viewlog.`, command };
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

function freeFact(
  freeBytes: number | undefined,
  minFreeBytes: number,
  days: number | undefined,
  isFull: boolean,
): Fact {
  const name = 'Free disk';
  if (freeBytes === undefined) return [name, 'not known'];
  const free = formatRoundedSize(freeBytes);
  if (freeBytes < minFreeBytes) {
    return [name, `${free}, below --min-free ${formatSize(minFreeBytes)}`, 'bad'];
  }
  if (isFull) return [name, free, 'bad'];
  return [name, days === undefined ? free : `${free}, lasts ${daysText(days)}`];
}

/** How long the free space lasts, by the size of the lines so far. */
function daysLeft(
  { freeBytes, lines, bytes }: ViewStoreState,
  minFreeBytes: number,
  viewsPerDay = 0,
  lineBytes = 0,
): number | undefined {
  const bytesPerDay = viewsPerDay * (lines === 0 ? lineBytes : bytes / lines);
  if (freeBytes === undefined || bytesPerDay === 0) return undefined;
  return Math.max(0, freeBytes - minFreeBytes) / bytesPerDay;
}

function daysText(days: number): string {
  if (days > 3650) return 'more than 10 years';
  return days < 1 ? 'less than a day' : `${formatCount(Math.floor(days))} days at this rate`;
}
