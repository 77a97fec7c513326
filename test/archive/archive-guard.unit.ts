import * as fs from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { systemFiles } from '../../src/disk/ops.ts';
import { RecentIds } from '../../src/base/recent-ids.ts';
import {
  archiveAll,
  archiveOf,
  expectArchived,
  recordIn,
  recordPath,
} from '../support/archived.ts';
import { storedLines } from '../support/stored-lines.ts';
import { linesOfDays, SimulatedStream } from '../support/stream.ts';
import { tempDir } from '../support/temp-dir.ts';
import { until } from '../support/viewlog.ts';

// An archive reports each view that it lacks and gives no false alarm.

const [DAY, NEXT_DAY] = ['2026-03-01', '2026-03-02'];
const LINES = linesOfDays([DAY, NEXT_DAY], 30);
const NAME = `views-${DAY}.ndjson`;

function scene(lines: readonly string[] = LINES) {
  const stream = new SimulatedStream();
  stream.publish(lines);
  const dir = tempDir();
  const file = join(dir, NAME);
  return { stream, dir, file, size: () => fs.statSync(file).size };
}

const hide = (stream: SimulatedStream, from: number, to: number): void => {
  for (let sequence = from; sequence <= to; sequence++) stream.hidden.add(sequence);
};

/** Restores a day; returns the log. */
async function restore(stream: SimulatedStream, dir: string, stop = new AbortController()) {
  const { running, log } = archiveOf(stream, { dir, restore: DAY, stop: stop.signal });
  await running;
  return log.lines;
}

describe('an archive of a stream that lacks messages', () => {
  it('logs an error when a deposed leader lacks messages, and archives them in its next run', async () => {
    const { stream, dir } = scene();
    hide(stream, 11, 20);
    hide(stream, 31, 31);
    const [gaps] = await archiveAll(stream, dir);
    expect(gaps).toContain(
      '11 messages of stream "VIEWS" between 11 and 31, in 2 ranges, were deleted or expired',
    );
    expect(recordIn(dir)!.missing).toStrictEqual([
      [11, 20],
      [31, 31],
    ]);
    stream.hidden.clear();
    stream.remove(13);
    const { archive, running, log } = archiveOf(stream, { dir });
    await running;
    const check = 'now archived. To check the replicas, run: nats stream info VIEWS';
    expect(log.lines).toStrictEqual([
      `error: The archive missed messages 11 to 20 of stream "VIEWS"; the stream's leader had 9 of them, and they are ${check}`,
      `error: The archive missed message 31 of stream "VIEWS"; the stream's leader had it, and it is ${check}`,
    ]);
    expect(archive.state()).toMatchObject({ leftOut: 10, lost: 0, lines: 10 });
    expectArchived(dir, LINES.toSpliced(12, 1));
    expect(recordIn(dir)!.missing).toStrictEqual([[13, 13]]);
    expect(await archiveAll(stream, dir)).toStrictEqual([]);
  });

  it('notices in a later run that the servers have lost messages, even if a leader lacked the last message', async () => {
    const { stream, dir } = scene();
    let isBehind = true;
    stream.omits = (isLast) => isLast && isBehind;
    expect(await archiveAll(stream, dir)).toStrictEqual([expect.stringContaining('archived')]);
    isBehind = false;
    const [fresh = ''] = storedLines('2026-03-03', 1);
    stream.lose(59, [fresh]);
    const log = await archiveAll(stream, dir);
    expect(log).toStrictEqual([expect.stringContaining('message 60 is a different view')]);
    expectArchived(dir, [...LINES, fresh]);
  });

  it('archives, before its run ends, the views that a deposed leader lacked, each only once', async () => {
    const { stream, dir } = scene([...LINES, LINES[14]!]);
    hide(stream, 11, 20);
    let questions = 0;
    stream.answering = async () => {
      // The leader is deposed while the last message is read.
      if (recordIn(dir)?.sequence === 61 && questions++ === 0) stream.hidden.clear();
    };
    const log = await archiveAll(stream, dir);
    expect(log).toStrictEqual([expect.stringContaining('had 10 of them')]);
    expectArchived(dir, LINES);
  });

  it.each<[string, (stream: SimulatedStream) => void]>([
    [
      'messages that were deleted before it read them',
      (stream) => [5, 7, 9].forEach((one) => stream.remove(one)),
    ],
    ['messages that expired', (stream) => stream.expire(25)],
    ['a purge', (stream) => stream.expire(61)],
  ])('logs no error for %s, in this run or a later one', async (_, change) => {
    const { stream, dir } = scene(LINES.slice(0, 2));
    await archiveAll(stream, dir);
    stream.publish(LINES.slice(2));
    change(stream);
    for (const times of [1, 0, 0]) {
      const log = await archiveAll(stream, dir);
      expect(log).toHaveLength(times);
      expect(log.join()).not.toContain('error');
    }
    stream.publish(storedLines('2026-03-03', 5));
    stream.remove(30);
    stream.expire(40);
    expect(await archiveAll(stream, dir)).toStrictEqual([]);
  });

  it('archives the messages that a deposed leader lacked even if another program removes the file meanwhile', async () => {
    const lines = storedLines(DAY, 30);
    const { stream, dir, file } = scene(lines);
    hide(stream, 11, 20);
    const ask = stream.next.bind(stream);
    stream.next = async (sequence) => {
      stream.hidden.clear();
      if (sequence === 11) fs.rmSync(file, { force: true });
      return ask(sequence);
    };
    const log = await archiveAll(stream, dir);
    expect(log.filter((line) => /missing|removed/.test(line))).toStrictEqual([
      expect.stringContaining(`View file "${NAME}" was removed`),
    ]);
    expectArchived(dir, lines.slice(10, 20));
  });

  it('logs no error if the stream is restored with the same messages', async () => {
    const { stream, dir } = scene();
    await archiveAll(stream, dir);
    const lost = stream.lose(40);
    stream.publish(lost);
    expect(await archiveAll(stream, dir)).toStrictEqual([]);
    expectArchived(dir, LINES);
  });

  it('logs many gaps in one line', async () => {
    const { stream, dir } = scene(storedLines(DAY, 400));
    for (let sequence = 2; sequence <= 400; sequence += 2) stream.remove(sequence);
    const [line, ...others] = await archiveAll(stream, dir);
    expect(others).toStrictEqual([]);
    expect(line).toContain(
      '200 messages of stream "VIEWS" between 2 and 400, in 200 ranges, were deleted',
    );
  });
});

