import { Fatal, reasonOf } from '../base/exit.ts';
import { archiveRecordOf } from '../disk/names.ts';
import type { FileOps } from '../disk/ops.ts';
import { replaceFile } from '../disk/replace-file.ts';
import { syncDirectory } from '../disk/sync.ts';
import type { UntilRoom } from './until-room.ts';
import { RECENT_MAX, type Loss, type Position } from './recent-messages.ts';
import { recordText, type ArchiveRecord } from './archive-record.ts';

/** Bytes by file name. */
export type Sizes = Readonly<Record<string, number>>;

interface JournalOptions {
  readonly dir: string;
  readonly files: FileOps;
  readonly untilRoom: UntilRoom;
}

/** Keeps the record on the disk. What a call has recorded is there to stay when it resolves. */
export class Journal {
  readonly #options: JournalOptions;
  #record: ArchiveRecord;
  #kept: ReadonlySet<string>;

  constructor(record: ArchiveRecord, options: JournalOptions) {
    this.#record = record;
    this.#kept = new Set(record.kept?.ids);
    this.#options = options;
  }

  get record(): ArchiveRecord {
    return this.#record;
  }

  /** The ids of views that must not be written again. */
  get kept(): ReadonlySet<string> {
    return this.#kept;
  }

  /** A process that was killed may have left the record's name unsynced: now it is there to stay. */
  start(): Promise<void> {
    const { dir, files } = this.#options;
    return this.#durably(() => syncDirectory(files, dir));
  }

  /** Lines of messages up to `to` may stand in these files from now on, beyond these sizes. */
  begin(to: number, files: Sizes): Promise<void> {
    return this.#save({ ...this.#record, writing: { to, files } });
  }

  /**
   * Every message up to `sequence` is in the files, and synced.
   * @param isCertain what follows it is not in the files.
   */
  end(sequence: number, id: string | undefined, isCertain: boolean): Promise<void> {
    const { stream, created, kept, doubtfulTo = 0 } = this.#record;
    return this.#save({
      stream,
      created,
      sequence,
      ...(id !== undefined && { id }),
      ...(!isCertain && sequence < doubtfulTo && { doubtfulTo }),
      ...(kept !== undefined && sequence < kept.to && { kept }),
    });
  }

  /** Begins again after the position: what follows it, up to `to`, may be in the files or not. */
  doubt(position: Position, to: number): Promise<void> {
    const { stream, created, kept } = this.#record;
    return this.#save({ stream, created, ...position, doubtfulTo: to, ...(kept && { kept }) });
  }

  /** The messages after the position are others than those that are in the files. */
  goBack({ position, to, ids }: Loss): Promise<void> {
    const { stream, created, doubtfulTo } = this.#record;
    const all = [...new Set([...this.#kept, ...ids])].slice(-RECENT_MAX);
    const kept = { to: to + RECENT_MAX, ids: all };
    return this.#save({ stream, created, ...position, kept, ...(doubtfulTo && { doubtfulTo }) });
  }

  #save(record: ArchiveRecord): Promise<void> {
    const { dir, files } = this.#options;
    return this.#durably(async () => {
      await replaceFile(files, archiveRecordOf(dir), recordText(record));
      if (record.kept !== this.#record.kept) this.#kept = new Set(record.kept?.ids);
      this.#record = record;
    });
  }

  async #durably(change: () => Promise<void>): Promise<void> {
    await this.#options.untilRoom.succeeds(async () => {
      try {
        await change();
        return undefined;
      } catch (error) {
        if (error instanceof Fatal) throw error;
        // The old one stands, so nothing is at stake.
        const message = `Cannot write "${archiveRecordOf(this.#options.dir)}": ${reasonOf(error)}`;
        return { reason: "the archive's record cannot be written", message };
      }
    });
  }
}
