// Records which refused views were sent again. There is one record for each UTC day in the ids,
// `<data>/refused-DAY.ndjson.replayed`, whatever the name and place of the file with the views. A
// record is a text file that is only appended to, one event per line: an id, a state, and with `?`
// the view's project, the code of its refusal and, if it had one, its Origin:
//
//   019fa2c4-5f48-7d01-8c3a-2f7be1a6c094 ? 1000001 origin-not-allowed "https://new.example"
//   019fa2c4-5f48-7d01-8c3a-2f7be1a6c094 +
//
// `?` is written and synced before a view is sent, `+` after it was accepted, `-` after it was
// definitely not accepted. An id with `?` as its last state may have been accepted and is never
// sent again unless the operator appends a `-`. A line that ends with `!` is the start of an event
// that a crash cut off, and doesn't count.
import { dirname } from 'node:path';
import { EXIT, Fatal, errorText } from '../base/exit.ts';
import { clip, copyOf, printable } from '../base/text.ts';
import { cannotOpen } from '../disk/directory.ts';
import { syncDirectory, synced, writeAll } from '../disk/durable.ts';
import { readBlocks } from '../disk/lines.ts';
import { fileNameOf, replayRecordOf } from '../disk/names.ts';
import { type FileOps, ifPresent, systemFiles } from '../disk/ops.ts';
import type { StoredRefusal } from '../store/refused/refused-line.ts';
import { msOfId } from '../store/stamp.ts';

/** Being sent, or sent with an unknown outcome; accepted; not accepted. */
export type SentState = '?' | '+' | '-';

const EVENT = /^([0-9a-f-]{36}) ([-+?])(.*)$/s;
/**
 * An event that is certainly complete even without its newline. The end of a `?` event may be
 * missing.
 */
const SHORT_EVENT = /^([0-9a-f-]{36}) ([-+])$/;
/** A crash can leave the start of an event or NULs. */
const TORN = /^[0-9a-f-]{0,36} ?\0*$|!$/;
const ORIGIN_LENGTH_MAX = 200;

/** Nothing; the newline that the last event lacks; or the end of an event that a crash cut off. */
type Ending = '' | '\n' | '!\n';

interface Day {
  readonly path: string;
  /** The last state of each id. */
  readonly states: Map<string, SentState>;
  /** The bytes to write between the last event and the next one. */
  ending: Ending;
  /** Open for append once something was recorded. */
  fd?: number;
}

/** The records in a data directory. The record of a day is read when a view of that day comes. */
export class ReplayRecord {
  readonly #dir: string;
  readonly #files: FileOps;
  readonly #days = new Map<string, Day>();

  constructor(dir: string, files: FileOps) {
    this.#dir = dir;
    this.#files = files;
  }

  /**
   * Returns the view's last state; `undefined` if it was never sent.
   * @throws {Fatal} exit 74 if the record can't be read, 65 if the file isn't such a record.
   */
  async stateOf({ id, day }: StoredRefusal): Promise<SentState | undefined> {
    return (await this.#read(day)).states.get(id);
  }

  /**
   * Appends the view's state. Resolves once it is on the disk.
   * @param project the view's `p`.
   * @throws {Fatal} exit 73 if the record can't be opened, 74 if it can't be written.
   */
  async append(view: StoredRefusal, state: SentState, project: string): Promise<void> {
    const day = await this.#read(view.day);
    const about = state === '?' ? ` ${aboutOf(view, project)}` : '';
    await this.#write(day, `${day.ending}${view.id} ${state}${about}\n`);
    day.ending = '';
    day.states.set(view.id, state);
  }

  /** Returns the ids of views that may have been accepted, with the path of their record. */
  unknown(): { readonly path: string; readonly ids: readonly string[] }[] {
    return Array.from(this.#days.values(), ({ path, states }) => {
      return { path, ids: [...states.keys()].filter((id) => states.get(id) === '?') };
    }).filter(({ ids }) => ids.length > 0);
  }

