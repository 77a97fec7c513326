import * as fs from 'node:fs';
import { describe, expect, it } from 'vitest';
import { archiveAll, archiveOf, expectArchived, recordPath } from '../support/archived.ts';
import { dyingFiles, type DyingFiles, type Operation } from '../support/dying-files.ts';
import { storedLines } from '../support/stored-lines.ts';
import { linesOfDays, SimulatedStream } from '../support/stream.ts';
import { tempDir } from '../support/temp-dir.ts';

// An archive that dies at an operation, and is started again: each view once.

const LINES = linesOfDays(['2026-02-28', '2026-03-01'], 9);

function streamOf(lines: readonly string[], batch = 5): SimulatedStream {
  const stream = new SimulatedStream();
  stream.publish(lines);
  stream.batch = batch;
  return stream;
}

/** Runs until the process dies, or has come to the stream's end. */
async function live(stream: SimulatedStream, dir: string, files: DyingFiles): Promise<void> {
  const { running } = archiveOf(stream, { dir, files });
  await Promise.race([running, files.died]);
}

const VIEWS = /views-.*\.ndjson$/;
const isRecord = (path: string): boolean => path.includes('archive.json');

describe('an archive that dies', () => {
  const points: [string, Parameters<typeof dyingFiles>[0]][] = [
    ['before an append', at('write', VIEWS, 3, 'before')],
    ['in the middle of a line', at('write', VIEWS, 3, { bytes: 700 })],
    ['after an append', at('write', VIEWS, 3, 'after')],
    ['before a sync', at('fdatasync', VIEWS, 3, 'before')],
    ['after a sync', at('fdatasync', VIEWS, 4, 'after')],
    ['before the record is replaced', at('rename', /archive\.json$/, 3, 'before')],
    ['after the record is replaced', at('rename', /archive\.json$/, 3, 'after')],
  ];
  it.each(points)('%s writes each view once when it is started again', async (_, fate) => {
    const dir = tempDir();
    const stream = streamOf(LINES);
    const files = dyingFiles(fate);
    await live(stream, dir, files);
    const recorded = JSON.parse(fs.readFileSync(recordPath(dir), 'utf8')) as { sequence: number };
    expect(recorded.sequence).toBeLessThan(LINES.length);
    stream.batch = 4;
    await archiveAll(stream, dir);
    expectArchived(dir, LINES, 1);
  });

  /** Each of the first operations in turn, and again at others after that. */
  async function sweep(prepare: (dir: string) => Promise<SimulatedStream>, lines: string[]) {
    const whole = dyingFiles();
    const first = tempDir();
    await live(await prepare(first), first, whole);
    for (let number = 1; number <= whole.count(); number++) {
      const dir = tempDir();
      const stream = await prepare(dir);
      await live(
        stream,
        dir,
        dyingFiles((n) => (n === number ? 'after' : undefined)),
      );
      // Fewer messages at once, so that it records a position amid what is already in the files.
      stream.batch = 2;
      for (const again of [23, 41]) {
        await live(
          stream,
          dir,
          dyingFiles((n) => (n === again ? 'after' : undefined)),
        );
      }
      stream.batch = 5;
      await archiveAll(stream, dir);
      expectArchived(dir, lines);
      fs.rmSync(dir, { recursive: true });
    }
  }

  it('at any operation, again and again, writes each view once', async () => {
    await sweep(async () => streamOf(LINES), LINES);
  });

  it('again and again before its first record', async () => {
    const dir = tempDir();
    const stream = streamOf(LINES);
    for (let life = 0; life < 5; life++) {
      const dies = (_: number, operation: Operation, path: string) =>
        operation === 'fdatasync' && VIEWS.test(path) && life % 2 === 0 ? 'after' : undefined;
      await live(
        stream,
        dir,
        life % 2 === 0 ? dyingFiles(dies) : dyingFiles(at('rename', /./, 2, 'before')),
      );
      fs.rmSync(recordPath(dir), { force: true });
    }
    await archiveAll(stream, dir);
    expectArchived(dir, LINES);
  });

  it('while it reads everything again, because the record is lost', async () => {
    await sweep(async (dir) => {
      const stream = streamOf(LINES.slice(0, 12), 12);
      await archiveAll(stream, dir);
      fs.rmSync(recordPath(dir));
      stream.publish(LINES.slice(12));
      stream.batch = 3;
      return stream;
    }, LINES);
  });

  it('while it reads everything again, because the servers have lost messages', async () => {
    const fresh = storedLines('2026-03-01', 14).slice(9);
    await sweep(
      async (dir) => {
        const stream = streamOf(LINES, 18);
        await archiveAll(stream, dir);
        stream.lose(12);
        stream.publish(fresh);
        stream.batch = 3;
        return stream;
      },
      [...LINES, ...fresh],
    );
  });

  it('while it reads what a record from a backup does not cover', async () => {
    await sweep(async (dir) => {
      const stream = streamOf(LINES.slice(0, 8), 8);
      await archiveAll(stream, dir);
      const backup = fs.readFileSync(recordPath(dir));
      stream.publish(LINES.slice(8));
      await archiveAll(stream, dir);
      fs.writeFileSync(recordPath(dir), backup);
      stream.batch = 3;
      return stream;
    }, LINES);
  });
});

