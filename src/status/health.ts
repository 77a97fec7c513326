import { formatSize } from '../base/format.ts';
import { isStream, type WatchedState } from './store-facts.ts';
import type { Projects } from '../projects/project-list.ts';

export interface Health {
  /** Why the service must not be sent requests now. */
  readonly reasons: readonly string[];
  /** What the operator should look at, although the service works. */
  readonly warnings: readonly string[];
}

interface HealthInput {
  readonly projects: Projects;
  readonly store: WatchedState;
  readonly minFreeBytes: number;
  readonly queue: { readonly bytes: number; readonly bytesMax: number };
  readonly isStopping: boolean;
}

/**
 * Only what would refuse every view makes a collector unready, and a stop: with a faulty projects
 * file it continues with the last good one, and must stay in service.
 */
export function healthOf(input: HealthInput): Health {
  const { projects, store, isStopping } = input;
  const reasons = isStopping ? ['shutting down'] : store.unavailable ? [store.unavailable] : [];
  const fault = projects.fault === undefined ? [] : [projects.fault.message];
  const isNoneActive = !projects.all().some(({ active }) => active);
  const none = isNoneActive
    ? ['No project is active, so every view is refused; "viewlog activate ID" activates one']
    : [];
  return { reasons, warnings: [...fault, ...none, ...warningsOf(input)] };
}

export const isReady = ({ reasons }: Health): boolean => reasons.length === 0;

/** Warnings that the status page does not have a place of its own for. */
export function warningsOf({ store, queue, minFreeBytes }: HealthInput): string[] {
  const warnings: string[] = [];
  if (isStream(store)) {
    const { name, seen } = store.stream;
    warnings.push(...store.stream.warnings);
    if (seen.lagging.length > 0) {
      const lagging = `${seen.lagging.length} of the ${seen.replicas} servers`;
      warnings.push(
        `${lagging} that keep stream ${name} are down or behind: ${seen.lagging.join(', ')}`,
      );
    }
  } else if (store.unavailable === undefined && (store.freeBytes ?? Infinity) < 2 * minFreeBytes) {
    warnings.push(
      `Free disk space is close to --min-free (${formatSize(minFreeBytes)}); ` +
        'refused views are no longer kept',
    );
  }
  if (queue.bytes > queue.bytesMax / 2) {
    warnings.push(`More than half of --max-queue (${formatSize(queue.bytesMax)}) is in flight`);
  }
  return warnings;
}
