import { execFileSync } from 'node:child_process';
import * as fs from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { Archiver, type ArchiverOptions } from '../../src/archive/archiver.ts';
import { RECENT_MAX } from '../../src/archive/recent-messages.ts';
import { type ArchiveRecord, readRecord } from '../../src/archive/archive-record.ts';
import { StoppedWaiting } from '../../src/archive/until-room.ts';
import { FaultyDisk, type Operation } from '../support/faulty-disk.ts';
import { memoryLog } from '../support/memory-log.ts';
import { storedLines } from '../support/stored-lines.ts';
import { linesOfDays, messagesOf } from '../support/stream.ts';
import { tempDir } from '../support/temp-dir.ts';
import { until } from '../support/viewlog.ts';

const NEW: ArchiveRecord = { stream: 'VIEWS', created: 'then', sequence: 0 };
const QUICK = { retryMs: 1, retryMaxMs: 5 };
const DAY = '2026-03-01';
const NAME = `views-${DAY}.ndjson`;
const LINES = storedLines(DAY, 10);
const text = (lines: readonly string[]): string => lines.map((line) => `${line}\n`).join('');

function open(dir = tempDir(), options: Partial<ArchiverOptions> = {}) {
  const log = memoryLog();
  const stopping = new AbortController();
  const disk = new FaultyDisk();
  onTestFinished(() => disk.closeAll());
  const files = disk.mount();
  const record = readRecord(dir) ?? NEW;
  const archiver = new Archiver({
    dir,
    record,
    minFreeBytes: 0,
    log,
    stop: stopping.signal,
    files,
    timing: QUICK,
    ...options,
  });
  const read = (name = NAME): string => fs.readFileSync(join(dir, name), 'utf8');
  return { dir, log, stopping, disk, files, archiver, read };
}

type Opened = ReturnType<typeof open>;

/** Begins to take the messages, and dies at the given operation on a file of that name. */
async function dieAt(opened: Opened, operation: Operation, name: string, lines = LINES, first = 1) {
  const { disk, files, archiver } = opened;
  await new Promise<void>((resolve) => {
    disk.fault = (now, path) => {
      if (now !== operation || !path.endsWith(name)) return undefined;
      files.freeze();
      resolve();
      return undefined;
    };
    void archiver.take(messagesOf(lines, first));
  });
}

/** From the first write to the view file on, there is room for so many bytes. */
function fillAt(disk: FaultyDisk, bytes: number): void {
  disk.fault = (operation, path) => {
    if (operation !== 'write' || !path.endsWith(NAME)) return undefined;
    disk.roomBytes = bytes;
    disk.fault = () => undefined;
    return undefined;
  };
}

