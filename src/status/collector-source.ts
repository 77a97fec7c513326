import type { Description } from '../base/description.ts';
import type { Projects } from '../projects/project-list.ts';
import type { WatchedStore } from '../store/store.ts';
import type { Counts } from './counts.ts';
import type { Installation } from './shell-commands.ts';

/** What is looked at of a collector. Nothing here changes anything. */
export interface CollectorSource {
  readonly counts: Counts;
  /** How far back the counts go. */
  readonly known: Known;
  readonly projects: Projects;
  readonly installation: Installation;
  /** The collector's own address, as a client on this machine has it; without a slash at its end. */
  readonly url: () => string;
  readonly store: WatchedStore;
  readonly refused: { describe(): Description };
  readonly queue: { readonly bytes: number };
  readonly queueBytesMax: number;
  readonly isStopping: () => boolean;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}

export interface Known {
  /** All that was taken since then is counted, and what was refused and kept. */
  readonly sinceMs: number;
  /** Whether what came before is still being read. */
  readonly isReading: boolean;
  /** What a view that was acknowledged before outlives: `disk` the machine, `os` viewlog alone. */
  readonly durability?: 'disk' | 'os' | undefined;
  /** Of a view that was stored before the start, on average; `undefined` where there was none. */
  readonly lineBytes?: number | undefined;
}
