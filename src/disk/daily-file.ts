import { NEWLINE } from '../base/text.ts';
import { errnoOf } from '../base/exit.ts';
import { backOff, sleep } from '../base/time.ts';
import { fileNameOf, type FileKind } from './names.ts';
import { type FileOps, ifPresent } from './ops.ts';
import { cannotSync, syncDirectory, synced } from './sync.ts';

/** How far an append came. */
export interface Progress {
  /** Bytes of whole lines, newlines included, that are in the file. */
  readonly lineBytes: number;
  /** Why it came no further. */
  readonly error?: unknown;
}

/** One UTC day's file, open for append. Calls must not overlap, `whereabouts` excepted. */
export interface DailyFile {
  readonly day: string;
  readonly path: string;
  /**
   * Writes whole lines, after whatever the file is still owed. Where that fails, the rest of the
   * first unfinished line is owed from then on: half of it may stand in the file, and a file that
   * shippers read is never truncated or overwritten, so it is completed before anything else.
   */
  append(lines: Uint8Array): Promise<Progress>;
  /**
   * Makes durable what was appended; has nothing to do where each write does so by itself.
   * @throws {Fatal} exit 74. What a failed sync has lost no later one reports: never retried.
   */
  sync(): Promise<void>;
  close(): Promise<void>;
  /** Whether the path still names this file, and all of it. */
  whereabouts(): Promise<'here' | 'moved' | 'shrunk'>;
  /** Bytes in the file, as far as known. */
  size(): number;
  /** Whether bytes wait to be written before anything else. */
  owes(): boolean;
  /** Whether the file ends in half a line. */
  isTorn(): boolean;
}

interface DailyFileOptions {
  readonly kind: FileKind;
  readonly dir: string;
  readonly day: string;
  readonly files: FileOps;
  /** Whether every append will be synced. */
  readonly durable?: boolean;
  /** A torn last line, left by a crash, has been ended. */
  readonly onSealed: (path: string) => void;
}

/**
 * What has the day's name is a directory, a FIFO, a device, or a link to one. A FIFO or /dev/null
 * would take lines, and have none of them: it is never written to.
 */
export class NoRegularFile extends Error {
  override readonly name = 'NoRegularFile';

  constructor() {
    super(
      'it is not a regular file, but a directory, a FIFO, a device or a link to one; move it away',
    );
  }
}

const SEAL = Uint8Array.of(NEWLINE);
export const NOTHING = new Uint8Array(0);

/**
 * Opens the day's file, made if missing, and syncs what an earlier process left in it. A torn
 * last line, or a tail of NULs, is owed its ending: the first `append` writes it.
 * @throws {Fatal} exit 74 if a sync fails; else a `NoRegularFile` or the system's error.
 */
export async function openDailyFile(options: DailyFileOptions): Promise<DailyFile> {
  const { kind, dir, day, files, durable = false, onSealed } = options;
  const path = `${dir}/${fileNameOf(kind, day)}`;
  // One call that writes and syncs, in place of two: a third more views on Node and Bun, whose
  // event loop is too busy under load to start the second when the first has ended.
  const dsync = durable && files.canDsync;
  const fd = await openForAppend(files, path, dsync);
  try {
    const there = await files.fstat(fd);
    if (!there.isFile()) throw new NoRegularFile();
    const { dev, ino, size } = there;
    const torn = size > 0 && !(await endsInNewline(files, fd, size));
    if (size > 0) await synced(path, files.fdatasync(fd));
    // Even for a file that was there: its maker may have died before it had synced the directory.
    await syncDirectory(files, dir);
    return dailyFile({ files, fd, dsync, day, path, dev, ino, size, torn, onSealed });
  } catch (error) {
    // Not awaited: a disk that hangs must not hold the error up.
    void files.close(fd).catch(() => {});
    throw error;
  }
}

interface OpenFile extends Pick<DailyFileOptions, 'files' | 'day' | 'onSealed'> {
  readonly fd: number;
  /** Whether each write is durable when it returns. */
  readonly dsync: boolean;
  readonly path: string;
  readonly dev: number;
  readonly ino: number;
  readonly size: number;
  readonly torn: boolean;
}

