// Records which views of a file of refused views were sent. The record is a text file beside that
// file, only ever appended to, one line per event: an id and a state. `?` is written and synced
// before a view is sent, `+` after it was accepted, `-` after it was definitely not accepted. An id
// with `?` as its last state may have been accepted, and is never sent again unless the operator
// appends a `-`.
import { readFile } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { EXIT, Fatal, reasonOf } from '../base/exit.ts';
import { printable } from '../base/text.ts';
import { cannotOpen } from '../disk/directory.ts';
import { replayRecordOf } from '../disk/names.ts';
import { ifPresent, systemFiles } from '../disk/ops.ts';
import { syncDirectory, synced, writeAll } from '../disk/durable.ts';

/** Being sent, or sent with an unknown outcome; accepted; not accepted. */
export type SentState = '?' | '+' | '-';

const EVENT = /^([0-9a-f-]{36}) ([-+?])$/;
/** A crash can leave the start of an event, or NULs. */
const TORN = /^[0-9a-f-]{0,36} ?\0*$/;

export class SentIds {
  readonly path: string;
  /** The last state of each id. */
  readonly states: Map<string, SentState>;
  readonly #fd: number;

  private constructor(path: string, fd: number, states: Map<string, SentState>) {
    this.path = path;
    this.#fd = fd;
    this.states = states;
  }

  /**
   * Opens the record of a file of refused views, and creates it if it is missing.
   * @throws {Fatal} exit 73 if it can't be written, 65 if the file is not such a record.
   */
  static async open(refusedPath: string): Promise<SentIds> {
    const path = replayRecordOf(refusedPath);
    try {
      const text = (await ifPresent(readFile(path, 'latin1'))) ?? '';
      const states = statesIn(text, path);
      const sentIds = new SentIds(path, await systemFiles.open(path, 'a', 0o640), states);
      await syncDirectory(systemFiles, dirname(resolve(path)));
      if (text !== '' && !text.endsWith('\n')) await sentIds.#append('\n');
      return sentIds;
    } catch (error) {
      throw error instanceof Fatal ? error : cannotOpen(path, error);
    }
  }

  /**
   * Appends the id's state. Resolves once it is on the disk.
   * @throws {Fatal} exit 74.
   */
  async record(id: string, state: SentState): Promise<void> {
    await this.#append(`${id} ${state}\n`);
    this.states.set(id, state);
  }

  /** Returns the ids of views that may have been accepted. */
  unknown(): string[] {
    return [...this.states].flatMap(([id, state]) => (state === '?' ? [id] : []));
  }

  close(): Promise<void> {
    return systemFiles.close(this.#fd);
  }

  async #append(text: string): Promise<void> {
    const { error } = await writeAll(systemFiles, this.#fd, Buffer.from(text));
    if (error !== undefined) {
      throw new Fatal(EXIT.ioError, `Cannot write "${this.path}": ${reasonOf(error)}`);
    }
    await synced(this.path, systemFiles.fdatasync(this.#fd));
  }
}

function statesIn(text: string, path: string): Map<string, SentState> {
  const states = new Map<string, SentState>();
  for (const [i, line] of text.split('\n').entries()) {
    const [, id, state] = EVENT.exec(line) ?? [];
    if (id !== undefined) states.set(id, state as SentState);
    else if (!TORN.test(line)) {
      throw new Fatal(
        EXIT.badData,
        `"${path}" is not a record of sent views: its line ${i + 1} is "${printable(line, 64)}"; ` +
          'move it away only if nothing of the refused file was ever sent',
      );
    }
  }
  return states;
}
