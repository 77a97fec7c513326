import { plural } from '../base/format.ts';
import type { Log } from '../base/log.ts';
import { printable, shellQuoted } from '../base/text.ts';
import type { Faulty } from './parse.ts';
import {
  type Project,
  ProjectList,
  type Projects,
  type ProjectsFault,
  summaryOf,
} from './project-list.ts';
import {
  type Content,
  isSameContent,
  parseContent,
  readContent,
  soundOrFatal,
} from './projects-file.ts';
import type { ProjectsFile } from './projects-schema.ts';

// Keeps the projects in step with their file. It reads the file again and compares the content,
// because notifications stop when an editor renames the file, and time stamps miss the second of two
// saves within one tick, or come late from a server.

const POLL_MS = 1_600;
/** A faulty file is soon read again, because it may be only half saved. */
const AGAIN_MS = 300;

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
  return new FollowedProjects(options, content, soundOrFatal(parseContent(content, path)).file);
}

/** Projects that follow their file. While it is faulty, the last good list stays active. */
export class FollowedProjects implements Projects {
  readonly #options: Options;
  #list: ProjectList;
  /** The content that the active list or the fault comes from. */
  #content: Content;
  /** A faulty content that was read once. It counts when it is read again. */
  #suspected: Content | undefined;
  #fault: ProjectsFault | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #lastCheck: Promise<void> = Promise.resolve();
  #isClosed = false;

  constructor(options: Options, content: Content, file: ProjectsFile) {
    this.#options = options;
    this.#content = content;
    this.#list = new ProjectList(file);
    this.#schedule();
  }

  get operator(): string | undefined {
    return this.#list.operator;
  }

  get fault(): ProjectsFault | undefined {
    return this.#fault;
  }

  find(id: string): Project | undefined {
    return this.#list.find(id);
  }

  all(): readonly Project[] {
    return this.#list.all();
  }

  /** Reads the file now, acts on what it finds, and logs that even if nothing changed. */
  reload(): Promise<void> {
    return this.#check(true);
  }

  /** Stops following the file. */
  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#timer);
  }

  #schedule(): void {
    if (this.#isClosed) return;
    const waitMs = this.#suspected === undefined ? POLL_MS : AGAIN_MS;
    this.#timer = setTimeout(() => void this.#check(false).then(() => this.#schedule()), waitMs);
    this.#timer.unref();
  }

  /** One check at a time; never rejects. */
  #check(isReload: boolean): Promise<void> {
    this.#lastCheck = this.#lastCheck.then(async () => {
      const { path, read = readContent } = this.#options;
      const content = await read(path);
      if (!this.#isClosed) this.#judge(content, isReload);
    });
    return this.#lastCheck;
  }

  #judge(content: Content, isReload: boolean): void {
    const { path, log } = this.#options;
    const isCertain = isReload || isSameContent(content, this.#suspected);
    this.#suspected = undefined;
    if (isSameContent(content, this.#content)) {
      if (!isReload) return;
      if (this.#fault !== undefined) log.warn(this.#fault.message);
      else log.info(`Projects file unchanged: ${summaryOf(this.all())}`);
      return;
    }
    const reading = parseContent(content, path);
    if ('file' in reading) this.#activate(reading.file);
    else if (isCertain) this.#keepLastGood(reading);
    else {
      this.#suspected = content;
      return;
    }
    this.#content = content;
  }

  #activate(file: ProjectsFile): void {
    const what = this.#fault === undefined ? 'reloaded' : 'fixed';
    this.#fault = undefined;
    this.#list = new ProjectList(file, this.#list);
    this.#options.log.info(`Projects file ${what}: ${summaryOf(this.all())}`);
  }

  #keepLastGood({ faults, place, ids }: Faulty): void {
    const { path, log, now = Date.now } = this.#options;
    const [first = '', ...more] = faults;
    const command = `viewlog check --projects ${shellQuoted(printable(path, Infinity))}`;
    const rest = more.length === 0 ? '' : ` (and ${plural(more.length, 'more fault')}: ${command})`;
    const message = `The last good projects file stays active: ${first}${rest}`;
    const sinceMs = this.#fault?.sinceMs ?? now();
    this.#fault = { message, first, place, sinceMs, idsInFile: ids };
    log.warn(message);
  }
}
