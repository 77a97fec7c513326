import assert from 'node:assert/strict';
import * as fs from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { test } from 'vitest';
import { Archiver } from '../../src/archive/archiver.ts';
import type { StreamMessage } from '../../src/archive/message.ts';
import { type ArchiveRecord, readRecord } from '../../src/archive/archive-record.ts';
import { reasonOf } from '../../src/base/exit.ts';
import { isFragment } from '../../src/verify/fragment.ts';
import { FaultyDisk, seededRandom, type Fault, type Operation } from '../support/faulty-disk.ts';
import { memoryLog } from '../support/memory-log.ts';
import { tempDir } from '../support/temp-dir.ts';

// More: VIEWLOG_TEST_RUNS=20000. One again: VIEWLOG_TEST_SEED and VIEWLOG_TEST_PATH, as printed.
const RUNS = Number(process.env['VIEWLOG_TEST_RUNS'] ?? 150);
const SEED = process.env['VIEWLOG_TEST_SEED'];
const PATH = process.env['VIEWLOG_TEST_PATH'];

const DAYS = ['2026-02-28', '2026-03-01', '2026-03-02', '2026-03-09'];
const NEW: ArchiveRecord = { stream: 'VIEWS', created: 'then', sequence: 0 };

/** Several lives of one archive, on a disk that fails in all ways, and whose power is cut. */
interface Scene {
  /** For each message its day, how long it is, whether it is a view, and whether it is still there. */
  readonly stream: readonly {
    readonly day: number;
    readonly length: number;
    readonly kind: number;
  }[];
  readonly lives: readonly { readonly seed: number; readonly isQuiet: boolean }[];
}

const SCENE: fc.Arbitrary<Scene> = fc.record({
  stream: fc.array(
    fc.record({ day: fc.nat(DAYS.length - 1), length: fc.nat(400), kind: fc.nat(99) }),
    { minLength: 1, maxLength: 120, size: 'max' },
  ),
  lives: fc.array(fc.record({ seed: fc.integer(), isQuiet: fc.constant(false) }), {
    maxLength: 6,
    size: 'max',
  }),
});

/** A view thrice, of which the last is in doubt and not yet in the file when the process dies. */
const REPEATED: Scene = {
  stream: [3, 1, 1, 1, 1, 1, 1, 1, 3, 7, 7, 1, 1, 3, 3].map((kind, i) => ({
    day: i === 0 ? 2 : i === 10 ? 1 : 0,
    length: 0,
    kind,
  })),
  lives: [{ seed: 981_050_629, isQuiet: false }],
};

/** Killed between the record's rename and its sync; the next process reads it, then the power goes. */
const RENAMED: Scene = {
  stream: Array.from({ length: 3 }, () => ({ day: 0, length: 0, kind: 1 })),
  lives: [
    { seed: 1670, isQuiet: false },
    { seed: 1677, isQuiet: false },
  ],
};

function messagesOf({ stream }: Scene): StreamMessage[] {
  let before = '';
  return stream.flatMap(({ day, length, kind }, i): StreamMessage[] => {
    const sequence = i + 1;
    if (kind === 0) return [];
    if (kind === 2) return [{ sequence, payload: undefined }];
    if (kind === 1) return [{ sequence, payload: Buffer.from('no view') }];
    const id = `019a0000-0000-7000-8000-${String(i).padStart(12, '0')}`;
    const line = JSON.stringify({ ts: `${DAYS[day]!}T12:00:00.000Z`, id, pn: 'ü'.repeat(length) });
    // Every so often the same view twice: two messages are two views.
    if (kind > 6 || before === '') before = line;
    return [{ sequence, payload: Buffer.from(before) }];
  });
}

class Run {
  readonly dir = tempDir();
  readonly disk = new FaultyDisk();
  readonly messages: readonly StreamMessage[];
  /** The most that was ever recorded: it must not go back. */
  sequence = 0;
  deaths = 0;

  constructor(scene: Scene) {
    this.messages = messagesOf(scene);
  }

