import * as fs from 'node:fs';
import { join } from 'node:path';
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { DAY_MS, dayOf } from '../../src/base/time.ts';
import { type Retention, startRetention } from '../../src/disk/retention.ts';
import { FaultyDisk } from '../support/faulty-disk.ts';
import { memoryLog } from '../support/memory-log.ts';
import { tempDir } from '../support/temp-dir.ts';

const HOUR_MS = 3_600_000;
const KEEP = 3;
const START_MS = Date.parse('2026-03-01T00:00:00Z');

/** A box with a clock that may be wrong, and a viewlog on it that stores a view an hour. */
class Box {
  readonly dir = tempDir();
  readonly log = memoryLog();
  /** What time it is in truth, and what the clock adds to it. */
  truthMs = START_MS;
  offsetMs = 0;
  #bootMs = 0;
  #retention: Retention | undefined;
  #look = (): void => {};
  #files: ReturnType<FaultyDisk['mount']> | undefined;
  /** When the last line of each file was written, in truth. */
  readonly written = new Map<string, number>();
  /** By how much steps that are no jumps have moved the clock. */
  slackMs = 0;
  /** What the clock said when viewlog last looked, and what it added to the truth then. */
  #lastSeenMs: number | undefined;
  #seenOffsetMs = 0;

  readonly #now = (): number => this.truthMs + this.offsetMs;

  async boot(): Promise<void> {
    const wallMs = this.#now();
    this.#moved(this.#lastSeenMs === undefined ? 0 : wallMs - this.#lastSeenMs);
    this.#saw();
    this.#bootMs = this.truthMs;
    const { setInterval: original } = globalThis;
    globalThis.setInterval = ((look: () => void) => {
      this.#look = look;
      return original(() => {}, 2 ** 30);
    }) as typeof setInterval;
    this.#files = new FaultyDisk().mount();
    this.#retention = startRetention({
      files: this.#files,
      dir: this.dir,
      keepDays: KEEP,
      keepRefusedDays: KEEP,
      now: this.#now,
      monotonic: () => this.truthMs - this.#bootMs,
      log: this.log,
    });
    globalThis.setInterval = original;
    await this.#retention.noted;
    this.#check();
  }

  async halt(): Promise<void> {
    if (this.#retention === undefined) return;
    this.#looks();
    await this.#retention.stop();
    this.#retention = undefined;
  }

  /** As by kill -9: what it noted is up to two hours old. */
  async kill(): Promise<void> {
    // Time for its notes, then none.
    await new Promise((resolve) => setTimeout(resolve, 5));
    this.#files?.freeze();
    this.slackMs += 2 * HOUR_MS;
    this.#retention = undefined;
  }

  run(hours: number): void {
    for (let i = 0; i < hours; i++) {
      this.truthMs += HOUR_MS;
      this.#looks();
      this.#check();
      const day = dayOf(this.#retention!.now());
      for (const kind of ['views', 'refused']) {
        const name = `${kind}-${day}.ndjson`;
        fs.appendFileSync(join(this.dir, name), '.');
        this.written.set(name, this.truthMs);
      }
    }
  }

  set(stepMs: number): void {
    this.offsetMs += stepMs;
  }

  files(kind: string): string[] {
    return [...this.written.keys()].filter((name) => name.startsWith(kind)).sort();
  }

  /** The clock may have been set several times since the last look: only their sum can be seen. */
  #looks(): void {
    this.#look();
    this.#moved(this.offsetMs - this.#seenOffsetMs);
    this.#saw();
  }

  #saw(): void {
    this.#lastSeenMs = this.#now();
    this.#seenOffsetMs = this.offsetMs;
  }

  #moved(stepMs: number): void {
    if (Math.abs(stepMs) <= 2 * DAY_MS) this.slackMs += Math.abs(stepMs);
  }

  /** Nothing is gone that a truthful clock would have kept. */
  #check(): void {
    const left = new Set(fs.readdirSync(this.dir));
    for (const [name, writtenMs] of this.written) {
      if (left.has(name)) continue;
      this.written.delete(name);
      const days = (this.truthMs - writtenMs + this.slackMs) / DAY_MS;
      if (days < KEEP) throw new Error(`${name} was removed after ${days} days`);
      if (name.startsWith('refused')) continue;
      const newer = [...left].filter((other) => other.startsWith('views') && other > name);
      if (newer.length < KEEP) throw new Error(`${name} had ${newer.length} newer ones`);
    }
  }
}

