import { findWritten } from './find-written.ts';
import { checkMessage } from './message.ts';
import { type Position, RECENT_MAX } from './recent-messages.ts';
import type { Known, ArchivedStream } from './archived-stream.ts';
import { fileNameOf } from '../disk/names.ts';

/**
 * Where an archive can begin again whose servers have lost messages while it did not run. The view
 * files tell what is archived, so it begins some messages earlier, at one that is in them.
 * @returns `undefined` where the files do not prove it, or where the record is not what an archive
 * writes: it names the stream's last message, though it claims more, or another than the one that
 * is there and in the files.
 */
export async function positionBeforeLoss(
  stream: ArchivedStream,
  { sequence: recorded, id }: Known,
  dir: string,
): Promise<Position | undefined> {
  const { first, last } = await stream.ends();
  const end = Math.min(last, recorded);
  const there = await lookUp(stream, end, dir);
  if (id !== undefined && there?.id === id) return undefined;
  if (end === recorded && there?.isWritten) return undefined;
  const earliest = end - RECENT_MAX;
  if (earliest < first) return { sequence: Math.min(first - 1, end) };
  for (let sequence = earliest; sequence <= end; sequence++) {
    const view = await lookUp(stream, sequence, dir);
    if (view !== undefined) return view.isWritten ? { sequence, id: view.id } : undefined;
  }
  return undefined;
}

/** Whether a message is in the file of its day; `undefined` where it is no view, or gone. */
async function lookUp(stream: ArchivedStream, sequence: number, dir: string) {
  const payload = await stream.payloadOf(sequence);
  const head = payload === undefined ? '' : checkMessage(payload);
  if (typeof head === 'string') return undefined;
  const line = Buffer.concat([payload!, Buffer.from('\n')]);
  const { missing } = await findWritten(`${dir}/${fileNameOf('views', head.day)}`, 0, line);
  return { id: head.id, isWritten: missing.length === 0 };
}
