import { execFileSync } from 'node:child_process';
import * as fs from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { type ArchiveRecord, readRecord } from '../../src/archive/archive-record.ts';
import { Archiver } from '../../src/archive/archiver.ts';
import { findLine } from '../../src/archive/find-line.ts';
import { FaultyDisk } from '../support/faulty-disk.ts';
import { memoryLog } from '../support/memory-log.ts';
import { storedLines } from '../support/stored-lines.ts';
import { linesOfDays, messagesOf } from '../support/stream.ts';
import { tempDir } from '../support/temp-dir.ts';
import { until } from '../support/viewlog.ts';

// The record of an archive in the hands of others: cut off, changed, put back from a backup.

const DAYS = ['2026-03-01', '2026-03-02'];
const LINES = linesOfDays(DAYS, 20);
const textOf = (day: string): string =>
  LINES.filter((line) => line.startsWith(`{"ts":"${day}`))
    .map((line) => `${line}\n`)
    .join('');

function open(dir = tempDir()) {
  const disk = new FaultyDisk();
  onTestFinished(() => disk.closeAll());
  const files = disk.mount();
  const record = readRecord(dir) ?? { stream: 'VIEWS', created: 'then', sequence: 0 };
  const log = memoryLog();
  const stop = new AbortController().signal;
  const timing = { retryMs: 1, retryMaxMs: 5 };
  const archiver = new Archiver({ dir, record, minFreeBytes: 0, log, stop, files, timing });
  const take = async (from: number, to: number): Promise<void> => {
    await archiver.take(messagesOf(LINES.slice(from, to), from + 1));
  };
  const rest = (): Promise<void> => take(archiver.taken, LINES.length);
  return { dir, disk, files, log, archiver, take, rest, path: join(dir, 'archive.json') };
}

/** An archive that has died when the lines of a batch were written, and not recorded as done. */
async function dead() {
  const { dir, disk, files, take, path } = open();
  await take(0, 10);
  await new Promise<void>((resolve) => {
    disk.fault = (operation, name) => {
      if (operation !== 'fdatasync' || !name.endsWith('.ndjson')) return undefined;
      files.freeze();
      resolve();
      return undefined;
    };
    void take(10, 20);
  });
  return { dir, path, record: readRecord(dir)! };
}

const read = (dir: string): string[] =>
  DAYS.map((day) => fs.readFileSync(join(dir, `views-${day}.ndjson`), 'utf8'));

/** What an operator who changes the record may leave of it. */
const write = (path: string, record: ArchiveRecord): void =>
  fs.writeFileSync(path, JSON.stringify(record));

