import * as fs from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { archiveAll, archiveOf, expectArchived, recordPath } from '../support/archived.ts';
import { storedLines } from '../support/stored-lines.ts';
import { linesOfDays, SimulatedStream } from '../support/stream.ts';
import { tempDir } from '../support/temp-dir.ts';
import { until } from '../support/viewlog.ts';

const DAYS = ['2026-02-28', '2026-03-01', '2026-03-02'];
const LINES = linesOfDays(DAYS, 20);
const FRESH = storedLines('2026-03-03', 30);

function streamOf(lines: readonly string[], stream = new SimulatedStream()): SimulatedStream {
  stream.publish(lines);
  return stream;
}

const record = (dir: string) =>
  JSON.parse(fs.readFileSync(recordPath(dir), 'utf8')) as {
    sequence: number;
    files: Record<string, number>;
  };
const fileOf = (dir: string, day = DAYS[0]!): string => join(dir, `views-${day}.ndjson`);

describe('an archive', () => {
  it('writes each view to the file of its day in the order of the stream, and goes on from there', async () => {
    const dir = tempDir();
    const stream = streamOf(LINES.slice(0, 31));
    await archiveAll(stream, dir);
    stream.publish(LINES.slice(31));
    expect(await archiveAll(stream, dir)).toStrictEqual([]);
    for (const day of DAYS) {
      const lines = LINES.filter((line) => line.includes(`{"ts":"${day}`));
      expect(fs.readFileSync(fileOf(dir, day), 'utf8')).toBe(lines.map((l) => `${l}\n`).join(''));
    }
    const { sequence, files } = record(dir);
    expect(sequence).toBe(LINES.length);
    expect(files['views-2026-02-28.ndjson']).toBe(fs.statSync(fileOf(dir)).size);
  });

  it('follows the stream until it is told to stop', async () => {
    const dir = tempDir();
    const stream = streamOf(LINES.slice(0, 10));
    const stopping = new AbortController();
    const { archive, running } = archiveOf(stream, { dir, once: false, stop: stopping.signal });
    await until(() => archive.sequence === 10);
    stream.publish(LINES.slice(10));
    await until(() => archive.sequence === LINES.length);
    stopping.abort();
    await running;
    expectArchived(dir, LINES);
    expect(archive.state()).toMatchObject({ lines: LINES.length, lag: 0, skipped: 0, lost: 0 });
  });

  it('skips what is not a view, and says so', async () => {
    const dir = tempDir();
    const junk = ['no view', '{"a":1}', LINES[0]!.slice(0, -1), LINES[1]!.replace('T', 'X')];
    const stream = streamOf([...LINES.slice(0, 3), ...junk, ...LINES.slice(3)]);
    stream.batch = 100;
    const [message] = await archiveAll(stream, dir);
    expect(message).toBe(
      'error: Skipped 4 messages of the stream that no collector wrote: ' +
        '4 (does not start with ts and id), 5 (does not start with ts and id), ' +
        '6 (is not JSON), 7 (does not start with ts and id)',
    );
    expectArchived(dir, LINES);
  });

  it('counts and logs messages that have expired, and goes on', async () => {
    const dir = tempDir();
    const stream = streamOf(LINES.slice(0, 10));
    await archiveAll(stream, dir);
    stream.publish(LINES.slice(10));
    stream.expire(16);
    stream.remove(20);
    const { archive, running, log } = archiveOf(stream, { dir });
    await running;
    expect(archive.state()).toMatchObject({ lost: 6, sequence: LINES.length });
    expect(log.lines).toHaveLength(2);
    expect(log.lines[0]).toContain('5 messages (11 to 15) of the stream had been removed before');
    expectArchived(dir, [...LINES.slice(0, 10), ...LINES.slice(15, 19), ...LINES.slice(20)]);
  });

  it('does not believe a reader that leaves out messages which are still there', async () => {
    const dir = tempDir();
    const stream = streamOf(LINES);
    let messages = 0;
    stream.omits = () => ++messages <= 2;
    await archiveAll(stream, dir);
    expectArchived(dir, LINES);
  });

  it('comes to the end of a stream whose last messages were removed', async () => {
    const stream = streamOf(LINES);
    stream.remove(LINES.length);
    stream.remove(LINES.length - 1);
    const dir = tempDir();
    const [message] = await archiveAll(stream, dir);
    expect(message).toContain(`2 messages (${LINES.length - 1} to ${LINES.length}) of the stream`);
    expect(record(dir).sequence).toBe(LINES.length);
  });

  it('starts a new reader when messages do not come', async () => {
    const dir = tempDir();
    let reads = 0;
    class Stalled extends SimulatedStream {
      override async *read(after: number, stop: AbortSignal) {
        reads += 1;
        while (reads === 1) yield [];
        yield* super.read(after, stop);
      }
    }
    const stream = streamOf(LINES, new Stalled());
    await archiveAll(stream, dir);
    expect(reads).toBe(2);
    expectArchived(dir, LINES);
  });

  it('says once that it cannot read, and once that it can again', async () => {
    const stream = streamOf(LINES);
    let failures = 4;
    stream.answering = async () => {
      if (failures-- > 0) throw new Error('no leader');
    };
    expect(await archiveAll(stream)).toStrictEqual([
      'warn: Cannot read stream "VIEWS": no leader; retrying',
      'info: Reading stream "VIEWS" again',
    ]);
  });

  it('writes to a new file when somebody has moved one, and counts its lines as archived', async () => {
    const dir = tempDir();
    const stream = streamOf(storedLines(DAYS[0]!, 10));
    const stopping = new AbortController();
    const { archive, running, log } = archiveOf(stream, {
      dir,
      once: false,
      stop: stopping.signal,
    });
    await until(() => archive.sequence === 10);
    fs.renameSync(fileOf(dir), join(dir, 'moved'));
    await until(() => log.lines.some((line) => line.includes('was moved, removed')));
    stream.publish(storedLines(DAYS[0]!, 15).slice(10));
    await until(() => archive.sequence === 15);
    stopping.abort();
    await running;
    expect(fs.readFileSync(join(dir, 'moved'), 'utf8').match(/\n/g)).toHaveLength(10);
    expectArchived(dir, storedLines(DAYS[0]!, 15).slice(10));
    await archiveAll(stream, dir);
    expectArchived(dir, storedLines(DAYS[0]!, 15).slice(10));
  });

  it('opens a day again after many others', async () => {
    const dir = tempDir();
    const days = Array.from({ length: 40 }, (_, i) => `2026-01-${String((i % 28) + 1)}`);
    const padded = days.map((day) => day.replace(/-(\d)$/, '-0$1'));
    const lines = padded.map((day, i) => storedLines(day, i + 1)[i]!);
    const stream = streamOf(lines);
    stream.batch = 40;
    await archiveAll(stream, dir);
    expectArchived(dir, lines);
    expect(Object.keys(record(dir).files)).toHaveLength(28);
  });
});

