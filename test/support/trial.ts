/* oxlint-disable vitest/no-standalone-expect */
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { type Load, startLoad } from './load.ts';
import type { Runtime } from './runtimes.ts';
import { smallDisk } from './small-disk.ts';
import { tempDir } from './temp-dir.ts';
import { MINIMAL_VIEW } from './views.ts';
import { dataDirectory, PROJECTS, startViewlog, until, type Viewlog } from './viewlog.ts';

export const DISK_BYTES = 1024 * 1024;

/** A data directory, the collectors that run in it, and the views that they acknowledge. */
export class Trial {
  readonly runtime: Runtime;
  readonly data: string;
  readonly args: readonly string[];
  readonly acknowledged: string[] = [];
  #before = new Map<string, Buffer>();

  /** @param dir the root of a separate file system, if the trial needs one. */
  constructor(runtime: Runtime, args: readonly string[] = [], dir = tempDir()) {
    this.runtime = runtime;
    this.data = dataDirectory(PROJECTS, dir);
    this.args = args;
  }

  /** Creates a trial on a file system that is small enough to be filled. */
  static onSmallDisk(runtime: Runtime): Trial {
    const trial = new Trial(runtime, ['--min-free=0'], smallDisk(DISK_BYTES));
    writeFileSync(join(trial.data, 'ballast'), Buffer.alloc(DISK_BYTES / 4));
    return trial;
  }

  /** Frees some space on the small disk. */
  free(): void {
    rmSync(join(this.data, 'ballast'));
  }

  start(): Promise<Viewlog> {
    return startViewlog({ runtime: this.runtime, data: this.data, args: this.args });
  }

  /** Starts viewlog once more, which seals a fragment, and stops viewlog. */
  async restart(): Promise<void> {
    expect((await (await this.start()).signal('SIGTERM')).code).toBe(0);
  }

  /**
   * Does something to the collector while clients send views. Returns the codes of refusals.
   */
  async underLoad(
    viewlog: Viewlog,
    clients: number,
    happen: (answers: Load['answers']) => Promise<unknown>,
  ): Promise<string[]> {
    const load = startLoad(viewlog.url, clients);
    try {
      await until(() => load.answers.acknowledged.length + load.answers.refusals > 20);
      await happen(load.answers);
    } finally {
      await load.stop();
    }
    this.acknowledged.push(...load.answers.acknowledged);
    return [...load.answers.refused];
  }

  /** Sends views until the disk is full. */
  async fill(viewlog: Viewlog, clients: number): Promise<void> {
    const refused = await this.underLoad(viewlog, clients, async (answers) => {
      await until(() => answers.refused.has('storage-unavailable'));
      const { refusals } = answers;
      await until(() => answers.refusals > refusals + 20);
    });
    expect(refused).toStrictEqual(['storage-unavailable']);
    this.expectGrown();
  }

  /** Waits until views are accepted again but sends too few to fill the disk once more. */
  async expectResumed(viewlog: Viewlog): Promise<void> {
    await until(async () => (await viewlog.post(MINIMAL_VIEW)).status === 201);
    for (let i = 0; i < 100; i++) {
      const answer = await viewlog.post(MINIMAL_VIEW);
      this.acknowledged.push(((await answer.json()) as { id: string }).id);
    }
  }

  /** Returns the view files by name. */
  files(): Map<string, Buffer> {
    const names = readdirSync(this.data).filter((name) => /^views-.*\.ndjson$/.test(name));
    return new Map(names.toSorted().map((name) => [name, readFileSync(join(this.data, name))]));
  }

  /** Expects that since the last call no earlier byte has changed, and no file has shrunk. */
  expectGrown(): void {
    const after = this.files();
    for (const [name, bytes] of this.#before) {
      expect(after.get(name)?.subarray(0, bytes.length).equals(bytes)).toBe(true);
    }
    this.#before = after;
  }

  /**
   * Expects a line for every acknowledgement, only whole views of the file's day except for
   * `fragmentsMax` fragments, ascending ids, and no change to earlier bytes.
   */
  expectWhole(fragmentsMax = 0): void {
    this.expectGrown();
    const ids = new Set<string>();
    let fragments = 0;
    for (const [name, bytes] of this.files()) {
      const lines = bytes.toString().split('\n');
      expect(lines.pop()).toBe('');
      let last = '';
      for (const line of lines) {
        const view = parsed(line);
        if (view === undefined) fragments += 1;
        else {
          expect(name).toBe(`views-${view.ts.slice(0, 10)}.ndjson`);
          expect(view.id > last).toBe(true);
          last = view.id;
          ids.add(view.id);
        }
      }
    }
    const { acknowledged } = this;
    expect(fragments).toBeLessThanOrEqual(fragmentsMax);
    expect(acknowledged.filter((id) => !ids.has(id))).toStrictEqual([]);
    expect(new Set(acknowledged).size).toBe(acknowledged.length);
  }
}

/** Returns a stored view; `undefined` for a fragment. */
export function parsed(line: string): { ts: string; id: string } | undefined {
  try {
    return JSON.parse(line) as { ts: string; id: string };
  } catch {
    return undefined;
  }
}
