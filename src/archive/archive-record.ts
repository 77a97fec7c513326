import { readFileSync, statSync } from 'node:fs';
import * as v from 'valibot';
import { EXIT, errnoOf, Fatal, reasonOf } from '../base/exit.ts';
import { NoRegularFile } from '../disk/daily-file.ts';
import { printable } from '../base/text.ts';
import { archiveRecordOf } from '../disk/names.ts';

// What the archive remembers: how far it has come with the stream, and what it is writing. It is
// the only truth about that; the servers keep nothing for the archive.

const whole = v.pipe(v.number(), v.safeInteger(), v.minValue(0));

const RECORD = v.strictObject({
  stream: v.string(),
  /** When the stream was made: another one of the same name is another stream. */
  created: v.string(),
  /** Every message up to this one is in the view files, and synced. */
  sequence: whole,
  /** The id of that message's view, where it is one. */
  id: v.optional(v.string()),
  /**
   * A batch that is being written: the messages up to `to`. Its lines are appended to these files,
   * which had these sizes before.
   */
  writing: v.optional(v.strictObject({ to: whole, files: v.record(v.string(), whole) })),
  /**
   * Messages up to this one may be in the files already: servers have lost messages while no archive
   * ran, or somebody has changed this record. Their lines are looked for before they are written.
   */
  doubtfulTo: v.optional(whole),
  /**
   * Views that are in the files though the servers have lost their messages: not to be written
   * again should they come back, under whatever number up to `to`.
   */
  kept: v.optional(v.strictObject({ to: whole, ids: v.array(v.string()) })),
});

export type ArchiveRecord = v.InferOutput<typeof RECORD>;

export const recordText = (record: ArchiveRecord): string => `${JSON.stringify(record, null, 2)}\n`;

/**
 * The record in this directory; `undefined` where nothing has been archived there yet.
 * @throws {Fatal} exit 74 if it can't be read, 65 if it is none.
 */
export function readRecord(dir: string): ArchiveRecord | undefined {
  const path = archiveRecordOf(dir);
  let text: string;
  try {
    // Reading a FIFO would wait for its writer.
    if (!statSync(path).isFile()) throw new NoRegularFile();
    text = readFileSync(path, 'utf8');
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return undefined;
    throw new Fatal(EXIT.ioError, `Cannot read "${path}": ${reasonOf(error)}`);
  }
  const parsed = v.safeParse(RECORD, jsonOf(text));
  if (parsed.success) return parsed.output;
  const [issue] = parsed.issues;
  const place = v.getDotPath(issue);
  // It quotes what is wrong: of a record that is cut off, all there is.
  const message = printable(issue.message);
  throw new Fatal(
    EXIT.badData,
    `"${path}" is not an archive's record: ${place === null ? '' : `${place}: `}${message}; ` +
      'put it back as it was: what is archived already is known from it alone',
  );
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
