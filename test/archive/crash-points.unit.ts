import { describe, expect, it } from 'vitest';
import { archiveAll, archiveOf, expectArchived, recordIn } from '../support/archived.ts';
import { type Fault, FaultyDisk, type Operation } from '../support/faulty-disk.ts';
import { linesOfDays, SimulatedStream } from '../support/stream.ts';
import { tempDir } from '../support/temp-dir.ts';

// An archive that dies at one point, and is started again: each view once. `test/simulation` does
// that at any operation, again and again.

const LINES = linesOfDays(['2026-02-28', '2026-03-01'], 9);
const VIEWS = /views-.*\.ndjson$/;
const RECORD = /archive\.json\.new$/;

/** The moment at which the process dies: before or after an operation, or within a write. */
type Moment = 'before' | 'after' | { readonly bytes: number };

/** Returns a disk with one operation that never ends, so that no later one happens. */
function dyingDisk(wanted: Operation, file: RegExp, times: number, moment: Moment) {
  const disk = new FaultyDisk();
  let count = 0;
  const died = new Promise<void>((resolve) => {
    disk.fault = async (operation, path): Promise<Fault> => {
      if (operation !== wanted || !file.test(path) || ++count !== times) return undefined;
      if (typeof moment === 'object') disk.spaceBytes = moment.bytes;
      const die = (): Promise<never> => {
        resolve();
        return new Promise<never>(() => {});
      };
      return moment === 'before' ? die() : { wait: die };
    };
  });
  return { files: disk.files(), died };
}

function stream(): SimulatedStream {
  const made = new SimulatedStream();
  made.publish(LINES);
  made.batch = 5;
  return made;
}

describe('an archive that dies', () => {
  it.each<[string, Operation, RegExp, number, Moment]>([
    ['before an append', 'write', VIEWS, 3, 'before'],
    ['in the middle of a line', 'write', VIEWS, 3, { bytes: 700 }],
    ['after an append', 'write', VIEWS, 3, 'after'],
    ['before a sync', 'fdatasync', VIEWS, 3, 'before'],
    ['after a sync', 'fdatasync', VIEWS, 4, 'after'],
    ['before the record is replaced', 'rename', RECORD, 3, 'before'],
    ['after the record is replaced', 'rename', RECORD, 3, 'after'],
  ])('%s writes each view once when it is started again', async (_, ...point) => {
    const dir = tempDir();
    const source = stream();
    const { files, died } = dyingDisk(...point);
    await Promise.race([archiveOf(source, { dir, files }).running, died]);
    expect(recordIn(dir)!.sequence).toBeLessThan(LINES.length);
    source.batch = 4;
    await archiveAll(source, dir);
    expectArchived(dir, LINES, 1);
  });
});

it('an archive on a full disk stops on a signal; the next start ends the half line', async () => {
  const dir = tempDir();
  const stopping = new AbortController();
  const disk = new FaultyDisk();
  let writes = 0;
  disk.fault = (operation, path) => {
    if (operation !== 'write' || !VIEWS.test(path)) return undefined;
    writes += 1;
    if (writes === 2) disk.spaceBytes = 700;
    if (writes === 8) stopping.abort();
    return undefined;
  };
  const options = { dir, files: disk.files(), stop: stopping.signal };
  const { running, log } = archiveOf(stream(), options);
  await expect(running).rejects.toMatchObject({
    exitCode: 74,
    message: expect.stringContaining('ends in half a line because the disk is full'),
  });
  expect(log.lines).toStrictEqual([expect.stringMatching(/^error: Cannot write .*; retrying$/)]);
  await archiveAll(stream(), dir);
  expectArchived(dir, LINES, 1);
});

it('a failed sync ends the archive', async () => {
  const disk = new FaultyDisk();
  disk.fault = (operation, path) =>
    operation === 'fdatasync' && VIEWS.test(path) ? { errno: 'EIO' } : undefined;
  const { running } = archiveOf(stream(), { dir: tempDir(), files: disk.files() });
  await expect(running).rejects.toMatchObject({ exitCode: 74 });
});