describe('an archiver', () => {
  it('writes each line to the file of its day, byte for byte and in order', async () => {
    const { archiver, dir, read } = open();
    const days = ['2026-03-02', '2026-02-28', DAY];
    const lines = linesOfDays(days, 5);
    await archiver.take(messagesOf(lines.slice(0, 7)));
    await archiver.take(messagesOf(lines.slice(7), 8));
    for (const day of days) {
      expect(read(`views-${day}.ndjson`)).toBe(text(storedLines(day, 5)));
      expect(fs.statSync(join(dir, `views-${day}.ndjson`)).mode & 0o777).toBe(0o640);
    }
    const id = (JSON.parse(lines.at(-1)!) as { id: string }).id;
    expect(readRecord(dir)).toStrictEqual({ ...NEW, sequence: 15, id });
    expect(fs.readFileSync(join(dir, 'archive.json'), 'utf8')).toContain('\n  "sequence": 15,\n');
    expect(archiver.state()).toMatchObject({ sequence: 15, lines: 15, batches: 2, lost: 0 });
  });

  it('writes a batch in one go for each file, and syncs it before it is recorded as done', async () => {
    const { archiver, disk } = open();
    const done: string[] = [];
    disk.fault = (operation, path) => {
      const name = path.split('/').at(-1)!;
      if (['write', 'fdatasync', 'rename'].includes(operation)) done.push(`${operation} ${name}`);
      return undefined;
    };
    await archiver.take(messagesOf(linesOfDays([DAY, '2026-03-02'], 100)));
    const record = [
      'write archive.json.new',
      'fdatasync archive.json.new',
      'rename archive.json.new',
    ];
    expect(done).toStrictEqual([
      ...record,
      `write ${NAME}`,
      'write views-2026-03-02.ndjson',
      `fdatasync ${NAME}`,
      'fdatasync views-2026-03-02.ndjson',
      ...record,
    ]);
  });

  it('writes nothing twice that a process wrote before it died', async () => {
    const first = open();
    await dieAt(first, 'fdatasync', NAME);
    expect(first.read()).toBe(text(LINES));
    const second = open(first.dir);
    expect(second.archiver.sequence).toBe(0);
    // In other portions than the first time: they wait for each other.
    await second.archiver.take(messagesOf(LINES.slice(0, 4)));
    expect([second.archiver.sequence, second.archiver.taken]).toStrictEqual([0, 4]);
    await second.archiver.take(messagesOf(LINES.slice(4), 5));
    await second.archiver.take(messagesOf(storedLines('2026-03-02', 1), 11));
    expect(second.read()).toBe(text(LINES));
    expect(readRecord(first.dir)).toMatchObject({ sequence: 11 });
  });

  it('completes the line that a process was writing when it died, to the byte', async () => {
    const first = open();
    await dieAt(first, 'write', NAME);
    const half = text(LINES).slice(0, text(LINES.slice(0, 3)).length + 100);
    fs.writeFileSync(join(first.dir, NAME), half);
    const { archiver, log, read } = open(first.dir);
    await archiver.start();
    expect(read()).toBe(half);
    await archiver.take(messagesOf(LINES));
    expect(read()).toBe(text(LINES));
    expect(log.lines).toStrictEqual([]);
  });

  it.each([
    ['NULs', `${LINES[0]!}\n${LINES[1]!.slice(0, 50)}\0\0\0`],
    ['another’s half line', `${LINES[0]!}\n{"some`],
    ['another’s lines', `${LINES[0]!}\n{"some":1}\n`],
    ['a page that was lost', `${'\0'.repeat(500)}${LINES[3]!.slice(7)}\n${LINES[4]!}\n`],
  ])('finds its lines whatever a crash left between them: %s', async (_, left) => {
    const first = open();
    await dieAt(first, 'write', NAME);
    fs.writeFileSync(join(first.dir, NAME), left);
    const { archiver, read } = open(first.dir);
    await archiver.take(messagesOf(LINES));
    expect(read().startsWith(left)).toBe(true);
    expect(read().endsWith('\n')).toBe(true);
    const lines = read().split('\n');
    for (const line of LINES) expect(lines.filter((one) => one === line)).toHaveLength(1);
  });

  it('writes a batch again whose file has been moved away, and says so', async () => {
    const first = open();
    await first.archiver.take(messagesOf(LINES.slice(0, 5)));
    await dieAt(first, 'fdatasync', NAME);
    fs.renameSync(join(first.dir, NAME), join(first.dir, 'moved'));
    const { archiver, log, read } = open(first.dir);
    await archiver.take(messagesOf(LINES));
    expect(read()).toBe(text(LINES.slice(5)));
    expect(log.lines.join()).toMatch(/has been moved.*messages 6 to 10 may be there and here/);
  });

  it('opens a file anew that somebody has moved, and goes on in it', async () => {
    const { archiver, dir, log, read } = open();
    await archiver.take(messagesOf(LINES.slice(0, 5)));
    fs.renameSync(join(dir, NAME), join(dir, 'moved'));
    await archiver.checkDisk();
    await archiver.take(messagesOf(LINES.slice(5), 6));
    expect([read('moved'), read()]).toStrictEqual([text(LINES.slice(0, 5)), text(LINES.slice(5))]);
    expect(log.lines).toHaveLength(1);
  });

  it('waits while a FIFO is in the file’s place, and seals what is older meanwhile', async () => {
    const { archiver, dir, log, read } = open();
    const older = 'views-2026-02-11.ndjson';
    fs.writeFileSync(join(dir, older), '{"ts":"2026');
    execFileSync('mkfifo', [join(dir, NAME)]);
    await archiver.start();
    expect(read(older)).toBe('{"ts":"2026\n');
    const taking = archiver.take(messagesOf(LINES));
    await until(() => archiver.state().unavailable);
    expect(log.lines.at(-1)).toMatch(/^error: Cannot open ".*" for writing: it is no regular file/);
    fs.rmSync(join(dir, NAME));
    await taking;
    expect(read()).toBe(text(LINES));
  });

  it('waits for the file itself where a process was writing that and a FIFO is in its place', async () => {
    const first = open();
    await dieAt(first, 'fdatasync', NAME);
    const path = join(first.dir, NAME);
    fs.renameSync(path, `${path}.moved`);
    execFileSync('mkfifo', [path]);
    const { archiver, log, read } = open(first.dir);
    await archiver.start();
    const taking = archiver.take(messagesOf(LINES));
    await until(() => archiver.state().unavailable);
    fs.renameSync(`${path}.moved`, path);
    await taking;
    expect(read()).toBe(text(LINES));
    expect(log.lines.filter((line) => line.includes('emptied'))).toHaveLength(0);
  });

  it('knows where its lines are when a file is replaced in the middle of a batch', async () => {
    const first = open();
    await first.archiver.take(messagesOf(LINES.slice(0, 1)));
    fillAt(first.disk, 500);
    const { files } = first;
    void first.archiver.take(messagesOf(LINES.slice(1), 2));
    await until(() => first.archiver.state().unavailable === 'the disk is full');
    let syncs = 0;
    const frozen = new Promise<void>((resolve) => {
      first.disk.fault = (operation, path) => {
        // The second is that of the new file, whose lines are all written.
        if (operation !== 'fdatasync' || !path.endsWith(NAME) || ++syncs < 2) return undefined;
        files.freeze();
        resolve();
        return undefined;
      };
    });
    fs.renameSync(join(first.dir, NAME), join(first.dir, 'moved'));
    // An attempt under way may still be at the old one.
    await until(() => fs.existsSync(join(first.dir, NAME)));
    first.disk.roomBytes = Infinity;
    await frozen;
    const { archiver, read } = open(first.dir);
    await archiver.take(messagesOf(LINES.slice(1), 2));
    const lines = read().split('\n').slice(0, -1);
    expect(lines.toSorted()).toStrictEqual(LINES.slice(1));
    expect(read('moved').startsWith(text(LINES.slice(0, 2)))).toBe(true);
  });

  it('goes on to the byte when a full disk has space, and is not ready until then', async () => {
    const { archiver, disk, log, read } = open();
    fillAt(disk, 500);
    const taking = archiver.take(messagesOf(LINES));
    await until(() => archiver.state().unavailable);
    expect(archiver.state().unavailable).toBe('the disk is full');
    expect(Buffer.from(text(LINES)).subarray(0, 500).equals(Buffer.from(read()))).toBe(true);
    disk.roomBytes = Infinity;
    await taking;
    expect(read()).toBe(text(LINES));
    expect(archiver.state().unavailable).toBeUndefined();
    expect(log.lines).toHaveLength(2);
  });

  it('told to stop while the disk is full, leaves half a line that the next start completes', async () => {
    const { archiver, dir, disk, stopping, read } = open();
    fillAt(disk, 500);
    const taking = archiver.take(messagesOf(LINES));
    await until(() => archiver.state().unavailable);
    stopping.abort();
    await expect(taking).rejects.toThrow(StoppedWaiting);
    await expect(archiver.close()).rejects.toMatchObject({
      exitCode: 74,
      message: expect.stringContaining('the next start completes it'),
    });
    const next = open(dir);
    await next.archiver.take(messagesOf(LINES));
    expect(read()).toBe(text(LINES));
  });

  it('waits below --min-free, and for a record that cannot be written', async () => {
    const { archiver, disk, log } = open(undefined, { minFreeBytes: 10_000 });
    disk.roomBytes = 5000;
    await archiver.start();
    const taking = archiver.take(messagesOf(LINES));
    expect(archiver.state().unavailable).toBe('too little free disk space');
    disk.roomBytes = 1_000_000;
    await taking;
    expect(log.lines[0]).toMatch(/below --min-free .*; archiving waits/);
    disk.fault = (operation, path) =>
      operation === 'open' && path.includes('archive.json') ? { errno: 'EROFS' } : undefined;
    const more = archiver.take(messagesOf(storedLines('2026-03-02', 1), 11));
    await until(() => archiver.state().unavailable);
    expect(archiver.state().unavailable).toBe("the archive's record cannot be written");
    disk.fault = () => undefined;
    await more;
    expect(archiver.sequence).toBe(11);
  });

  it.each(['fdatasync', 'fsync'] as const)('ends with exit code 74 when %s fails', async (sync) => {
    const { archiver, disk } = open();
    disk.fault = (operation) => (operation === sync ? { errno: 'ENOSPC' } : undefined);
    await expect(archiver.take(messagesOf(LINES))).rejects.toMatchObject({ exitCode: 74 });
    expect(archiver.sequence).toBe(0);
  });

  it('ends the half line of another writer in the newest file', async () => {
    const dir = tempDir();
    fs.writeFileSync(join(dir, NAME), `${LINES[0]!}\n{"ts":"`);
    const { archiver, read, log } = open(dir);
    await archiver.start();
    expect(read()).toBe(`${LINES[0]!}\n{"ts":"\n`);
    expect(log.lines).toHaveLength(1);
  });

  it('has at most so many files open, in batches of as many days', async () => {
    const days = Array.from({ length: 40 }, (_, i) =>
      new Date(Date.parse('2026-01-01') + i * 86_400_000).toISOString().slice(0, 10),
    );
    const { archiver, disk, read } = open();
    let openMax = 0;
    disk.fault = () => {
      openMax = Math.max(openMax, archiver.state().paths.length);
      return undefined;
    };
    await archiver.take(messagesOf(linesOfDays(days, 3)));
    expect(archiver.state().paths).toHaveLength(16);
    // Those of the batch before are closed after it.
    expect(openMax).toBe(32);
    for (const day of days) expect(read(`views-${day}.ndjson`)).toBe(text(storedLines(day, 3)));
  });
});