describe('an archive of a stream that has an id twice', () => {
  it('writes the view once, even after a crash between reading and writing it', async () => {
    const { stream, dir } = scene();
    await archiveAll(stream, dir);
    const record = recordIn(dir)!;
    fs.writeFileSync(recordPath(dir), JSON.stringify({ ...record, files: { [NAME]: 0 } }));
    stream.publish(storedLines(DAY, 31).slice(30));
    const stop = new AbortController();
    const { archive, running } = archiveOf(stream, { dir, once: false, stop: stop.signal });
    await until(() => archive.sequence === 61);
    stream.publish(LINES.slice(0, 10));
    await until(() => archive.sequence === 71);
    stop.abort();
    await running;
    expect(archive.state().lines).toBe(1);
  });

  it('still recognises an id after as many other ids as it must remember', () => {
    const recent = new RecentIds(3);
    for (const id of ['a', 'b', 'c', 'd']) expect(recent.add(id)).toBe(true);
    for (const id of ['b', 'c', 'd']) expect(recent.add(id)).toBe(false);
    for (const id of ['e', 'f', 'g', 'a']) expect(recent.add(id)).toBe(true);
    // Each repetition of the id starts the count again.
    for (const id of ['e', 'h', 'i', 'j']) recent.add(id);
    expect(recent.add('e')).toBe(false);
  });
});

it('an archive ignores messages of other subjects and reports no gap for them', async () => {
  const { stream, dir } = scene(LINES.slice(0, 20));
  stream.publish(LINES.slice(0, 5), 'refused.1');
  stream.publish(LINES.slice(20), 'views.2');
  expect(await archiveAll(stream, dir)).toStrictEqual([]);
  expectArchived(dir, LINES);
});