  fault(operation: Operation, path: string, random: () => number): Fault {
    if (operation === 'write') {
      if (random() < 0.15) return { shortBytes: 1 + Math.floor(random() * 300) };
      if (random() < 0.05) return { errno: random() < 0.5 ? 'EAGAIN' : 'EINTR' };
      if (random() < 0.03) return { errno: 'EDQUOT' };
      if (random() < 0.01) return { errno: 'EIO' };
    }
    if (operation === 'fdatasync' && random() < 0.01) return { errno: 'EIO' };
    if (operation === 'open' && random() < 0.05) return { errno: 'EMFILE' };
    if (operation === 'rename' && random() < 0.02) return { errno: 'ENOSPC' };
    return undefined;
  }

  /** One process, which takes batches of any size; killed at a random operation, or at the end. */
  async live(seed: number, isQuiet: boolean): Promise<void> {
    const random = seededRandom(seed);
    const files = this.disk.mount();
    const stop = new AbortController();
    let operations = isQuiet ? Infinity : Math.floor(random() * 150);
    let died!: () => void;
    const death = new Promise<void>((resolve) => (died = resolve));
    this.disk.roomBytes = Infinity;
    this.disk.fault = (operation, path) => {
      if (isQuiet) return undefined;
      operations -= 1;
      if (operations < 0) {
        files.freeze();
        died();
      }
      if (random() < 0.02) this.disk.roomBytes = Math.floor(random() * 2000);
      else if (random() < 0.1) this.disk.roomBytes = Infinity;
      return this.fault(operation, path, random);
    };
    const record = readRecord(this.dir) ?? NEW;
    assert(record.sequence >= this.sequence, 'the record went back');
    const archiver = new Archiver({
      dir: this.dir,
      record,
      minFreeBytes: 0,
      log: memoryLog(),
      stop: stop.signal,
      files,
      timing: { retryMs: 0, retryMaxMs: 1 },
    });
    let isRecorded = false;
    const work = async (): Promise<void> => {
      await archiver.start();
      isRecorded = true;
      for (;;) {
        const left = this.messages.filter(({ sequence }) => sequence > archiver.taken);
        if (left.length === 0) break;
        const count = isQuiet ? left.length : 1 + Math.floor(random() * 40);
        await archiver.take(left.slice(0, count));
        if (random() < 0.2) await archiver.checkDisk();
      }
      await archiver.close();
    };
    let failure: unknown;
    await Promise.race([death, work().catch((error: unknown) => (failure = error))]);
    // What fails but for a full disk ends the process.
    if (failure !== undefined && (isQuiet || !/EIO/.test(reasonOf(failure)))) throw failure;
    files.freeze();
    this.deaths += 1;
    if (isRecorded) this.sequence = archiver.sequence;
    if (!isQuiet && random() < 0.5) this.disk.cutPower(random);
    this.disk.check();
    this.disk.closeAll();
  }

  /** What must hold in the end. */
  check(): void {
    let fragments = 0;
    for (const day of DAYS) {
      const expected = this.messages
        .map(({ payload }) => String(payload))
        .filter((line) => line.startsWith(`{"ts":"${day}`));
      const path = join(this.dir, `views-${day}.ndjson`);
      const text = fs.existsSync(path) ? fs.readFileSync(path, 'utf8') : '';
      const lines = text.split('\n');
      assert.equal(lines.pop(), '');
      const whole = lines.filter((line) => !isFragment(line));
      fragments += lines.length - whole.length;
      // Each once, in the stream's order.
      assert.deepEqual(whole, expected);
    }
    assert(fragments <= this.deaths * DAYS.length);
    const record = readRecord(this.dir);
    assert.equal(record?.sequence, this.messages.at(-1)?.sequence);
    assert.equal(record?.writing, undefined);
  }
}

test('each message once, whatever the disk does', { timeout: 0 }, async () => {
  const totals = { runs: 0, lives: 0, messages: 0 };
  const property = fc.asyncProperty(SCENE, async (scene) => {
    const run = new Run(scene);
    try {
      for (const { seed, isQuiet } of scene.lives) await run.live(seed, isQuiet);
      await run.live(0, true);
      if (run.messages.length > 0) run.check();
    } finally {
      fs.rmSync(run.dir, { recursive: true, force: true });
    }
    totals.runs += 1;
    totals.lives += run.deaths;
    totals.messages += run.messages.length;
  });
  await fc.assert(property, {
    numRuns: RUNS,
    examples: [[REPEATED], [RENAMED]],
    ...(SEED !== undefined && { seed: Number(SEED) }),
    ...(PATH !== undefined && { path: PATH }),
  });
  console.log(`random faults of an archive: ${JSON.stringify(totals)}`);
});
