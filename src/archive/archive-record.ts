import * as v from 'valibot';
import { EXIT, Fatal, errorText } from '../base/exit.ts';
import { MiB } from '../base/format.ts';
import { printable } from '../base/text.ts';
import { archiveRecordOf } from '../disk/names.ts';
import { type FileOps, ifPresent } from '../disk/ops.ts';
import { readMessage } from './archive-batch.ts';
import type { StreamEnds, StreamSource } from './stream-source.ts';

const whole = v.pipe(v.number(), v.safeInteger(), v.minValue(0));

const RECORD = v.strictObject({
  stream: v.string(),
  created: v.string(),
  /**
   * Every view up to this message is in the view files and synced, unless it is in `missing` or no
   * longer in the stream.
   */
  sequence: whole,
  /** The last view that was read. Later messages up to `sequence` were missing or not views. */
  lastView: v.optional(v.object({ sequence: whole, id: v.string() })),
  /**
   * Sizes in bytes by file name. Lines within the recorded size belong to messages up to
   * `sequence`; lines after it may belong to later messages.
   */
  files: v.record(v.string(), whole),
  /** Runs of messages that the archive found missing and asks the leader for again. */
  missing: v.array(v.tuple([whole, whole])),
  /** Files that another program has cut short, until their days are restored. */
  shortened: v.array(v.string()),
});

/** The position of an archive in the stream. The servers store nothing for the archive. */
export type ArchiveRecord = v.InferOutput<typeof RECORD>;

/** Enough for 10,000 runs and for the files of many years, at about 40 bytes per file. */
const TEXT_BYTES_MAX = MiB;

/**
 * Returns how the stream differs from the recorded stream; `undefined` if both are the same, or no
 * stream is recorded.
 */
export async function mismatchOf(
  record: ArchiveRecord | undefined,
  source: StreamSource,
  { created, last }: StreamEnds,
): Promise<string | undefined> {
  if (record === undefined) return undefined;
  const { stream, sequence, lastView } = record;
  if (stream !== source.name)
    return `"archive.json" belongs to stream "${printable(stream)}" (if you didn't mean to change it, stop the archive and check --data and --nats-stream)`;
  if (created !== record.created) {
    return `Stream "${stream}" was deleted and created again (at ${created}; the archived one at ${record.created})`;
  }
  const lost = `The servers have lost messages of stream "${stream}" that are archived`;
  if (last < sequence) return `${lost}: the stream ends at ${last}, not at ${sequence}`;
  if (lastView === undefined) return undefined;
  const found = await source.next(lastView.sequence);
  if (found?.sequence !== lastView.sequence) return undefined;
  if (readMessage(found.data)?.id === lastView.id) return undefined;
  return `${lost}: message ${lastView.sequence} is a different view`;
}

/**
 * Returns the record of the directory; `undefined` if nothing has been archived there yet.
 * @throws {Fatal} exit 74 if the record can't be read, 65 if its format is unknown.
 */
export async function readRecord(files: FileOps, dir: string): Promise<ArchiveRecord | undefined> {
  const path = archiveRecordOf(dir);
  const bytes = Buffer.alloc(TEXT_BYTES_MAX);
  let length: number;
  try {
    const fd = await ifPresent(files.open(path, 'r'));
    if (fd === undefined) return undefined;
    length = await files.read(fd, bytes, 0);
    await files.close(fd);
  } catch (error) {
    throw new Fatal(EXIT.ioError, `Can't read "${path}": ${errorText(error)}`);
  }
  const text = bytes.toString('utf8', 0, length);
  const parsed = v.safeParse(v.pipe(v.string(), v.parseJson(), RECORD), text);
  if (parsed.success) return parsed.output;
  const [issue] = parsed.issues;
  const place = v.getDotPath(issue);
  throw new Fatal(
    EXIT.badData,
    `"${path}" isn't an archive's record: ${place === null ? "it isn't valid JSON" : `"${printable(place)}" is missing or wrong`}; ` +
      'restore it from a backup, or move it away. Without it, the archive reads the stream ' +
      'from its start and skips views that are already in the files',
  );
}