describe('a full disk', () => {
  it('is waited for, and every line is whole afterwards', async () => {
    const dir = tempDir();
    let failures = 0;
    const files = dyingFiles((_, operation, path) => {
      if (operation !== 'write' || isRecord(path) || failures > 20) return undefined;
      failures += 1;
      // As a disk that gets full: some bytes of a write, then none.
      return { bytes: failures % 4 === 1 ? 700 : 0, errno: 'ENOSPC' };
    });
    const { running, log } = archiveOf(streamOf(LINES), { dir, files });
    await running;
    expectArchived(dir, LINES);
    expect(log.lines).toContainEqual(expect.stringContaining('ENOSPC'));
    expect(log.lines).toContain('info: The archive writes again');
  });

  it('is waited for when the record cannot be written', async () => {
    const dir = tempDir();
    let failures = 0;
    const files = dyingFiles((_, operation, path) =>
      operation === 'write' && isRecord(path) && failures++ < 5
        ? { bytes: 0, errno: 'ENOSPC' }
        : undefined,
    );
    const { running, log } = archiveOf(streamOf(LINES), { dir, files });
    await running;
    expectArchived(dir, LINES);
    expect(log.lines[0]).toContain('archive.json": ENOSPC');
  });

  it('does not keep it from stopping; the next start ends the half line', async () => {
    const dir = tempDir();
    const stopping = new AbortController();
    let writes = 0;
    const files = dyingFiles((_, operation, path) => {
      if (operation !== 'write' || isRecord(path) || ++writes < 3) return undefined;
      if (writes === 10) stopping.abort();
      return { bytes: writes === 3 ? 700 : 0, errno: 'ENOSPC' };
    });
    const stream = streamOf(LINES);
    const { running } = archiveOf(stream, { dir, files, stop: stopping.signal });
    await expect(running).rejects.toMatchObject({
      exitCode: 74,
      message: expect.stringContaining('ends in half a line because the disk is full'),
    });
    await archiveAll(stream, dir);
    expectArchived(dir, LINES, 1);
  });

  it('is no excuse for a failed sync, which ends the archive', async () => {
    const files = dyingFiles((_, operation, path) =>
      operation === 'fdatasync' && VIEWS.test(path) ? { bytes: 0, errno: 'EIO' } : undefined,
    );
    const { running } = archiveOf(streamOf(LINES), { dir: tempDir(), files });
    await expect(running).rejects.toMatchObject({ exitCode: 74 });
  });
});

/** Dies at the so-manieth of these operations on such files. */
function at(
  wanted: Operation,
  file: RegExp,
  times: number,
  fate: 'before' | 'after' | { bytes: number },
): NonNullable<Parameters<typeof dyingFiles>[0]> {
  let count = 0;
  return (_, operation, path) =>
    operation === wanted && file.test(path) && ++count === times ? fate : undefined;
}