  async close(): Promise<void> {
    for (const { fd } of this.#days.values()) if (fd !== undefined) await this.#files.close(fd);
  }

  async #read(day: string): Promise<Day> {
    let found = this.#days.get(day);
    if (found === undefined) {
      const path = recordPath(this.#dir, day);
      const states = new Map<string, SentState>();
      const ending = await readEvents(path, (id, state) => states.set(copyOf(id), state));
      found = { path, states, ending };
      this.#days.set(day, found);
    }
    return found;
  }

  async #write(day: Day, text: string): Promise<void> {
    if (day.fd === undefined) {
      try {
        day.fd = await this.#files.open(day.path, 'a', 0o640);
        await syncDirectory(this.#files, dirname(day.path));
      } catch (error) {
        throw error instanceof Fatal ? error : cannotOpen(day.path, error);
      }
    }
    const { error } = await writeAll(this.#files, day.fd, Buffer.from(text));
    if (error !== undefined) {
      throw new Fatal(EXIT.ioError, `Can't write "${day.path}": ${errorText(error)}`);
    }
    await synced(day.path, this.#files.fdatasync(day.fd));
  }
}

/** The refused views with this project, code and Origin that were sent again, with one outcome. */
export interface Replayed {
  /** `+` accepted; `?` being sent, or sent with an unknown outcome. */
  readonly state: '+' | '?';
  readonly project: string;
  readonly code: string;
  /** The Origin, cut to 200 characters; `undefined` if the views had none. */
  readonly origin: string | undefined;
  /** When they were refused. */
  readonly refusedMs: readonly number[];
}

/**
 * Finds the views of a day that were sent again and may be stored. Reads the whole record, tens of
 * megabytes at most, block by block.
 * @param dir the data directory.
 * @param day `YYYY-MM-DD`, the UTC day of the refused file.
 * @returns empty if no view was sent again and may be stored, or if there is no record.
 * @throws {Fatal} exit 74 if the record can't be read, 65 if the file isn't such a record.
 */
export async function readReplayed(dir: string, day: string): Promise<Replayed[]> {
  /** The views being sent: for each id, the facts about its view. */
  const sending = new Map<string, string>();
  const found = new Map<string, number[]>();
  const add = (outcome: string, id: string): void => {
    const times = found.get(outcome) ?? [];
    times.push(msOfId(id));
    found.set(outcome, times);
  };
  await readEvents(recordPath(dir, day), (id, state, about) => {
    const known = sending.get(id);
    if (state === '?') sending.set(copyOf(id), Buffer.from(about).toString());
    else sending.delete(id);
    if (state === '+' && known !== undefined) add(`+${known}`, id);
  });
  for (const [id, about] of sending) add(`?${about}`, id);
  return [...found].flatMap(([outcome, refusedMs]) => {
    const [, state, project, code, origin] = OUTCOME.exec(outcome) ?? [];
    if (project === undefined || code === undefined) return [];
    return [
      {
        state: state as Replayed['state'],
        project,
        code,
        origin: origin && (JSON.parse(origin) as string),
        refusedMs,
      },
    ];
  });
}

const OUTCOME = /^([+?]) (\d{1,20}) ([a-z-]+)(?: ("[^"\\]*(?:\\.[^"\\]*)*"))?$/;

const aboutOf = ({ code, origin }: StoredRefusal, project: string): string => {
  const from = origin === undefined ? '' : ` ${JSON.stringify(clip(origin, ORIGIN_LENGTH_MAX))}`;
  return `${project} ${code}${from}`;
};

const recordPath = (dir: string, day: string): string =>
  replayRecordOf(`${dir}/${fileNameOf('refused', day)}`);

type OnEvent = (id: string, state: SentState, about: string) => void;

/**
 * Reads the events of a record. Leaves out an event that is cut at the record's end: its view
 * wasn't sent, because a view is sent only once its event is complete.
 */
async function readEvents(path: string, onEvent: OnEvent): Promise<Ending> {
  if ((await ifPresent(systemFiles.stat(path))) === undefined) return '';
  let number = 0;
  let rest = '';
  for await (const { lines, text, isUnended } of readBlocks(path)) {
    rest = isUnended ? text.slice(text.lastIndexOf('\n') + 1) : '';
    for (const line of lines()) {
      number += 1;
      if (TORN.test(line)) continue;
      const [, id, state, about = ''] = EVENT.exec(line) ?? [];
      if (id === undefined) throw notARecord(path, number, line);
      onEvent(id, state as SentState, about);
    }
  }
  if (rest === '') return '';
  const [, id, state] = SHORT_EVENT.exec(rest) ?? [];
  if (id === undefined) return '!\n';
  onEvent(id, state as SentState, '');
  return '\n';
}

const notARecord = (path: string, number: number, line: string): Fatal =>
  new Fatal(
    EXIT.badData,
    `"${path}" isn't a record of sent views: its line ${number} is "${printable(line, 64)}"; ` +
      'if you added that line, correct it. Otherwise, restore the file from a backup, or move it away if no view that was refused on that day has been sent again',
  );
