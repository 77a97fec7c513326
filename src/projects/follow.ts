import type { Log } from '../base/log.ts';
import { every } from '../base/time.ts';
import { ProjectList, summaryOf } from './project-list.ts';
import {
  cannotRead,
  readProjectsFile,
  type Reading,
  soundOrFatal,
  summaryOfFaults,
} from './projects-file.ts';

// Keeps the projects in step with their file. It reads the file again and compares the content,
// because notifications stop when an editor renames the file, and time stamps miss the second of two
// saves within one tick, or come late from a server.

const POLL_MS = 1_600;

/**
 * Reads the projects file and follows its changes.
 * @throws {Fatal} exit 78 with every fault, if the file is missing or faulty.
 */
export const openProjects = async (path: string, log: Log): Promise<FollowedProjects> =>
  new FollowedProjects(path, await readProjectsFile(path), log);

/** Projects that follow their file. While it is faulty, the last good list stays active. */
export class FollowedProjects extends ProjectList {
  readonly #path: string;
  readonly #log: Log;
  /** The reading that the active list or the fault comes from. */
  #reading: Reading;
  #lastCheck: Promise<void> = Promise.resolve();
  /** Stops following the file. */
  readonly close = every(POLL_MS, () => void this.reload(false));

  constructor(path: string, reading: Reading, log: Log) {
    super(soundOrFatal(reading).file);
    this.#path = path;
    this.#reading = reading;
    this.#log = log;
  }

  /**
   * Reads the file and acts on what it finds, one time after another. Never rejects.
   * @param isAsked logs what it finds even if nothing changed.
   */
  reload(isAsked = true): Promise<void> {
    this.#lastCheck = this.#lastCheck.then(async () => {
      const reading = await readProjectsFile(this.#path, this.#reading);
      const isSame = reading === this.#reading;
      if (isSame && !isAsked) return;
      this.#reading = reading;
      const what = isSame ? 'unchanged' : this.#apply(reading);
      if (this.fault !== undefined) this.#log.warn(this.fault.message);
      else this.#log.info(`Projects file ${what}: ${summaryOf(this.all())}`);
    });
    return this.#lastCheck;
  }

  /** Returns what happened to the list, for the log. */
  #apply(reading: Reading): string {
    const { fault } = this;
    if ('file' in reading) {
      this.fault = undefined;
      this.replace(reading.file);
      return fault === undefined ? 'reloaded' : 'fixed';
    }
    const isMissing = reading.content === undefined;
    // A command that creates the file would shorten the list to one project.
    const first = isMissing ? cannotRead(this.#path, GONE) : summaryOfFaults(reading);
    const message = `The last good projects file stays active: ${first}`;
    this.fault = { message, first, sinceMs: fault?.sinceMs ?? Date.now(), isMissing };
    return 'faulty';
  }
}

const GONE = "it doesn't exist any more; restore it, with every project";
