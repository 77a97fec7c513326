import { existsSync } from 'node:fs';
import { dirname } from 'node:path';
import { errnoOf } from '../base/exit.ts';
import { formatCount } from '../base/format.ts';
import { sentence } from '../base/text.ts';
import type { Log } from '../base/log.ts';
import { every } from '../base/time.ts';
import { accessFix, fixText } from '../installation/commands.ts';
import { absolute } from '../installation/installation.ts';
import { ProjectList, summaryOf } from './project-list.ts';
import {
  cannotRead,
  readProjectsFile,
  type Reading,
  continues,
  fileOrFatal,
  isCut,
  RESTORE,
  savedProjects,
  summaryOfFaults,
} from './projects-file.ts';
import type { ProjectEntry } from './projects-schema.ts';

// Keeps the projects in step with their file: reads the file again and compares the content.
// Notifications stop when an editor renames the file. Timestamps miss the second of two saves
// within one tick and come late from a file server.

const POLL_MS = 1_600;

/** The lock of a data directory. */
interface Storage {
  readonly storeProjects: (text: string) => void;
}

interface FollowSettings {
  readonly projects: string;
  readonly data?: string;
  readonly store?: unknown;
}

/**
 * Reads the projects file and follows its changes. While it is invalid, the last good list stays
 * active.
 * @param settings the path and the data directory, which is the collector's own without a `store`.
 * @param isSending whether views with this id were accepted in the last day.
 * @returns the projects; `reload` reads the file now and logs what it finds even if nothing
 *   changed, and never rejects; `storeIn` logs which projects of the list saved in a directory are
 *   gone, and from then on saves each good list there; `close` stops following the file.
 * @throws {Fatal} exit 78 with every fault, if the file is missing or invalid.
 */
export async function followProjects(
  settings: FollowSettings,
  log: Log,
  isSending: (id: string) => boolean,
) {
  const path = settings.projects;
  const data = settings.store === undefined ? settings.data : undefined;
  let reading = await readOwn(path, data);
  const projects = new ProjectList(fileOrFatal(reading));
  let lastCheck = Promise.resolve();
  const logList = (what: string, gone: readonly ProjectEntry[]): void => {
    // Views of an inactive project were refused before.
    const sending = gone.filter(({ id, active }) => active !== false && isSending(id));
    log[sending.length > 0 ? 'warn' : 'info'](what + goneText(gone, sending));
  };
  const check = async (isAsked: boolean): Promise<void> => {
    const found = await readOwn(path, data, reading);
    const isSame = found === reading;
    if (isSame && !isAsked) return;
    reading = found;
    if (!isSame) storeList();
    const before = projects.all();
    const what = isSame ? 'unchanged' : apply(found, path, projects);
    if (projects.fault !== undefined) return log.warn(projects.fault.message);
    const gone = before.filter(({ id }) => projects.find(id) === undefined);
    logList(`Projects file ${what}: ${summaryOf(projects.all())}`, gone);
  };
  let store = (_text: string): void => {};
  const storeList = (): void => {
    if ('file' in reading) store(String(reading.content));
  };
  // Checks never overlap.
  const checkNext = (isAsked: boolean): Promise<void> =>
    (lastCheck = lastCheck.then(() => check(isAsked)));
  const close = every(POLL_MS, () => void checkNext(false));
  const storeIn = async (dir: string, { storeProjects }: Storage): Promise<void> => {
    const gone = projects.goneFrom(await savedProjects(dir, reading));
    if (gone.length > 0) logList('The projects file has changed since the last start', gone);
    store = storeProjects;
    storeList();
  };
  return { projects, reload: () => checkNext(true), storeIn, close };
}

const GONE_MAX = 5;

/** `; no longer listed: projects 1000001, 1000002` */
function goneText(gone: readonly ProjectEntry[], sending: readonly ProjectEntry[]): string {
  if (gone.length === 0) return '';
  const listed = `; no longer listed: ${projectsText(gone)}`;
  const accepted = 'were accepted in the last day and are now refused';
  return sending.length === 0 ? listed : `${listed}. Views of ${projectsText(sending)} ${accepted}`;
}

/** `projects 1000001, 1000002 and 3 more` */
function projectsText(projects: readonly Pick<ProjectEntry, 'id'>[]): string {
  const left = projects.length - GONE_MAX;
  const ids = projects.slice(0, GONE_MAX).map(({ id }) => id);
  const more = left > 0 ? ` and ${formatCount(left)} more` : '';
  return `${projects.length === 1 ? 'project' : 'projects'} ${ids.join(', ')}${more}`;
}

/** Reads the projects file as the account that runs viewlog, which must be able to. */
async function readOwn(path: string, data?: string, last?: Reading): Promise<Reading> {
  const reading = await readProjectsFile(path, last, data);
  if (reading === last || errnoOf(reading.content) !== 'EACCES') return reading;
  const [file, dir] = [absolute(path), data && absolute(data)];
  return { ...reading, access: accessFix(file, 'r', undefined, dir, last !== undefined) };
}

const BACK = 'bring the directory back';

/**
 * Applies a reading to the list: replaces the list or records the fault. Returns what happened, for
 * the log.
 */
function apply(reading: Reading, path: string, projects: ProjectList): string {
  const { fault } = projects;
  if ('file' in reading) {
    projects.fault = undefined;
    projects.replace(reading.file, Date.now());
    return fault === undefined ? 'reloaded' : 'fixed';
  }
  const isMissing = reading.content === undefined;
  const { access, line, saved } = reading;
  const isMoved = isMissing && !existsSync(dirname(path));
  const what = isMoved ? 'its directory no longer exists' : 'it no longer exists';
  /** The fault, if the list must be restored. */
  const lost = isMissing ? cannotRead(path, what) : reading.fact;
  const first = lost ?? summaryOfFaults(reading.faults);
  const restore = saved ? `to restore it, run: ${saved.restore}` : isMoved ? BACK : RESTORE;
  const cut =
    saved && isCut(reading.faults) ? `if it was cut short, run: ${saved.restore}` : undefined;
  const fix = lost === undefined ? (cut ?? (access && fixText(access))) : restore;
  // Without its data directory, viewlog ends.
  const fact = isMoved ? first : `${sentence(first)} ${continues(saved, access !== undefined)}`;
  const loss = lost === undefined ? undefined : isMissing ? 'missing' : 'empty';
  const isSame = fault?.loss === loss && !fault?.access === !access;
  projects.fault = {
    message: fix === undefined ? fact : `${fact}; ${fix}`,
    first,
    sinceMs: (isSame ? fault?.sinceMs : undefined) ?? Date.now(),
    loss,
    access,
    line,
    saved,
  };
  return 'faulty';
}
