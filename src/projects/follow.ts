import { plural } from '../base/format.ts';
import { EXIT, Fatal } from '../base/exit.ts';
import type { Log } from '../base/log.ts';
import { printable } from '../base/text.ts';
import { untilMultipleOf } from '../base/time.ts';
import { type Content, isSameContent, readContent } from './projects-file.ts';
import { type Faulty, parseProjectsFile, type Sound } from './parse.ts';
import { type Project, ProjectList, type Projects, summaryOf } from './project-list.ts';

// Keeps the projects in step with their file. The file is read anew and compared with what was
// read last: notifications go deaf when an editor renames, and time stamps miss the second of
// two saves in one tick, or come late from a server. A file this small costs less to read than to be
// clever about.

/** Twice as long as the view store's, so that both wake the process at once. */
const POLL_MS = 1_600;
/** A fault is soon looked at again: the file may only be halfway saved. */
const AGAIN_MS = 300;

/** Projects that follow their file. What they were stays in force while the file is faulty. */
export interface WatchedProjects extends Projects {
  /** Reads the file now, and believes what it finds. */
  reload(): Promise<void>;
  /** Stops following the file. */
  close(): void;
}

interface Options {
  readonly path: string;
  readonly log: Log;
}

/**
 * Reads the projects file and follows its changes.
 * @throws {Fatal} exit 78 with every fault, where the file is missing or faulty.
 */
export async function openProjects(options: Options): Promise<WatchedProjects> {
  const watcher = new Watcher(options);
  await watcher.open();
  return watcher;
}

class Watcher implements WatchedProjects {
  readonly #path: string;
  readonly #log: Log;
  #list = new ProjectList({ projects: [] });
  /** What was read last, and what came of it, so that an unchanged file is not parsed again. */
  #content: Content | undefined;
  #parsed: Sound | Faulty | undefined;
  #inForce: Sound | undefined;
  #fault: string | undefined;
  #suspected: string | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #lastCheck: Promise<void> = Promise.resolve();
  #closed = false;

  constructor({ path, log }: Options) {
    this.#path = path;
    this.#log = log;
  }

  get operator(): string | undefined {
    return this.#list.operator;
  }

  get fault(): string | undefined {
    return this.#fault;
  }

  find(id: string): Project | undefined {
    return this.#list.find(id);
  }

  all(): readonly Project[] {
    return this.#list.all();
  }

  async open(): Promise<void> {
    const parsed = await this.#read();
    if ('faults' in parsed) throw new Fatal(EXIT.badConfiguration, parsed.faults.join('\n'));
    this.#list = new ProjectList(parsed.file);
    this.#inForce = parsed;
    this.#schedule();
  }

  async reload(): Promise<void> {
    const before = this.#inForce;
    await this.#check(true);
    if (this.#closed) return;
    if (this.#inForce === before && this.#fault === undefined) {
      this.#log.info(`Projects file unchanged: ${summaryOf(this.all())}`);
    }
  }

  close(): void {
    this.#closed = true;
    clearTimeout(this.#timer);
  }

  #schedule(): void {
    if (this.#closed) return;
    const isUnsure = this.#suspected !== this.#fault;
    this.#timer = setTimeout(
      () => void this.#check(false).then(() => this.#schedule()),
      isUnsure ? AGAIN_MS : untilMultipleOf(POLL_MS),
    );
    this.#timer.unref();
  }

  /** One check at a time; never rejects. */
  #check(believe: boolean): Promise<void> {
    this.#lastCheck = this.#lastCheck.then(async () => {
      const parsed = await this.#read();
      if (this.#closed) return;
      if ('faults' in parsed) this.#keep(parsed.faults, believe);
      else this.#take(parsed);
    });
    return this.#lastCheck;
  }

  async #read(): Promise<Sound | Faulty> {
    const content = await readContent(this.#path);
    if (this.#parsed === undefined || !isSameContent(content, this.#content)) {
      this.#parsed =
        'fault' in content
          ? { faults: [content.fault] }
          : parseProjectsFile(content.bytes, printable(this.#path, Infinity));
    }
    this.#content = content;
    return this.#parsed;
  }

  #take(parsed: Sound): void {
    const isMended = this.#fault !== undefined;
    this.#fault = undefined;
    this.#suspected = undefined;
    if (!isMended && parsed === this.#inForce) return;
    this.#inForce = parsed;
    this.#list = new ProjectList(parsed.file, this.#list);
    const what = isMended ? 'mended' : 'reloaded';
    this.#log.info(`Projects file ${what}: ${summaryOf(this.all())}`);
  }

  /** A file that is being saved is faulty for a moment: a fault counts once it is seen twice. */
  #keep(faults: readonly string[], believe: boolean): void {
    const fault = faultLine(faults);
    if (believe || fault === this.#suspected) {
      // Who asks for a reload is told what came of it.
      if (believe || fault !== this.#fault) this.#log.warn(fault);
      this.#fault = fault;
    }
    this.#suspected = fault;
  }
}

function faultLine([first = '', ...more]: readonly string[]): string {
  const rest =
    more.length === 0 ? '' : ` (and ${plural(more.length, 'more fault')}: see "viewlog check")`;
  return `The last good projects file stays in force: ${first}${rest}`;
}
