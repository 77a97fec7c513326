import type { Description } from '../base/description.ts';
import type { Projects } from '../projects/project-list.ts';
import type { WatchedStore } from '../store/store.ts';
import type { Counts } from './counts.ts';

/** What is looked at of a collector. Nothing here changes anything. */
export interface CollectorSource {
  readonly counts: Counts;
  readonly projects: Projects;
  readonly projectsPath: string;
  readonly store: WatchedStore;
  readonly refused: { describe(): Description };
  readonly queue: { readonly bytes: number };
  readonly queueBytesMax: number;
  readonly isStopping: () => boolean;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}
