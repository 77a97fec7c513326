import * as fs from 'node:fs';
import * as path from 'node:path';
import { EXIT, errnoOf, Fatal, reasonOf } from '../base/exit.ts';
import { NoRegularFile } from '../disk/daily-file.ts';
import { replayRecordOf } from '../disk/names.ts';
import { systemFiles } from '../disk/ops.ts';
import { giveOpenFileToOwnerOf, ownerMend, type Warn } from '../disk/root.ts';
import { replaceFile } from '../disk/replace-file.ts';
import { syncDirectory, synced } from '../disk/sync.ts';
import { printable } from '../base/text.ts';

// What became of each line of a file of refused views: one line of 39 bytes for each of its lines,
// `<id> <state>`, in the same order. It is text, so that an operator can read and change it, and
// a line's place is known without reading the others, so that it needs no memory.
//
// Before them stands which line was the last one sent: a record that is cut off would otherwise have
// the lines sent again that it has lost. It is synced together with that line's `?`, when those
// before are. So of that line alone a power cut may leave less than the head says.

/** Waiting; being sent, or sent and nobody knows how it went; taken by a collector. */
export type State = '-' | '?' | '+';

const ID_LENGTH = 36;
const ENTRY_BYTES = ID_LENGTH + 3;
const NO_ID = '-'.repeat(ID_LENGTH);
const PENDING_LENGTH_MAX = 64 * 1024;
const HEAD = /^the last line sent is (\d{16})\n$/;
const ENTRY = /^[0-9a-f-]{36} [-?+]\n/;

export class ReplayRecord {
  readonly path: string;
  readonly #fd: number;
  /** Lines known, those in `#pending` among them. */
  #count: number;
  /** Lines up to the last one that was ever sent. */
  #reached: number;
  /** Lines that are known to be on the disk. */
  #synced = 0;
  #pending = '';

  private constructor(file: string, fd: number, reached: number) {
    this.path = file;
    this.#fd = fd;
    this.#reached = reached;
    this.#count = Math.floor(fs.fstatSync(fd).size / ENTRY_BYTES) - 1;
    if (this.#count >= reached - 1) return;
    throw unlike(`"${file}" is cut off: it has ${this.#count} of at least ${reached} lines`);
  }

  /**
   * Opens the record of a file of refused views, made where there is none.
   * @param warn told of what is not as it should be.
   * @throws {Fatal} exit 73 where it can't be written, 65 where it is none, or cut off; before
   * anything is sent.
   */
  static async open(refusedPath: string, warn: Warn): Promise<ReplayRecord> {
    const file = replayRecordOf(refusedPath);
    try {
      let fd = openOrMake(file, warn);
      if (!fs.fstatSync(fd).isFile()) throw new NoRegularFile();
      if (ENTRY.test(textAt(fd, 0))) fd = await addHead(file, fd, warn);
      await syncDirectory(systemFiles, path.dirname(path.resolve(file)));
      return new ReplayRecord(file, fd, reachedIn(file, fd));
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
    const lost = line === this.#reached - 1 ? '?' : '-';
    if (line >= this.#count) {
      this.#count += 1;
      this.#pending += entry(id, lost);
      if (this.#pending.length > PENDING_LENGTH_MAX) this.#flush();
      return lost;
    }
    const text = textAt(this.#fd, placeOf(line));
    // NULs are what a power cut leaves of what was not synced; whatever was sent before was.
    if (text.startsWith('\0') && line >= this.#reached - 1) {
      this.#write(entry(id, lost), placeOf(line));
      return lost;
    }
    const state = text.charAt(ID_LENGTH + 1);
    if (text === entry(id, state) && isState(state)) return state;
    throw unlike(
      `"${this.path}" is not the record of this file: its line ${line + 1} is ` +
        `"${printable(text.trimEnd())}", not that of ${id}`,
    );
  }

  /**
   * That the line is being sent is on the disk when this resolves.
   * @throws {Fatal} exit 74.
   */
  async begin(line: number, id: string): Promise<void> {
    if (this.#synced < line) await this.#sync();
    this.mark(line, id, '?');
    this.#reached = Math.max(this.#reached, line + 1);
    this.#write(head(this.#reached), 0);
    await this.#sync();
  }

  /** How that went: lasts once the next line is begun, or the record is closed. */
  mark(line: number, id: string, state: State): void {
    this.#flush();
    this.#write(entry(id, state), placeOf(line));
  }

  async close(): Promise<void> {
    await this.#sync();
    fs.closeSync(this.#fd);
  }

  async #sync(): Promise<void> {
    this.#flush();
    await synced(this.path, systemFiles.fdatasync(this.#fd));
    this.#synced = this.#count;
  }

  #flush(): void {
    if (this.#pending === '') return;
    this.#write(this.#pending, placeOf(this.#count) - this.#pending.length);
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

const head = (reached: number): string =>
  `the last line sent is ${String(reached).padStart(16, '0')}\n`;

const placeOf = (line: number): number => (line + 1) * ENTRY_BYTES;

function textAt(fd: number, position: number): string {
  const bytes = Buffer.alloc(ENTRY_BYTES);
  const length = fs.readSync(fd, bytes, 0, ENTRY_BYTES, position);
  return bytes.toString('latin1', 0, length);
}

/** How far sending has come, by the record's head; a new record is given one. */
function reachedIn(file: string, fd: number): number {
  const text = textAt(fd, 0);
  const isNew = /^\0*$/.test(text) && fs.fstatSync(fd).size <= ENTRY_BYTES;
  if (isNew) fs.writeSync(fd, head(0), 0);
  const [, reached] = HEAD.exec(isNew ? head(0) : text) ?? [];
  if (reached !== undefined) return Number(reached);
  throw unlike(`"${file}" is no record of a replay: it begins with "${printable(text.trimEnd())}"`);
}

/** Gives one of the first version, which had no head, its own. */
async function addHead(file: string, fd: number, warn: Warn): Promise<number> {
  const text = fs.readFileSync(fd, 'latin1');
  let reached = 0;
  for (let at = 0; at + ENTRY_BYTES <= text.length; at += ENTRY_BYTES) {
    if (text[at + ID_LENGTH + 1] !== '-') reached = at / ENTRY_BYTES + 1;
  }
  await replaceFile(systemFiles, file, head(reached) + text);
  fs.closeSync(fd);
  const made = fs.openSync(file, 'r+');
  giveOpenFileToOwnerOf(path.dirname(file), file, made, warn);
  return made;
}

/** Not what a replay, however interrupted, has left. */
const unlike = (what: string): Fatal =>
  new Fatal(
    EXIT.badData,
    `${what}; put it back as it was, or if nothing was sent, move it away: ` +
      'what was sent is known from it alone',
  );

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
