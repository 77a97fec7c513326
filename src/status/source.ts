import type { Projects } from '../projects/project-list.ts';
import type { RefusedState } from '../store/refused/refused-files.ts';
import type { StreamStoreState } from '../store/stream/stream-store.ts';
import type { ViewStoreState } from '../store/files/view-store.ts';
import type { Tally } from './counts.ts';

/** What the operator's listener looks at. It only looks: nothing here changes anything. */
export interface StatusSource {
  readonly version: string;
  readonly tally: Tally;
  readonly projects: Projects;
  readonly projectsPath: string;
  readonly store: { state(): ViewStoreState | StreamStoreState };
  readonly refused: { state(): RefusedState };
  readonly queue: { readonly bytes: number };
  readonly queueBytesMax: number;
  readonly minFreeBytes: number;
  readonly isStopping: () => boolean;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}
