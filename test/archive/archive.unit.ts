import * as fs from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { ArchiveLog } from '../../src/archive/archive-log.ts';
import {
  archiveAll,
  archiveOf,
  expectArchived,
  recordIn,
  recordPath,
} from '../support/archived.ts';
import { FaultyDisk } from '../support/faulty-disk.ts';
import { memoryLog } from '../support/memory-log.ts';
import { storedLines } from '../support/stored-lines.ts';
import { linesOfDays, SimulatedStream } from '../support/stream.ts';
import { tempDir } from '../support/temp-dir.ts';
import { until } from '../support/viewlog.ts';

// An archive's files, record and log. `test/simulation` tests that each view is written once,
// whatever happens to the disk, the stream and the process.

const DAYS = ['2026-02-28', '2026-03-01', '2026-03-02'];
const LINES = linesOfDays(DAYS, 20);
const FRESH = storedLines('2026-03-03', 30);

function streamOf(lines: readonly string[]): SimulatedStream {
  const stream = new SimulatedStream();
  stream.publish(lines);
  return stream;
}

const isViewFile = (path: string): boolean => path.endsWith('.ndjson');
const fileOf = (dir: string, day = DAYS[0]!): string => join(dir, `views-${day}.ndjson`);

describe('an archive', () => {
  it("writes each view to its day's file in the order of the stream and continues where it stopped", async () => {
    const dir = tempDir();
    const stream = streamOf(LINES.slice(0, 31));
    await archiveAll(stream, dir);
    stream.publish(LINES.slice(31));
    expect(await archiveAll(stream, dir)).toStrictEqual([]);
    for (const day of DAYS) {
      const lines = LINES.filter((line) => line.includes(`{"ts":"${day}`));
      expect(fs.readFileSync(fileOf(dir, day), 'utf8')).toBe(lines.map((l) => `${l}\n`).join(''));
    }
    const { sequence, files } = recordIn(dir)!;
    expect(sequence).toBe(LINES.length);
    expect(files['views-2026-02-28.ndjson']).toBe(fs.statSync(fileOf(dir)).size);
  });

  it("skips messages that aren't views and logs their positions", async () => {
    const dir = tempDir();
    const noDay = LINES[1]!.replace('2026-03-01', '2026-02-30');
    const junk = ['no view', LINES[0]!.slice(0, -1), noDay, LINES[2]!.replace(',"pn"', ',\n"pn"')];
    const stream = streamOf([...LINES.slice(0, 3), ...junk, ...LINES.slice(3)]);
    stream.batch = 100;
    const [message] = await archiveAll(stream, dir);
    expect(message).toBe(
      `error: Skipped 4 messages that aren't views in stream "VIEWS" (numbers 4, 5, 6, 7); another program publishes there`,
    );
    expectArchived(dir, LINES);
  });

  it('counts and logs messages that expired at its position, after it and at the end of the stream', async () => {
    const dir = tempDir();
    const stream = streamOf(LINES.slice(0, 10));
    await archiveAll(stream, dir);
    stream.publish(LINES.slice(10));
    stream.expire(16);
    for (const sequence of [20, 59, 60]) stream.remove(sequence);
    const { archive, running, log } = archiveOf(stream, { dir });
    await running;
    expect(archive.state()).toMatchObject({ lost: 8, sequence: 60 });
    expect(log.lines).toStrictEqual([
      'warn: 8 messages of stream "VIEWS" between 11 and 60, in 3 ranges, were deleted or expired before the archive ' +
        'read them',
    ]);
    expectArchived(dir, [...LINES.slice(0, 10), ...LINES.slice(15, 19), ...LINES.slice(20, 58)]);
  });

  it.each([
    ['5', [5], 'Message 5 of stream "VIEWS" was deleted or expired before the archive read it'],
    [
      '5 to 7',
      [5, 6, 7],
      'Messages 5 to 7 of stream "VIEWS" were deleted or expired before the archive read them',
    ],
  ])('names the removed messages by number: %s', async (_, removed, message) => {
    const stream = streamOf(LINES);
    for (const sequence of removed) stream.remove(sequence);
    expect(await archiveAll(stream)).toStrictEqual([`warn: ${message}`]);
  });

  it("logs once that it can't read the stream and once that it can read the stream again", async () => {
    const stream = streamOf(LINES);
    let failures = 4;
    stream.answering = async () => {
      if (failures-- > 0) throw new Error('no leader');
    };
    expect(await archiveAll(stream)).toStrictEqual([
      'warn: Can\'t read stream "VIEWS": no leader; retrying',
      'info: Reading stream "VIEWS" again',
    ]);
  });
});

