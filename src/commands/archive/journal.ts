import { Fatal, reasonOf } from '../../fatal.ts';
import { archiveRecordOf } from '../../store/file-name.ts';
import type { FileOps } from '../../store/file-ops.ts';
import { replaceFile } from '../../store/replace-file.ts';
import type { Waiting } from '../../store/waiting.ts';
import { recordText } from './record.ts';
import type { ArchiveRecord } from './record.ts';

/** Bytes by file name. */
export type Sizes = Readonly<Record<string, number>>;

interface JournalOptions {
  readonly dir: string;
  readonly files: FileOps;
  readonly waiting: Waiting;
}

/** Keeps the record on the disk. What a call has recorded is there to stay when it resolves. */
export class Journal {
  readonly #options: JournalOptions;
  #record: ArchiveRecord;

  constructor(record: ArchiveRecord, options: JournalOptions) {
    this.#record = record;
    this.#options = options;
  }

  get record(): ArchiveRecord {
    return this.#record;
  }

  /** Lines of messages up to `to` may stand in these files from now on, beyond these sizes. */
  begin(to: number, files: Sizes): Promise<void> {
    return this.#save({ ...this.#record, writing: { to, files } });
  }

  /** Every message up to `sequence` is in the files, and synced. */
  end(sequence: number, id: string | undefined): Promise<void> {
    const { stream, created } = this.#record;
    return this.#save({ stream, created, sequence, ...(id !== undefined && { id }) });
  }

  async #save(record: ArchiveRecord): Promise<void> {
    const { dir, files, waiting } = this.#options;
    const path = archiveRecordOf(dir);
    await waiting.until(async () => {
      try {
        await replaceFile(files, path, recordText(record));
        this.#record = record;
        return undefined;
      } catch (error) {
        if (error instanceof Fatal) throw error;
        // The old one stands, so nothing is at stake.
        const message = `Cannot write "${path}": ${reasonOf(error)}`;
        return { reason: "the archive's record cannot be written", message };
      }
    });
  }
}
