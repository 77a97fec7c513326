import { sleep } from '../base/time.ts';
import type { Project } from '../projects/project-list.ts';

/** A working collector takes many times as many. */
const VIEWS_PER_SECOND_MAX = 200;
/** The share of a project's own limit that is spent: the rest is for the views that come in. */
const SHARE = 1 / 4;

/** Keeps views apart, so that sending them takes nothing from those that come in meanwhile. */
export class Pace {
  readonly #readyMs = new Map<string, number>();
  readonly #stop: AbortSignal;

  /** @param stop ends every wait. */
  constructor(stop: AbortSignal) {
    this.#stop = stop;
  }

  /** Waits until a view of this project may be sent. */
  async wait(project: Project): Promise<void> {
    const { id, maxViewsPerMinute = Infinity } = project;
    const perSecond = Math.min(VIEWS_PER_SECOND_MAX, (maxViewsPerMinute / 60) * SHARE);
    const now = performance.now();
    const readyMs = Math.max(now, this.#readyMs.get(id) ?? now);
    this.#readyMs.set(id, readyMs + 1000 / perSecond);
    await this.sleep(readyMs - now);
  }

  sleep(ms: number): Promise<void> {
    return ms <= 0 ? Promise.resolve() : sleep(ms, this.#stop);
  }
}