describe('an archive', () => {
  it.each<[string, (file: string, size: number) => void]>([
    ['cut short', (file, size) => fs.truncateSync(file, size - 1)],
    ['emptied', (file) => fs.truncateSync(file)],
  ])('logs an error for a view file that was %s, until its day is restored', async (_, cut) => {
    const { stream, dir, file, size } = scene();
    await archiveAll(stream, dir);
    const whole = size();
    cut(file, whole);
    const left = size();
    const more = storedLines(DAY, 34).slice(30);
    for (let time = 0; time < 2; time++) {
      // Only a named day is restored, and later views of the day don't hide the fault.
      stream.publish(more.slice(2 * time, 2 * time + 2));
      const { archive, running, log } = archiveOf(stream, { dir });
      await running;
      expect(log.lines.filter((line) => line.startsWith('error'))).toStrictEqual([
        expect.stringMatching(
          `View file "${NAME}" was cut short .*stop the archive, then .* --restore ${DAY}$`,
        ),
      ]);
      expect(archive.state().shortened).toStrictEqual([NAME]);
    }
    expect(size()).toBeLessThan(left + whole / 4);
    expect((await restore(stream, dir)).at(-1)).toMatch(
      /^info: Restored \d+ views? from 2026-03-01/,
    );
    expectArchived(dir, [...LINES, ...more], 1);
    const restored = fs.readFileSync(file);
    expect(await archiveAll(stream, dir)).toStrictEqual([]);
    await restore(stream, dir);
    expect(fs.readFileSync(file)).toStrictEqual(restored);
  });

  it('warns about a removed view file unless it was compressed or is old; a restore brings its day back', async () => {
    const { stream, dir, file } = scene();
    await archiveAll(stream, dir);
    fs.renameSync(file, `${file}.gz`);
    expect(await archiveAll(stream, dir)).toStrictEqual([]);
    await expect(restore(stream, dir)).rejects.toMatchObject({ exitCode: 65 });
    fs.renameSync(`${file}.gz`, file);
    await restore(stream, dir);
    fs.rmSync(file);
    const old = archiveOf(stream, { dir, keepDays: 3 });
    await old.running;
    expect(old.log.lines).toStrictEqual([]);
    await restore(stream, dir);
    expectArchived(dir, LINES);
    fs.rmSync(file);
    expect(await archiveAll(stream, dir)).toStrictEqual([
      expect.stringMatching(
        `^warn: View file "${NAME}" was removed .*stop the archive, then .* --restore ${DAY}$`,
      ),
    ]);
    expect(fs.existsSync(file)).toBe(false);
  });

  it('reports a view file that was cut short, even if the first checks fail and the stream was created again', async () => {
    const { stream, dir, file, size } = scene();
    await archiveAll(stream, dir);
    fs.truncateSync(file, size() - 1);
    stream.recreate();
    let failures = 2;
    const stat: typeof systemFiles.stat = async (path) => {
      if (path === file && failures-- > 0) throw new Error('EIO');
      return systemFiles.stat(path);
    };
    const { archive, running } = archiveOf(stream, { dir, files: { ...systemFiles, stat } });
    await running;
    expect(archive.state().shortened).toStrictEqual([NAME]);
  });

  it('restores a day even if the restore is interrupted and the stream has lost some of the views', async () => {
    const { stream, dir, file } = scene();
    await archiveAll(stream, dir);
    fs.truncateSync(file);
    await archiveAll(stream, dir);
    stream.expire(11);
    let left = 12;
    const stopping = new AbortController();
    stream.answering = async () => {
      if (left-- === 0) stopping.abort();
      if (left === 8) stream.disconnect();
      if (left === 4) throw new Error('no leader');
    };
    await restore(stream, dir, stopping);
    expect(recordIn(dir)!.shortened).toStrictEqual([NAME]);
    stream.answering = async () => {};
    await restore(stream, dir);
    expectArchived(
      dir,
      LINES.filter((line, i) => i >= 10 || !line.includes(`"${DAY}`)),
    );
    expect(recordIn(dir)!.shortened).toStrictEqual([]);
  });
});
