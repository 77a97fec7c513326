import * as fs from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { Fatal } from '../../../src/base/exit.ts';
import type { LocalViewStore } from '../../../src/store/files/view-store.ts';
import { FaultyDisk, seededRandom, type Fault, type Operation } from '../../support/faulty-disk.ts';
import { openStore, QUICK } from '../../support/open-store.ts';
import { tempDir } from '../../support/temp-dir.ts';

// More: VIEWLOG_TEST_SEEDS=100000. One alone: VIEWLOG_TEST_SEED=1234.
const SEEDS = Number(process.env['VIEWLOG_TEST_SEEDS'] ?? 150);
const ONLY = process.env['VIEWLOG_TEST_SEED'];
const LIVES = 4;

/** Several lives of one data directory, on a disk that fails in all ways at random. */
class Run {
  readonly random: () => number;
  readonly dir = tempDir();
  readonly disk: FaultyDisk;
  readonly acknowledged = new Map<string, string>();
  readonly durability: 'disk' | 'os';
  ms = Date.parse('2026-03-01T23:59:00.000Z');
  views = 0;
  crashes = 0;
  answers = 0;

  constructor(seed: number) {
    this.random = seededRandom(seed);
    this.durability = this.chance(0.8) ? 'disk' : 'os';
    this.disk = new FaultyDisk({ canDsync: this.chance(0.5) });
  }

  chance(probability: number): boolean {
    return this.random() < probability;
  }

  below(limit: number): number {
    return Math.floor(this.random() * limit);
  }

  fault(operation: Operation): Fault {
    if (operation === 'write') {
      if (this.chance(0.1)) return { shortBytes: 1 + this.below(200) };
      if (this.chance(0.05)) return { errno: this.chance(0.5) ? 'EAGAIN' : 'EINTR' };
      if (this.chance(0.03)) return { errno: 'EDQUOT' };
      if (this.chance(0.003)) return { errno: 'EIO' };
    }
    if (operation === 'fdatasync' && this.chance(0.005)) return { errno: 'EIO' };
    if (operation === 'open' && this.chance(0.1)) return { errno: 'EMFILE' };
    return undefined;
  }

  /** One process: it begins, takes views while the disk fails, and is killed or stopped. */
  async live(calm: boolean): Promise<void> {
    const files = this.disk.mount();
    const fatals: Fatal[] = [];
    this.disk.fault = calm ? () => undefined : (operation) => this.fault(operation);
    const opening = openStore({
      dir: this.dir,
      files,
      durability: this.durability,
      now: () => this.ms,
      onFatal: (fatal) => fatals.push(fatal),
      timing: QUICK,
    });
    const opened = await opening.catch(() => undefined);
    if (opened !== undefined) {
      const steps = this.below(60);
      for (let step = 0; step < steps && fatals.length === 0; step++) {
        await this.step(opened.store, calm);
      }
      if (fatals.length > 1) throw new Error('fatal twice');
      if (fatals.length === 0 && (calm || this.chance(0.3))) {
        this.disk.roomBytes = Number.POSITIVE_INFINITY;
        await opened.store.close(20_000).catch(() => {});
      }
    }
    files.freeze();
    this.crashes += 1;
    if (this.durability === 'disk' && this.chance(0.5)) this.disk.cutPower(this.random);
    this.disk.check();
    this.disk.closeAll();
  }

  async step(store: LocalViewStore, calm: boolean): Promise<void> {
    this.ms += this.below(2000);
    if (this.chance(0.03)) this.ms += this.below(200_000_000) - 100_000_000;
    if (calm) this.disk.roomBytes = Number.POSITIVE_INFINITY;
    else if (this.chance(0.1)) this.disk.roomBytes = this.below(3000);
    else if (this.chance(0.2)) this.disk.roomBytes = Number.POSITIVE_INFINITY;
    for (let n = this.below(20); n > 0; n--) {
      const fields = JSON.stringify({ p: '1', n: this.views++, pn: 'ü'.repeat(this.below(40)) });
      void store.append(Buffer.from(fields)).then((appended) => {
        this.answers += 1;
        if ('id' in appended) this.acknowledged.set(appended.id, fields.slice(1));
        return undefined;
      });
    }
    const turns = this.below(12);
    for (let turn = 0; turn < turns; turn++) await new Promise((resolve) => setImmediate(resolve));
    if (this.chance(0.1)) await new Promise((resolve) => setTimeout(resolve, 3));
  }

  /** What must hold, whatever has happened. */
  check(): void {
    const found = new Map<string, string>();
    let fragments = 0;
    const names = fs.readdirSync(this.dir).sort();
    for (const name of names) {
      let text = fs.readFileSync(join(this.dir, name), 'utf8');
      // Here the clock went back a day, then came the crash: that file is ended when it is opened.
      if (name !== names.at(-1) && text !== '' && !text.endsWith('\n')) text += '\n';
      if (text !== '' && !text.endsWith('\n')) throw new Error(`${name} ends in half a line`);
      for (const line of text.split('\n').slice(0, -1)) {
        const match = /^\{"ts":"([^"]{10})T[^"]{13}","id":"([^"]{36})",(.*\})$/.exec(line);
        if (match === null) {
          fragments += 1;
          continue;
        }
        const [, day, id, fields] = match as unknown as [string, string, string, string];
        JSON.parse(line);
        if (name !== `views-${day}.ndjson`) throw new Error(`in ${name}: ${line}`);
        found.set(id, fields);
      }
    }
    if (fragments > this.crashes)
      throw new Error(`${fragments} fragments, ${this.crashes} crashes`);
    for (const [id, fields] of this.acknowledged) {
      if (found.get(id) !== fields) throw new Error(`acknowledged, but lost: ${id}`);
    }
  }
}

async function run(seed: number): Promise<{ views: number; acknowledged: number }> {
  const one = new Run(seed);
  try {
    for (let life = 0; life < LIVES; life++) await one.live(life === LIVES - 1);
    // A last, quiet start seals what the last end left.
    const { store } = await openStore({ dir: one.dir, now: () => one.ms });
    await store.close(20_000);
    one.check();
  } catch (error) {
    throw new Error(`VIEWLOG_TEST_SEED=${seed}: ${String(error)}`, { cause: error });
  } finally {
    fs.rmSync(one.dir, { recursive: true, force: true });
  }
  return { views: one.views, acknowledged: one.acknowledged.size };
}

test('no acknowledgement without its line, whatever the disk does', { timeout: 0 }, async () => {
  // A different start each time, so that every run of the suite looks somewhere new.
  const first = ONLY === undefined ? Date.now() % 1_000_000_000 : Number(ONLY);
  const total = { views: 0, acknowledged: 0 };
  for (let seed = first; seed < first + (ONLY === undefined ? SEEDS : 1); seed++) {
    const { views, acknowledged } = await run(seed);
    total.views += views;
    total.acknowledged += acknowledged;
  }
  console.log(`random faults from seed ${first}: ${JSON.stringify(total)}`);
  // Or the disk was so bad that nothing was tried.
  expect(total.acknowledged).toBeGreaterThan(ONLY === undefined ? total.views / 10 : -1);
});