describe('with a clock that is set', () => {
  test('behind at boot and right later, nothing that was just written is removed', async () => {
    const box = new Box();
    await box.boot();
    box.run(6 * 24);
    await box.halt();
    box.set(-20_000 * DAY_MS);
    await box.boot();
    box.run(2);
    box.set(20_000 * DAY_MS);
    box.run(24);
    expect(box.files('views')).toContain('views-1971-06-04.ndjson');
    expect(box.files('refused')).toContain('refused-1971-06-04.ndjson');
    await box.halt();
    // The next boots trust it no more, until it has run for long enough.
    await box.boot();
    box.run(2 * 24);
    expect(box.files('views')).toContain('views-1971-06-04.ndjson');
    box.run(24);
    expect(box.files('views')).not.toContain('views-1971-06-04.ndjson');
    await box.halt();
  });

  test('ahead for a boot or several, no day is lost to any of them', async () => {
    const box = new Box();
    await box.boot();
    box.run(6 * 24);
    const before = box.files('views');
    for (let boots = 0; boots < 5; boots++) {
      await box.halt();
      box.set(400 * DAY_MS);
      await box.boot();
      box.run(1);
    }
    await box.halt();
    box.set(-2000 * DAY_MS);
    await box.boot();
    box.run(1);
    expect(box.files('views')).toEqual(expect.arrayContaining(before));
    // The files from the future are known: later starts do not wait for their sake.
    await box.halt();
    await box.boot();
    box.run(KEEP * 24 - 1);
    expect(box.files('views')).not.toContain(before[0]);
    await box.halt();
  });

  test('to and fro between two looks, a file that it named is not removed', async () => {
    const box = new Box();
    await box.boot();
    box.run(6 * 24);
    const dir = box.dir;
    // As the store does for a view: it asks for the time, and names a file by it.
    box.set(-20_000 * DAY_MS);
    box.run(1);
    box.set(20_000 * DAY_MS);
    box.run(24);
    expect(fs.readdirSync(dir).filter((name) => name.startsWith('views-19'))).toHaveLength(1);
    await box.halt();
  });

  test('and no note: the newest file tells', async () => {
    const box = new Box();
    await box.boot();
    box.run(6 * 24);
    await box.halt();
    const before = box.files('refused');
    for (const text of [undefined, '', '{', '{"seen":1e999}', '[]', '{"seen":"x","steadyMs":-1}']) {
      if (text === undefined) fs.rmSync(join(box.dir, 'retention.json'));
      else fs.writeFileSync(join(box.dir, 'retention.json'), text);
      box.set(1000 * DAY_MS);
      await box.boot();
      await box.halt();
      box.set(-1000 * DAY_MS);
    }
    expect(box.files('refused')).toEqual(before);
  });
});

test('a box that was off for days keeps its files until it has run for as many', async () => {
  const box = new Box();
  await box.boot();
  box.run(6 * 24);
  await box.halt();
  const before = box.files('views');
  box.truthMs += 30 * DAY_MS;
  await box.boot();
  expect(box.log.lines.at(-1)).toBe(
    'warn: The clock went from 2026-03-07 00:00 to 2026-04-06 00:00, or viewlog did not run in ' +
      'between; no file is removed for its age until viewlog has run for 3 more days',
  );
  box.run(KEEP * 24 - 1);
  expect(box.files('views')).toEqual(expect.arrayContaining(before));
  box.run(2);
  expect(box.files('views')).not.toContain(before[0]);
  await box.halt();
});

// Whole hours: doubles are mostly next to nothing.
const hours = (days: number) => fc.integer({ min: -24 * days, max: 24 * days });
const step = fc.oneof(
  fc.record({ run: fc.integer({ min: 1, max: 24 * 5 }) }),
  fc.record({ set: fc.oneof(hours(1), hours(10), hours(20_000)) }),
  fc.record({
    offHours: fc.oneof(fc.constant(0), fc.integer({ min: 0, max: 9 * 24 })),
    setHours: fc.oneof(fc.constant(0), hours(30)),
    isKilled: fc.boolean(),
  }),
  fc.constant({ right: true as const }),
);

test(
  'whatever the clock, the boots and the time off: nothing goes too early, and all goes in time',
  { timeout: 120_000 },
  async () => {
    let removed = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 30 }), async (steps) => {
        const box = new Box();
        await box.boot();
        for (const one of steps) {
          if ('run' in one) box.run(one.run);
          else if ('set' in one) box.set(one.set * HOUR_MS);
          else if ('right' in one) box.set(-box.offsetMs);
          else {
            await (one.isKilled ? box.kill() : box.halt());
            box.truthMs += one.offHours * HOUR_MS;
            box.set(one.setHours * HOUR_MS);
            await box.boot();
          }
        }
        const before = box.written.size;
        // Left alone, with a sound clock.
        box.set(-box.offsetMs);
        box.run((2 * KEEP + 2) * 24);
        const past = box.files('views').filter((name) => name < `views-${dayOf(box.truthMs)}`);
        expect(past.length).toBeLessThanOrEqual(KEEP);
        removed += before;
        await box.halt();
        fs.rmSync(box.dir, { recursive: true });
      }),
      { numRuns: Number(process.env['VIEWLOG_TEST_RUNS'] ?? 30) },
    );
    expect(removed).toBeGreaterThan(0);
  },
);
