import { describe, expect, it } from 'vitest';
import { type FileOps, systemFiles } from '../../src/disk/ops.ts';
import { archiveAll, archiveOf, expectArchived, recordIn } from '../support/archived.ts';
import { linesOfDays, SimulatedStream } from '../support/stream.ts';
import { tempDir } from '../support/temp-dir.ts';

// An archive that dies at one point, and is started again: each view once. `test/simulation` does
// that at any operation, again and again.

const LINES = linesOfDays(['2026-02-28', '2026-03-01'], 9);
const VIEWS = /views-.*\.ndjson$/;
const RECORD = /archive\.json$/;

type Operation = 'write' | 'fdatasync' | 'rename';
/** The moment at which the process dies: before or after an operation, or within a write. */
type Moment = 'before' | 'after' | { readonly bytes: number };

/** The files of a process that dies: later operations have no effect. */
function dyingFiles(wanted: Operation, file: RegExp, times: number, moment: Moment) {
  const paths = new Map<number, string>();
  let count = 0;
  let die!: () => void;
  let isDead = false;
  const died = new Promise<void>((resolve) => (die = resolve));
  const end = (): Promise<never> => {
    isDead = true;
    die();
    return new Promise<never>(() => {});
  };
  async function run<T>(operation: Operation, path: string, act: () => Promise<T>): Promise<T> {
    if (isDead) return end();
    const isHere = operation === wanted && file.test(path) && ++count === times;
    if (isHere && moment === 'before') return end();
    const result = await act();
    return isHere ? end() : result;
  }
  const files: FileOps = {
    ...systemFiles,
    // A write and a sync are two operations.
    canDsync: false,
    async open(path, flags, mode) {
      if (isDead) return end();
      const fd = await systemFiles.open(path, flags, mode);
      paths.set(fd, path);
      return fd;
    },
    write: (fd, bytes, offset, length) =>
      run('write', paths.get(fd)!, () => {
        const isCut = typeof moment === 'object' && count === times && VIEWS.test(paths.get(fd)!);
        return systemFiles.write(fd, bytes, offset, isCut ? moment.bytes : length);
      }),
    fdatasync: (fd) => run('fdatasync', paths.get(fd)!, () => systemFiles.fdatasync(fd)),
    rename: (from, to) => run('rename', to, () => systemFiles.rename(from, to)),
  };
  return { files, died };
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
    const { files, died } = dyingFiles(...point);
    await Promise.race([archiveOf(source, { dir, files }).running, died]);
    expect(recordIn(dir)!.sequence).toBeLessThan(LINES.length);
    source.batch = 4;
    await archiveAll(source, dir);
    expectArchived(dir, LINES, 1);
  });
});

const failing = (code: string): Error => Object.assign(new Error(`${code}: simulated`), { code });

it('an archive on a full disk stops on a signal; the next start ends the half line', async () => {
  const dir = tempDir();
  const stopping = new AbortController();
  let writes = 0;
  let isRecord = false;
  const files: FileOps = {
    ...systemFiles,
    open(path, flags, mode) {
      isRecord = flags === 'w';
      return systemFiles.open(path, flags, mode);
    },
    write(fd, bytes, offset, length) {
      if (isRecord || ++writes === 1) return systemFiles.write(fd, bytes, offset, length);
      if (writes === 2) return systemFiles.write(fd, bytes, offset, 700);
      if (writes === 8) stopping.abort();
      return Promise.reject(failing('ENOSPC'));
    },
  };
  const { running, log } = archiveOf(stream(), { dir, files, stop: stopping.signal });
  await expect(running).rejects.toMatchObject({
    exitCode: 74,
    message: expect.stringContaining('ends in half a line because the disk is full'),
  });
  expect(log.lines).toStrictEqual([expect.stringMatching(/^error: Cannot write .*; retrying$/)]);
  await archiveAll(stream(), dir);
  expectArchived(dir, LINES, 1);
});

it('a failed sync ends the archive', async () => {
  const fdatasync = (): Promise<void> => Promise.reject(failing('EIO'));
  const files = { ...systemFiles, canDsync: false, fdatasync };
  const { running } = archiveOf(stream(), { dir: tempDir(), files });
  await expect(running).rejects.toMatchObject({ exitCode: 74 });
});
