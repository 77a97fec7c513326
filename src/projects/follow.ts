import { plural } from '../base/format.ts';
import type { Log } from '../base/log.ts';
import { printable, shellQuoted } from '../base/text.ts';
import { every } from '../base/time.ts';
import { ProjectList, summaryOf } from './project-list.ts';
import {
  type Content,
  isSameContent,
  parseContent,
  removedFault,
  readContent,
  soundOrFatal,
} from './projects-file.ts';
import type { ProjectsFile } from './projects-schema.ts';

// Keeps the projects in step with their file. It reads the file again and compares the content,
// because notifications stop when an editor renames the file, and time stamps miss the second of two
// saves within one tick, or come late from a server.

const POLL_MS = 1_600;

interface Options {
  readonly path: string;
  readonly log: Log;
  readonly now?: () => number;
  readonly read?: typeof readContent;
}

/**
 * Reads the projects file and follows its changes.
 * @throws {Fatal} exit 78 with every fault, if the file is missing or faulty.
 */
export async function openProjects(options: Options): Promise<FollowedProjects> {
  const { path, read = readContent } = options;
  const content = await read(path);
  const { file } = soundOrFatal(parseContent(content, path));
  return new FollowedProjects(options, content, file);
}

/** Projects that follow their file. While it is faulty, the last good list stays active. */
export class FollowedProjects extends ProjectList {
  readonly #options: Options;
  /** The content that the active list or the fault comes from. */
  #content: Content;
  #lastCheck: Promise<void> = Promise.resolve();
  /** Stops following the file. */
  readonly close = every(POLL_MS, () => void this.#check(false));

  constructor(options: Options, content: Content, file: ProjectsFile) {
    super(file);
    this.#options = options;
    this.#content = content;
  }

  /** Reads the file now, acts on what it finds, and logs that even if nothing changed. */
  reload(): Promise<void> {
    return this.#check(true);
  }

  /** One check at a time; never rejects. */
  #check(isReload: boolean): Promise<void> {
    const { path, log, read = readContent } = this.#options;
    this.#lastCheck = this.#lastCheck.then(async () => {
      const content = await read(path);
      const isSame = isSameContent(content, this.#content);
      if (isSame && !isReload) return;
      const what = isSame ? 'unchanged' : this.#apply(content);
      if (this.fault !== undefined) log.warn(this.fault.message);
      else log.info(`Projects file ${what}: ${summaryOf(this.all())}`);
    });
    return this.#lastCheck;
  }

  /** Returns what happened to the list, for the log. */
  #apply(content: Content): string {
    const { path, now = Date.now } = this.#options;
    const reading = parseContent(content, path);
    this.#content = content;
    if ('file' in reading) {
      const what = this.fault === undefined ? 'reloaded' : 'fixed';
      this.fault = undefined;
      this.replace(reading.file);
      return what;
    }
    const isMissing = content === undefined;
    const [fault = '', ...more] = reading.faults;
    // A command that creates the file would shorten the list to one project.
    const first = isMissing ? removedFault(path) : fault;
    const command = `viewlog check --projects ${shellQuoted(printable(path, Infinity))}`;
    const rest = more.length === 0 ? '' : ` (and ${plural(more.length, 'more fault')}: ${command})`;
    const message = `The last good projects file stays active: ${first}${rest}`;
    const sinceMs = this.fault?.sinceMs ?? now();
    this.fault = { message, first, sinceMs, isMissing };
    return 'faulty';
  }
}
