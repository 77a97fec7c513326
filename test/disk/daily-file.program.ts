import { execFileSync } from 'node:child_process';
import * as fs from 'node:fs';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { NoRegularFile, openDailyFile } from '../../src/disk/daily-file.ts';
import { systemFiles } from '../../src/disk/ops.ts';
import { FaultyDisk } from '../support/faulty-disk.ts';
import { tempDir } from '../support/temp-dir.ts';

async function openFile(before?: string) {
  const dir = tempDir();
  const path = join(dir, 'views-2026-03-01.ndjson');
  if (before !== undefined) fs.writeFileSync(path, before);
  const disk = new FaultyDisk();
  onTestFinished(() => disk.closeAll());
  const sealed: string[] = [];
  const file = await openDailyFile({
    kind: 'views',
    dir,
    day: '2026-03-01',
    files: disk.mount(),
    onSealed: (path) => sealed.push(path),
  });
  return { path, disk, file, sealed, text: () => fs.readFileSync(path, 'utf8') };
}

describe('a daily file', () => {
  test('is made under its final name, for append', async () => {
    const { file, path, text } = await openFile();
    expect([file.path, file.day, file.size()]).toEqual([path, '2026-03-01', 0]);
    fs.appendFileSync(path, 'from elsewhere\n');
    expect(await file.append(Buffer.from('{}\n'))).toEqual({ lineBytes: 3 });
    expect(text()).toBe('from elsewhere\n{}\n');
  });

  test('keeps the mode that somebody gave it', async () => {
    const dir = tempDir();
    const path = join(dir, 'views-2026-03-01.ndjson');
    fs.writeFileSync(path, '', { mode: 0o600 });
    const file = await openIn(dir);
    expect((fs.statSync(path).mode & 0o777).toString(8)).toBe('600');
    await file.close();
  });

  test('that ends in half a line is owed a newline, written with the first append', async () => {
    const { file, text, sealed, path } = await openFile('{}\n{"ha');
    expect([file.owes(), file.isTorn(), sealed]).toEqual([true, true, []]);
    expect(await file.append(Buffer.from('{}\n'))).toEqual({ lineBytes: 3 });
    expect(text()).toBe('{}\n{"ha\n{}\n');
    expect([file.owes(), file.isTorn(), sealed]).toEqual([false, false, [path]]);
    expect(file.size()).toBe(text().length);
  });

  test('is owed the rest of the line that a full disk cut, and nothing of the next', async () => {
    const { file, disk, text } = await openFile();
    disk.roomBytes = 6;
    const lines = Buffer.from('{"a":1}\n{"b":2}\n');
    expect(await file.append(lines)).toMatchObject({ lineBytes: 0, error: { code: 'ENOSPC' } });
    // The caller may use its buffer again.
    lines.fill('x');
    expect([text(), file.owes(), file.isTorn()]).toEqual(['{"a":1', true, true]);
    disk.roomBytes = 1;
    expect(await file.append(Buffer.from('{"c":3}\n'))).toMatchObject({ lineBytes: 0 });
    expect([text(), file.owes(), file.isTorn()]).toEqual(['{"a":1}', true, true]);
    disk.roomBytes = 100;
    expect(await file.append(Buffer.from('{"c":3}\n'))).toEqual({ lineBytes: 8 });
    expect([text(), file.owes()]).toEqual(['{"a":1}\n{"c":3}\n', false]);
  });

  test('cut at the end of a line is owed the whole next one, and not torn', async () => {
    const { file, disk, text } = await openFile();
    disk.roomBytes = 8;
    const progress = await file.append(Buffer.from('{"a":1}\n{"b":2}\n{"c":3}\n'));
    expect(progress).toMatchObject({ lineBytes: 8 });
    expect([text(), file.owes(), file.isTorn()]).toEqual(['{"a":1}\n', true, false]);
    disk.roomBytes = 100;
    await file.append(new Uint8Array(0));
    expect(text()).toBe('{"a":1}\n{"b":2}\n');
  });

  test('is never a FIFO that got there between the look and the opening', async () => {
    const dir = tempDir();
    execFileSync('mkfifo', [join(dir, 'views-2026-03-01.ndjson')]);
    const files = {
      ...systemFiles,
      stat: () => Promise.resolve(fs.statSync(import.meta.filename)),
    };
    const opened = openDailyFile({
      kind: 'views',
      dir,
      day: '2026-03-01',
      files,
      onSealed: () => {},
    });
    await expect(opened).rejects.toThrow(NoRegularFile);
  });

  test('knows when its path names something else', async () => {
    const { file, path } = await openFile('{}\n');
    expect(await file.whereabouts()).toBe('here');
    fs.renameSync(path, `${path}.1`);
    expect(await file.whereabouts()).toBe('moved');
    fs.copyFileSync(`${path}.1`, path);
    expect(await file.whereabouts()).toBe('moved');
    fs.rmSync(path);
    fs.renameSync(`${path}.1`, path);
    expect(await file.whereabouts()).toBe('here');
    fs.truncateSync(path, 2);
    expect(await file.whereabouts()).toBe('shrunk');
  });
});

const openIn = (dir: string) =>
  openDailyFile({
    kind: 'views',
    dir,
    day: '2026-03-01',
    files: new FaultyDisk().mount(),
    onSealed: () => {},
  });