describe('messages that are no views', () => {
  const [line = ''] = LINES;
  const bad: [string, string | Buffer, string][] = [
    ['nothing', '', 'does not start with ts and id'],
    ['text', 'hello', 'does not start with ts and id'],
    ['an object without ts', '{"a":1}', 'does not start with ts and id'],
    ['a day that is none', line.replace(DAY, '2026-02-30'), 'has no real ts'],
    ['an hour that is none', line.replace('T00', 'T24'), 'has no real ts'],
    ['a newline inside', line.replace(',', ',\n'), 'has a line break'],
    ['a newline at the end', `${line}\n`, 'has a line break'],
    ['a carriage return', `${line}\r`, 'has a line break'],
    ['half a view', line.slice(0, -1), 'is not JSON'],
    ['two views', `${line},${line}`, 'is not JSON'],
    [
      'bytes that are no text',
      Buffer.from(`${line.slice(0, -2)}\u00ff"}`, 'latin1'),
      'is not UTF-8',
    ],
    ['more than the longest line', line.replace('Home', 'x'.repeat(1024 * 1024)), 'bytes'],
  ];

  it.each(bad)('are passed over and told: %s', async (_, payload, why) => {
    const { archiver, read, log } = open();
    const messages = messagesOf(LINES);
    messages.splice(4, 1, { sequence: 5, payload: Buffer.from(payload) });
    await archiver.take(messages);
    expect(read()).toBe(text(LINES.toSpliced(4, 1)));
    expect(log.lines).toHaveLength(1);
    expect(log.lines[0]).toContain(
      'error: Skipped 1 message of the stream that no collector wrote: 5 (',
    );
    expect(log.lines[0]).toContain(why);
    expect(archiver.state()).toMatchObject({ skipped: 1, lines: 9, sequence: 10 });
  });

  it('take the longest line that a collector can be set to', async () => {
    const { archiver, read } = open();
    const longest = line.replace('Home', 'x'.repeat(1024 * 1024 - 1 - Buffer.byteLength(line) + 4));
    await archiver.take(messagesOf([longest]));
    expect(Buffer.byteLength(read())).toBe(1024 * 1024);
  });

  it('keep fields that this version does not know', async () => {
    const { archiver, read } = open();
    await archiver.take(messagesOf([line.replace('"pn"', '"new"')]));
    expect(read()).toBe(`${line.replace('"pn"', '"new"')}\n`);
  });

  it('names ten of many', async () => {
    const { archiver, log } = open();
    await archiver.take(messagesOf(Array.from({ length: 12 }, () => 'x')));
    expect(log.lines).toHaveLength(1);
    expect(log.lines[0]).toMatch(/12 messages .*: 1 \(.*, 10 \([^)]*\), …$/);
  });
});

