import * as fs from 'node:fs';
import * as path from 'node:path';
import { EXIT, errnoOf, Fatal, reasonOf } from '../base/exit.ts';
import { replayRecordOf } from '../disk/names.ts';
import { systemFiles } from '../disk/ops.ts';
import { giveOpenFileToOwnerOf, ownerMend, type Warn } from '../disk/owner.ts';
import { syncDirectory, synced } from '../disk/sync.ts';
import { printable } from '../base/text.ts';

// What became of each line of a file of refused views: one line of 39 bytes for each of its lines,
// `<id> <state>`, in the same order. It is text, so that an operator can read and change it, and
// a line's place is known without reading the others, so that it needs no memory.

/** Waiting; being sent, or sent and nobody knows how it went; taken by a collector. */
export type State = '-' | '?' | '+';

const ID_LENGTH = 36;
const ENTRY_BYTES = ID_LENGTH + 3;
const NO_ID = '-'.repeat(ID_LENGTH);
const PENDING_LENGTH_MAX = 64 * 1024;

export class ReplayRecord {
  readonly path: string;
  readonly #fd: number;
  /** Lines known, those in `#pending` among them. */
  #count: number;
  #pending = '';

  private constructor(file: string, fd: number, count: number) {
    this.path = file;
    this.#fd = fd;
    this.#count = count;
  }

  /**
   * Opens the record of a file of refused views, made where there is none.
   * @param warn told of what is not as it should be.
   * @throws {Fatal} exit 73, before anything is sent.
   */
  static async open(refusedPath: string, warn: Warn): Promise<ReplayRecord> {
    const file = replayRecordOf(refusedPath);
    try {
      const fd = openOrMake(file, warn);
      await syncDirectory(systemFiles, path.dirname(path.resolve(file)));
      return new ReplayRecord(file, fd, Math.floor(fs.fstatSync(fd).size / ENTRY_BYTES));
    } catch (error) {
      if (error instanceof Fatal) throw error;
      const reason = `Cannot write "${file}": ${reasonOf(error)}`;
      const mend = ownerMend(file);
      const hint = mend === undefined ? '' : `; ${mend}`;
      throw new Fatal(EXIT.cannotCreate, `${reason}; progress is kept there${hint}`);
    }
  }

  /**
   * What is known of a line, counted from 0; asked in order.
   * @param id the line's; none where the line is invalid.
   * @throws {Fatal} exit 65 where it is the record of another file.
   */
  stateOf(line: number, id: string = NO_ID): State {
    if (line >= this.#count) {
      this.#count += 1;
      this.#pending += entry(id, '-');
      if (this.#pending.length > PENDING_LENGTH_MAX) this.#flush();
      return '-';
    }
    const bytes = Buffer.alloc(ENTRY_BYTES);
    fs.readSync(this.#fd, bytes, 0, ENTRY_BYTES, line * ENTRY_BYTES);
    // NULs are what a power cut leaves of what was not synced; whatever was sent was.
    if (bytes[0] === 0) return '-';
    const text = bytes.toString('latin1');
    const state = text.charAt(ID_LENGTH + 1);
    if (text === entry(id, state) && isState(state)) return state;
    throw new Fatal(
      EXIT.badData,
      `"${this.path}" is not the record of this file: its line ${line + 1} is ` +
        `"${printable(text.trimEnd())}", not that of ${id}; move it away if nothing was sent`,
    );
  }

  /** Lasts once `sync` is done. */
  mark(line: number, id: string, state: State): void {
    this.#flush();
    this.#write(entry(id, state), line * ENTRY_BYTES);
  }

  /** @throws {Fatal} exit 74. */
  sync(): Promise<void> {
    return synced(this.path, systemFiles.fdatasync(this.#fd));
  }

  async close(): Promise<void> {
    this.#flush();
    await this.sync();
    fs.closeSync(this.#fd);
  }

  #flush(): void {
    if (this.#pending === '') return;
    const start = this.#count * ENTRY_BYTES - this.#pending.length;
    this.#write(this.#pending, start);
    this.#pending = '';
  }

  #write(text: string, position: number): void {
    const bytes = Buffer.from(text);
    let written = 0;
    try {
      while (written < bytes.length) {
        const left = bytes.length - written;
        written += fs.writeSync(this.#fd, bytes, written, left, position + written);
      }
    } catch (error) {
      throw new Fatal(EXIT.ioError, `Cannot write "${this.path}": ${reasonOf(error)}`);
    }
  }
}

const entry = (id: string, state: string): string => `${id} ${state}\n`;

const isState = (text: string): text is State => text === '-' || text === '?' || text === '+';

function openOrMake(file: string, warn: Warn): number {
  try {
    const fd = fs.openSync(file, 'wx+', 0o640);
    giveOpenFileToOwnerOf(path.dirname(file), file, fd, warn);
    return fd;
  } catch (error) {
    if (errnoOf(error) !== 'EEXIST') throw error;
    return fs.openSync(file, 'r+');
  }
}
