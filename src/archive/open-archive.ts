import { EXIT, Fatal } from '../base/exit.ts';
import type { Log } from '../base/log.ts';
import type { FileOps } from '../disk/ops.ts';
import type { Cluster } from '../jetstream/connect.ts';
import { type ArchiveRecord, readRecord } from './archive-record.ts';
import { MessagesLost, ArchivedStream } from './archived-stream.ts';
import { Archiver } from './archiver.ts';
import { positionBeforeLoss } from './resume.ts';

interface OpenOptions {
  readonly dir: string;
  /** The stream's name. */
  readonly stream: string;
  readonly minFreeBytes: number;
  readonly cluster: Cluster;
  readonly files: FileOps;
  readonly log: Log;
  readonly stop: AbortSignal;
}

interface OpenArchive {
  readonly stream: ArchivedStream;
  readonly archiver: Archiver;
  /** The stream's last message. */
  readonly last: number;
}

/**
 * Finds the stream, and makes sure that it is the recorded one.
 * @throws {Fatal} exit 65 where it is not, or has lost messages that the files have; 69 where it
 *   cannot be found.
 */
export async function openArchive(options: OpenOptions): Promise<OpenArchive> {
  const { dir, stream: name, minFreeBytes, cluster, files, log, stop } = options;
  const stream = await ArchivedStream.of(name, dir, cluster, stop);
  const { created, last } = await stream.find();
  const recorded = recordOf(dir, name, created);
  // The archive records an id wherever it can; without one, somebody may have set the sequence.
  const isDoubtful = recorded.id === undefined && recorded.sequence < last;
  const record = { ...(isDoubtful && { doubtfulTo: last }), ...recorded };
  const archiver = new Archiver({ dir, record, minFreeBytes, log, stop, files });
  try {
    await stream.verify(archiver.known);
  } catch (error) {
    if (!(error instanceof MessagesLost)) throw error;
    const position = await positionBeforeLoss(stream, archiver.known, dir);
    if (position === undefined) throw error;
    await archiver.beginAgain(position);
  }
  return { stream, archiver, last };
}

/** @throws {Fatal} exit 65 if it is that of another stream. */
function recordOf(dir: string, stream: string, created: string): ArchiveRecord {
  const record = readRecord(dir);
  if (record === undefined) return { stream, created, sequence: 0 };
  if (record.stream === stream) return record;
  throw new Fatal(
    EXIT.badData,
    `"${dir}" is the archive of stream "${record.stream}", not of "${stream}"; choose another --data`,
  );
}