describe('a stream that does not match the record', () => {
  const scenes: [string, (stream: SimulatedStream, dir: string) => void, RegExp, string[]][] = [
    [
      'was created again',
      (stream) => {
        stream.recreate();
        stream.publish(FRESH);
      },
      /^error: Stream "VIEWS" was created .* again, not .* as archived; reading/,
      FRESH,
    ],
    [
      'ends before the recorded position',
      (stream) => stream.lose(40),
      /have lost messages of stream "VIEWS" .*: it ends at 40, not at 60; reading/,
      [],
    ],
    [
      'has another message there',
      (stream) => {
        stream.lose(40);
        stream.publish(FRESH);
      },
      /have lost messages of stream "VIEWS" .*: message 60 is another one; reading/,
      FRESH,
    ],
    [
      'has another name',
      (stream, dir) => {
        const changed = { ...record(dir), stream: 'OTHER' };
        fs.writeFileSync(recordPath(dir), JSON.stringify(changed));
        stream.publish(FRESH);
      },
      /^error: "archive.json" is of stream "OTHER"; reading/,
      FRESH,
    ],
  ];
  it.each(scenes)('because it %s is read from its start', async (_, change, message, more) => {
    const dir = tempDir();
    const stream = streamOf(LINES);
    await archiveAll(stream, dir);
    change(stream, dir);
    const lines = await archiveAll(stream, dir);
    expect(lines).toStrictEqual([expect.stringMatching(message)]);
    expectArchived(dir, [...LINES, ...more]);
    expect(await archiveAll(stream, dir)).toStrictEqual([]);
  });

  it('is found out after a reconnect, before any message is read', async () => {
    const dir = tempDir();
    const stream = streamOf(LINES);
    const stopping = new AbortController();
    const { archive, running, log } = archiveOf(stream, {
      dir,
      once: false,
      stop: stopping.signal,
    });
    await until(() => archive.sequence === LINES.length);
    stream.lose(50);
    stream.publish(FRESH);
    await until(() => archive.sequence === 50 + FRESH.length);
    stopping.abort();
    await running;
    expectArchived(dir, [...LINES, ...FRESH]);
    expect(log.lines).toStrictEqual([expect.stringContaining('message 60 is another one')]);
  });

  it('is looked at again first, because servers that have just started may not know all', async () => {
    const dir = tempDir();
    let looks = 3;
    class Unaware extends SimulatedStream {
      override async ends() {
        const ends = await super.ends();
        return ++looks < 3 ? { ...ends, last: 3 } : ends;
      }
    }
    const stream = streamOf(LINES, new Unaware());
    await archiveAll(stream, dir);
    looks = 0;
    expect(await archiveAll(stream, dir)).toStrictEqual([]);
  });

  it('is not one whose message at the position was removed', async () => {
    const dir = tempDir();
    const stream = streamOf(LINES);
    await archiveAll(stream, dir);
    stream.publish(FRESH);
    stream.remove(LINES.length);
    expect(await archiveAll(stream, dir)).toStrictEqual([]);
    expectArchived(dir, [...LINES, ...FRESH]);
  });
});

