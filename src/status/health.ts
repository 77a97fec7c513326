import { formatSize } from '../base/size.ts';
import type { StreamStoreState } from '../store/stream/stream-store.ts';
import { plural } from '../base/text.ts';
import type { StatusSource } from './source.ts';

export interface Health {
  /** Whether views are taken. */
  readonly ready: boolean;
  /** Why not. */
  readonly reasons: readonly string[];
  /** What the operator should see to, though views are taken. */
  readonly warnings: readonly string[];
}

/**
 * Whether views would be taken now. Only what refuses every view makes a collector unready: with
 * a slip in the projects file it goes on with the last good list, and must stay in service.
 */
export function healthOf(source: StatusSource): Health {
  const { unavailable } = source.store.state();
  const reasons = source.isStopping() ? ['shutting down'] : unavailable ? [unavailable] : [];
  return { ready: reasons.length === 0, reasons, warnings: warningsOf(source) };
}

function warningsOf({ projects, store, queue, queueBytesMax, minFreeBytes }: StatusSource) {
  const warnings: string[] = [];
  if (projects.fault !== undefined) warnings.push(projects.fault);
  if (!projects.all().some((project) => project.active)) {
    warnings.push('No project is active, so every view is refused: "viewlog activate ID"');
  }
  const now = store.state();
  if ('stream' in now) warnings.push(...streamWarnings(now.stream));
  else if (now.freeBytes !== undefined && now.freeBytes < 2 * minFreeBytes) {
    warnings.push(
      `Free disk space is near --min-free (${formatSize(minFreeBytes)}); ` +
        'refused views are not kept any more',
    );
  }
  if (queue.bytes > queueBytesMax / 2) {
    warnings.push(`More than half of --max-queue (${formatSize(queueBytesMax)}) is under way`);
  }
  return warnings;
}

/** What is wrong for good, and how far the stream is from losing its quorum. */
function streamWarnings({ name, seen, warnings }: StreamStoreState['stream']): string[] {
  const { lagging, replicas } = seen;
  if (lagging.length === 0) return [...warnings];
  const which = lagging.join(', ');
  return [
    ...warnings,
    `Of the ${plural(replicas, 'server')} that keep stream ${name}, ${which} is down or behind`,
  ];
}
