import { formatSize } from '../base/format.ts';
import type { CollectorSource } from './collector-source.ts';

export interface Health {
  /** Why the work is not done now; none where it is. */
  readonly reasons: readonly string[];
  /** What the operator should see to, though the work goes on. */
  readonly warnings: readonly string[];
}

/**
 * Whether views would be taken now. Only what refuses every view makes a collector unready: with
 * a slip in the projects file it goes on with the last good list, and must stay in service.
 */
export function healthOf(source: CollectorSource): Health {
  const { unavailable } = source.store.state();
  const reasons = source.isStopping() ? ['shutting down'] : unavailable ? [unavailable] : [];
  return { reasons, warnings: warningsOf(source) };
}

export const isReady = ({ reasons }: Health): boolean => reasons.length === 0;

function warningsOf({ projects, store, refused, queue, queueBytesMax }: CollectorSource) {
  const warnings: string[] = [];
  if (projects.fault !== undefined) warnings.push(projects.fault.message);
  if (!projects.all().some((project) => project.active)) {
    warnings.push(
      'No project is active, so a view would be refused; "viewlog activate ID" activates one',
    );
  }
  warnings.push(...store.describe(undefined).warnings, ...refused.describe().warnings);
  if (queue.bytes > queueBytesMax / 2) {
    warnings.push(`More than half of --max-queue (${formatSize(queueBytesMax)}) is under way`);
  }
  return warnings;
}