describe("an archive whose record doesn't match the stream", () => {
  const scenes: [string, (stream: SimulatedStream, dir: string) => void, RegExp, string[]][] = [
    [
      'was created again',
      (stream) => {
        stream.recreate();
        stream.publish(FRESH);
      },
      /^error: Stream "VIEWS" was deleted and created again \(at .*; the archived one at .*\); reading/,
      FRESH,
    ],
    [
      'ends before the recorded position',
      (stream) => stream.lose(40),
      /have lost messages of stream "VIEWS" .*: the stream ends at 40, not at 60; reading/,
      [],
    ],
    [
      'has another message at the recorded position',
      (stream) => stream.lose(40, FRESH),
      /have lost messages of stream "VIEWS" .*: message 60 is a different view; reading/,
      FRESH,
    ],
    [
      'has another name',
      (stream, dir) => {
        const changed = { ...recordIn(dir), stream: 'OTHER' };
        fs.writeFileSync(recordPath(dir), JSON.stringify(changed));
        stream.publish(FRESH);
      },
      /^error: "archive.json" belongs to stream "OTHER" \(if you .*\); reading/,
      FRESH,
    ],
  ];
  it.each(scenes)(
    'reads the stream from its start if the stream %s',
    async (_, change, message, more) => {
      const dir = tempDir();
      const stream = streamOf(LINES);
      await archiveAll(stream, dir);
      change(stream, dir);
      const lines = await archiveAll(stream, dir);
      expect(lines).toStrictEqual([expect.stringMatching(message)]);
      expectArchived(dir, [...LINES, ...more]);
      expect(await archiveAll(stream, dir)).toStrictEqual([]);
    },
  );

  it('reads the stream from its start even if the last recorded messages had been deleted', async () => {
    const dir = tempDir();
    const stream = streamOf(LINES);
    stream.remove(60);
    await archiveAll(stream, dir);
    stream.lose(40, FRESH);
    expect(await archiveAll(stream, dir)).toStrictEqual([
      expect.stringMatching(
        /have lost messages of stream "VIEWS" .*: message 59 is a different view/,
      ),
    ]);
    expectArchived(dir, [...LINES.slice(0, 59), ...FRESH]);
  });

  it('asks again first, because servers that have just started may not know every message', async () => {
    const dir = tempDir();
    const stream = streamOf(LINES);
    await archiveAll(stream, dir);
    let questions = 0;
    stream.answering = async () => {
      questions += 1;
      stream.last = questions < 4 ? 3 : LINES.length;
    };
    expect(await archiveAll(stream, dir)).toStrictEqual([]);
    expect(questions).toBeGreaterThan(3);
  });

  it('archives messages that the servers deliver only after the check', async () => {
    const dir = tempDir();
    const stream = streamOf(LINES);
    await archiveAll(stream, dir);
    stream.last = 40;
    // Servers that are behind may lead the stream one after the other.
    stream.answering = async (isIdle) => {
      if (!isIdle) return;
      if (stream.last === 40) stream.disconnect();
      stream.last = stream.last === 40 ? 20 : LINES.length;
    };
    const stopping = new AbortController();
    const { archive, running } = archiveOf(stream, { dir, once: false, stop: stopping.signal });
    await until(() => stream.last === LINES.length && archive.sequence === LINES.length);
    stopping.abort();
    await running;
    expectArchived(dir, LINES);
  });
});

describe('an archive', () => {
  it("refuses a record that is cut off, has an unknown format or can't be read", async () => {
    const dir = tempDir();
    const stream = streamOf(LINES);
    await archiveAll(stream, dir);
    const text = fs.readFileSync(recordPath(dir), 'utf8').trimEnd();
    const other = JSON.stringify({ ...recordIn(dir), writing: {} });
    for (const broken of ['', text.slice(0, 50), text.slice(0, -1), other]) {
      fs.writeFileSync(recordPath(dir), broken);
      await expect(archiveAll(stream, dir)).rejects.toMatchObject({
        exitCode: 65,
        message: expect.stringMatching(
          /isn't an archive's record: .*; restore it from a backup, or move it away/,
        ),
      });
    }
    fs.rmSync(recordPath(dir));
    fs.mkdirSync(recordPath(dir));
    await expect(archiveAll(stream, dir)).rejects.toMatchObject({ exitCode: 74 });
  });

  it('works without its record if the lines to compare fit in memory', async () => {
    const dir = tempDir();
    const lines = storedLines(DAYS[0]!, 100);
    const stream = streamOf(lines);
    await archiveAll(stream, dir);
    fs.rmSync(recordPath(dir));
    await expect(archiveOf(stream, { dir, idsMax: 99 }).running).rejects.toMatchObject({
      exitCode: 65,
      message: expect.stringMatching(
        /ndjson" has more than 99 lines after the position in "archive.json", too many to compare; move/,
      ),
    });
    await archiveOf(stream, { dir, idsMax: 100 }).running;
    expectArchived(dir, lines);
  });
});

it('an archive on a full disk stops on a signal, and the next start seals the fragment', async () => {
  const dir = tempDir();
  const stopping = new AbortController();
  const disk = new FaultyDisk();
  let writes = 0;
  disk.fault = (operation, path) => {
    if (operation !== 'write' || !isViewFile(path)) return undefined;
    writes += 1;
    if (writes === 2) disk.spaceBytes = 700;
    if (writes === 8) stopping.abort();
    return undefined;
  };
  const options = { dir, files: disk.files(), stop: stopping.signal };
  const { running, log } = archiveOf(streamOf(LINES), options);
  await expect(running).rejects.toMatchObject({
    exitCode: 74,
    message: expect.stringContaining('may be incomplete, because a write failed'),
  });
  expect(log.lines).toStrictEqual([
    expect.stringMatching(
      /^error: Archiving is paused until this is corrected: Can't write .* free inodes$/,
    ),
  ]);
  await archiveAll(streamOf(LINES), dir);
  expectArchived(dir, LINES, 1);
});

it('an archive logs when its lag has doubled and when it is small again', () => {
  const log = memoryLog();
  const archiveLog = new ArchiveLog(log, 'VIEWS');
  const logged = (...lags: number[]): string[] => {
    for (const one of lags) archiveLog.lag(one);
    return log.lines.splice(0);
  };
  const behind = (count: string): string =>
    `warn: The archive is ${count} messages behind the end of the stream`;
  expect(logged(0, 9_999, 5)).toStrictEqual([]);
  expect(logged(10_000, 19_999)).toStrictEqual([behind('10,000')]);
  expect(logged(20_000, 45_000, 22_500)).toStrictEqual([behind('20,000'), behind('45,000')]);
  expect(logged(9_999, 0)).toStrictEqual([
    'info: The archive is fewer than 10,000 messages behind the end of the stream again',
  ]);
  expect(logged(12_000)).toStrictEqual([behind('12,000')]);
});