function dailyFile(file: OpenFile): DailyFile {
  const { files, fd, dsync, day, path, dev, ino, onSealed } = file;
  let { size, torn } = file;
  let sealing = torn;
  let owed = torn ? SEAL : NOTHING;

  async function write(bytes: Uint8Array): Promise<{ written: number; error?: unknown }> {
    const result = await writeAll(files, fd, bytes, async (written, error) => {
      // Bytes in the file and an error all the same: what failed was the sync.
      if (dsync && (await files.fstat(fd)).size > size + written) throw cannotSync(path, error);
    });
    size += result.written;
    return result;
  }

  async function payOwed(): Promise<unknown> {
    const { written, error } = await write(owed);
    owed = owed.subarray(written);
    torn = owed.length > 0 && (torn || written > 0);
    if (sealing && written > 0) {
      sealing = false;
      onSealed(path);
    }
    return error;
  }

  return {
    day,
    path,
    async append(lines) {
      if (owed.length > 0) {
        const error = await payOwed();
        if (error !== undefined) return { lineBytes: 0, error };
      }
      const { written, error } = await write(lines);
      if (error === undefined) return { lineBytes: written };
      const lineStart = lines.subarray(0, written).lastIndexOf(NEWLINE) + 1;
      torn = written > lineStart;
      // A copy: a Buffer's own `slice` is a view of memory that its owner may use again.
      owed = Uint8Array.from(lines.subarray(written, lines.indexOf(NEWLINE, lineStart) + 1));
      return { lineBytes: lineStart, error };
    },
    sync: () => (dsync ? Promise.resolve() : synced(path, files.fdatasync(fd))),
    close: () => files.close(fd),
    async whereabouts() {
      const known = size;
      // By path only: the descriptor may be closed, and its number given away, meanwhile.
      const there = await ifPresent(files.stat(path));
      if (there === undefined || there.dev !== dev || there.ino !== ino) return 'moved';
      return there.size < known ? 'shrunk' : 'here';
    },
    size: () => size,
    owes: () => owed.length > 0,
    isTorn: () => torn,
  };
}

async function openForAppend(files: FileOps, path: string, dsync: boolean): Promise<number> {
  try {
    const fd = await files.open(path, dsync ? 'adx+' : 'ax+', 0o640);
    // A service's umask is often 077, and then the shipper's group could not read the file. A
    // file system without modes refuses; it then has its own rules.
    await files.fchmod(fd, 0o640).catch(() => {});
    return fd;
  } catch (error) {
    if (errnoOf(error) !== 'EEXIST') throw error;
  }
  // Opening alone does something to some devices, and Deno has no flag that keeps it from waiting.
  // What takes the file's place after this look, the descriptor tells.
  if ((await ifPresent(files.stat(path)))?.isFile() === false) throw new NoRegularFile();
  return files.open(path, dsync ? 'ad+' : 'a+', 0o640);
}

async function endsInNewline(files: FileOps, fd: number, size: number): Promise<boolean> {
  const last = new Uint8Array(1);
  return (await files.read(fd, last, size - 1)) === 1 && last[0] === NEWLINE;
}

const EAGAIN = { retryMs: 1, retryMaxMs: 100 };

/**
 * Writes all of `bytes`; short writes are by design, EINTR and EAGAIN pass.
 * @param onError looks at an error, with what was written before; what it throws is thrown.
 */
export async function writeAll(
  files: FileOps,
  fd: number,
  bytes: Uint8Array,
  onError: (written: number, error: unknown) => Promise<void> = async () => {},
): Promise<{ written: number; error?: unknown }> {
  let written = 0;
  const waits = backOff(EAGAIN);
  while (written < bytes.length) {
    try {
      const count = await files.write(fd, bytes, written, bytes.length - written);
      written += count;
      if (count > 0) continue;
    } catch (error) {
      await onError(written, error);
      const code = errnoOf(error);
      if (code === 'EINTR') continue;
      if (code !== 'EAGAIN') return { written, error };
    }
    await sleep(waits.next().value);
  }
  return { written };
}