describe('files with lines that the record does not cover', () => {
  it('are compared with the messages if the record is lost, however many there are', async () => {
    const dir = tempDir();
    // Some mebibytes: several blocks.
    const lines = storedLines(DAYS[0]!, 4000, { pt: 'ü'.repeat(300) });
    const stream = streamOf(lines);
    stream.batch = 500;
    await archiveAll(stream, dir);
    fs.rmSync(recordPath(dir));
    stream.publish(FRESH);
    await archiveAll(stream, dir);
    expectArchived(dir, [...lines, ...FRESH]);
  });

  it('are compared if the record is of a backup', async () => {
    const dir = tempDir();
    const stream = streamOf(LINES.slice(0, 20));
    await archiveAll(stream, dir);
    const backup = fs.readFileSync(recordPath(dir));
    stream.publish(LINES.slice(20));
    await archiveAll(stream, dir);
    fs.writeFileSync(recordPath(dir), backup);
    await archiveAll(stream, dir);
    expectArchived(dir, LINES);
  });

  it('are compared from the start if a file is shorter than recorded', async () => {
    const dir = tempDir();
    const lines = storedLines(DAYS[0]!, 30);
    const stream = streamOf(lines.slice(0, 20));
    await archiveAll(stream, dir);
    stream.publish(lines.slice(20));
    // Somebody has put a part of it in its place, with a line of what is still to come.
    fs.writeFileSync(fileOf(dir), `${lines[0]!}\n${lines[25]!}\n`);
    await archiveAll(stream, dir);
    expectArchived(dir, [lines[0]!, ...lines.slice(20)]);
  });

  it('have half a line ended, whose view is then written as a whole', async () => {
    const dir = tempDir();
    const lines = storedLines(DAYS[0]!, 10);
    fs.writeFileSync(fileOf(dir), `${lines[0]!}\n${lines[1]!.slice(0, 100)}`);
    const log = await archiveAll(streamOf(lines), dir);
    expect(log).toStrictEqual([expect.stringContaining('ended in half a line after a crash')]);
    expectArchived(dir, lines, 1);
    fs.rmSync(recordPath(dir));
    await archiveAll(streamOf(lines), dir);
    expectArchived(dir, lines, 1);
  });

  it('may end in a whole line that lacks its newline, which is not written again', async () => {
    const dir = tempDir();
    const lines = storedLines(DAYS[0]!, 2);
    fs.writeFileSync(fileOf(dir), lines.join('\n'));
    await archiveAll(streamOf(lines), dir);
    expectArchived(dir, lines);
  });
});

describe('the record of an archive', () => {
  it('that is cut off, or of an unknown format, is an error that says what to do', async () => {
    const dir = tempDir();
    const stream = streamOf(LINES);
    await archiveAll(stream, dir);
    const text = fs.readFileSync(recordPath(dir), 'utf8').trimEnd();
    const other = JSON.stringify({ ...record(dir), writing: {} });
    for (const broken of ['', text.slice(0, 50), text.slice(0, -1), other]) {
      fs.writeFileSync(recordPath(dir), broken);
      await expect(archiveAll(stream, dir)).rejects.toMatchObject({
        exitCode: 65,
        message: expect.stringMatching(/is not an archive's record: .*; restore it, or move it/),
      });
    }
  });

  it('that is not a regular file is an error', async () => {
    const dir = tempDir();
    fs.mkdirSync(recordPath(dir));
    await expect(archiveAll(streamOf(LINES), dir)).rejects.toMatchObject({ exitCode: 74 });
  });
});