describe('the record of an archive', () => {
  it('that is cut off, at any byte, is an error', async () => {
    const { dir, path } = await dead();
    const text = fs.readFileSync(path, 'utf8').trimEnd();
    for (let length = 0; length < text.length; length++) {
      fs.writeFileSync(path, text.slice(0, length));
      expect(() => readRecord(dir)).toThrow(
        /^".*" is not an archive's record: .{1,250}; put it back as it was[^\n]*$/,
      );
    }
  });

  it('that is a FIFO is an error, and not waited for', () => {
    const { dir, path } = open();
    execFileSync('mkfifo', [path]);
    expect(() => readRecord(dir)).toThrow(/Cannot read ".*archive.json": it is no regular file/);
  });

  it('waits while a FIFO is where it is written anew', async () => {
    const { archiver, dir, path, log, rest } = open();
    execFileSync('mkfifo', [`${path}.new`]);
    const taking = rest();
    await until(() => archiver.state().unavailable);
    expect(log.lines.join()).toMatch(/archive\.json\.new" is in the way.*move it away/);
    fs.rmSync(`${path}.new`);
    await taking;
    expect(read(dir)).toStrictEqual(DAYS.map(textOf));
  });

  it.each([
    ['before the first message', 0],
    ['within the first batch', 5],
    ['after the first batch', 10],
    ['one message back', 19],
  ])('that was put back as it was %s: nothing is written twice', async (_, sequence) => {
    const first = open();
    await first.take(0, 10);
    await first.take(10, 20);
    const { id: __, ...record } = readRecord(first.dir)!;
    const { id } = JSON.parse(LINES[sequence - 1] ?? '{}') as { id?: string };
    write(first.path, { ...record, sequence, ...(id !== undefined && { id }) });
    const { dir, log, take, rest } = open(first.dir);
    // In portions of any size, as they come.
    await take(sequence, sequence + 3);
    await rest();
    expect(read(dir)).toStrictEqual(DAYS.map(textOf));
    expect(log.lines).toStrictEqual([
      expect.stringMatching(/^warn: ".*\.ndjson" has views of .* "archive\.json" knows nothing/),
    ]);
    const after = open(dir);
    expect(after.archiver.sequence).toBe(LINES.length);
    expect(readRecord(dir)).not.toHaveProperty('doubtfulTo');
  });

  it('whose sequence was set back by hand, without its id: nothing is written twice', async () => {
    const first = open();
    await first.take(0, 20);
    const { id: _, ...record } = readRecord(first.dir)!;
    write(first.path, { ...record, sequence: 8 });
    await open(first.dir).rest();
    expect(read(first.dir)).toStrictEqual(DAYS.map(textOf));
  });

  it('without the batch that was being written: nothing is written twice', async () => {
    const { dir, path, record } = await dead();
    const { writing: _, ...rest } = record;
    write(path, rest);
    await open(dir).rest();
    expect(read(dir)).toStrictEqual(DAYS.map(textOf));
  });

  it('with a smaller batch than was being written: nothing is written twice', async () => {
    const { dir, path, record } = await dead();
    write(path, { ...record, writing: { ...record.writing!, to: 14 } });
    await open(dir).rest();
    expect(read(dir)).toStrictEqual(DAYS.map(textOf));
  });

  it.each([0, 1_000_000_000, 'as they are'])(
    'with sizes of %s: nothing is written twice',
    async (size) => {
      const { dir, path, record } = await dead();
      const files = Object.fromEntries(
        Object.keys(record.writing!.files).map((name) => [
          name,
          typeof size === 'number' ? size : fs.statSync(join(dir, name)).size,
        ]),
      );
      write(path, { ...record, writing: { ...record.writing!, files } });
      await open(dir).rest();
      expect(read(dir)).toStrictEqual(DAYS.map(textOf));
    },
  );

  it('is believed where views come again: a batch begun, and none of it written, is written', async () => {
    const first = open();
    await first.take(0, 40);
    const again = messagesOf(LINES, 41);
    await new Promise<void>((resolve) => {
      first.disk.fault = (operation, name) => {
        if (operation !== 'write' || !name.endsWith('.ndjson')) return undefined;
        first.files.freeze();
        resolve();
        return { shortBytes: 0 };
      };
      void first.archiver.take(again);
    });
    expect(readRecord(first.dir)).toHaveProperty('writing.to', 80);
    const { archiver, dir } = open(first.dir);
    await archiver.take(again);
    expect(read(dir)).toStrictEqual(DAYS.map((day) => textOf(day).repeat(2)));
  });

  it('is not asked for what is right: a start after a stop, and a message that comes twice', async () => {
    const first = open();
    await first.take(0, 20);
    await first.archiver.close();
    const { archiver, rest, dir } = open(first.dir);
    await archiver.take(messagesOf([LINES[19]!], 21));
    const [, second] = read(dir);
    expect(second!.endsWith(`${LINES[19]!}\n${LINES[19]!}\n`)).toBe(true);
    await rest();
    expect(read(dir).join('').split('\n')).toHaveLength(LINES.length - 1 + 1 + 1);
  });
});

it('a line is found in a large file, wherever it stands, and not where only older ones do', async () => {
  const path = join(tempDir(), 'views');
  const piece = 4 * 1024 * 1024;
  const lines = storedLines('2026-03-01', 20_000);
  const bytes = Buffer.byteLength(`${lines[0]!}\n`);
  // The last piece of the file begins within the head of this line.
  const across = 2_000;
  const size = across * bytes + 30 + piece;
  const count = Math.floor(size / bytes) - 1;
  const [last] = storedLines('2026-03-01', 1, { pn: '' });
  const pn = 'x'.repeat(size - count * bytes - Buffer.byteLength(`${last!}\n`));
  const all = [...lines.slice(0, count), storedLines('2026-03-01', count + 1, { pn }).at(-1)!];
  fs.writeFileSync(path, all.map((line) => `${line}\n`).join(''));
  expect(fs.statSync(path).size).toBe(size);
  const find = (line: string) => findLine(path, Buffer.from(line));
  for (const at of [0, 1, across - 1, across, across + 1, count - 1]) {
    expect([at, await find(all[at]!)]).toStrictEqual([at, 'within']);
  }
  expect(await find(all.at(-1)!)).toBe('last');
  expect(await find(storedLines('2026-03-02', 1)[0]!)).toBe('nowhere');
  expect(await findLine(`${path}.none`, Buffer.from(lines[0]!))).toBe('nowhere');
});