describe('an archiver whose servers have lost messages', () => {
  const NEXT = storedLines('2026-03-02', 3);
  const idOf = (line: string): string => (JSON.parse(line) as { id: string }).id;
  const loss = (sequence: number, to = 10) => ({
    position: { sequence, id: idOf(LINES[sequence - 1]!) },
    to,
    ids: LINES.slice(sequence, to).map(idOf),
  });

  it('goes back, on the disk, and writes what is there now but nothing again', async () => {
    const first = open();
    await first.archiver.take(messagesOf(LINES));
    await first.archiver.goBack(loss(6));
    expect(readRecord(first.dir)).toMatchObject({ sequence: 6, id: idOf(LINES[5]!) });
    expect(first.log.lines).toStrictEqual([
      expect.stringMatching(/^error: The servers have lost messages 7 to 10 .* after message 6,/),
    ]);
    const now = [LINES[8]!, NEXT[0]!, LINES[6]!, NEXT[1]!];
    await first.archiver.take(messagesOf(now.slice(0, 1), 7));
    // Nor in the next life, in the middle of a batch or not.
    await dieAt(first, 'fdatasync', 'views-2026-03-02.ndjson', now.slice(1), 8);
    const { archiver, read, dir } = open(first.dir);
    await archiver.take(messagesOf(now.slice(1), 8));
    expect([read(), read('views-2026-03-02.ndjson')]).toStrictEqual([
      text(LINES),
      text(NEXT.slice(0, 2)),
    ]);
    expect(archiver.state()).toMatchObject({ sequence: 10, lost: 0, skipped: 0 });
    // Again, further back.
    await archiver.goBack({ ...loss(4, 6), to: 10 });
    await archiver.take(messagesOf([LINES[4]!, LINES[9]!, NEXT[2]!], 5));
    expect([read(), read('views-2026-03-02.ndjson')]).toStrictEqual([text(LINES), text(NEXT)]);
    expect(readRecord(dir)).toMatchObject({ sequence: 7, id: idOf(NEXT[2]!) });
  });

  it('forgets what they have lost once it is long past', async () => {
    const { archiver, dir } = open();
    await archiver.take(messagesOf(LINES));
    await archiver.goBack(loss(6));
    await archiver.take([{ sequence: 10 + RECENT_MAX - 1, payload: undefined }]);
    expect(readRecord(dir)?.kept?.ids).toHaveLength(4);
    await archiver.take([{ sequence: 10 + RECENT_MAX, payload: undefined }]);
    expect(readRecord(dir)?.kept).toBeUndefined();
  });
});

it('messages that the stream has lost are counted, told, and gone on after', async () => {
  const { archiver, log, read, dir } = open();
  const messages = messagesOf(LINES);
  await archiver.take([...messages.slice(2, 4), ...messages.slice(7)]);
  expect(read()).toBe(text([...LINES.slice(2, 4), ...LINES.slice(7)]));
  expect(archiver.state()).toMatchObject({ lost: 5, lines: 5 });
  expect(log.lines).toStrictEqual([
    expect.stringMatching(/^error: 2 messages \(1 to 2\) of the stream had been removed/),
    expect.stringMatching(/^error: 3 messages \(5 to 7\) of the stream had been removed/),
  ]);
  // Also those that a batch under way had.
  const dying = open(dir);
  await dieAt(dying, 'fdatasync', NAME, [...LINES, ...storedLines(DAY, 14).slice(10)]);
  const { archiver: next } = open(dir);
  await next.take(messagesOf(storedLines('2026-03-02', 2), 20));
  expect(next.state()).toMatchObject({ lost: 9, sequence: 21 });
});
