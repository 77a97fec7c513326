import { existsSync, readdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { errnoOf, orElse } from '../base/exit.ts';
import { formatCount, plural } from '../base/format.ts';
import { printable, sentence } from '../base/text.ts';
import type { Log } from '../base/log.ts';
import { every } from '../base/time.ts';
import { accessFix, activate, activateAsWas, fixText } from '../installation/commands.ts';
import {
  absolute,
  type Announced,
  type Installation,
  ownAnnouncement,
  withOwners,
} from '../installation/installation.ts';
import {
  type OpenedProject,
  type Project,
  ProjectList,
  type ProjectsFault,
  rulesOf,
  summaryOf,
  withName,
} from './project-list.ts';
import {
  BRING_BACK,
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
 * @param settings the path and the data directory, which is ignored if there is a `store`.
 * @param isSending whether views with this id were accepted in the last day.
 * @param onChange called with the old list before another one takes effect.
 * @returns the projects; `reload` reads the file now and logs what it finds even if nothing
 *   changed, and never rejects; `storeIn` logs how the list differs from the one saved in a
 *   directory, and from then on saves each good list there; `close` stops following the file.
 * @throws {Fatal} exit 78 with every fault, if the file is missing or invalid.
 */
export async function followProjects(
  settings: FollowSettings,
  log: Log,
  isSending: (id: string) => boolean,
  onChange: (projects: ProjectList) => void = () => {},
) {
  const path = settings.projects;
  const data = settings.store === undefined ? settings.data : undefined;
  let reading = await readOwn(path, data);
  const projects = new ProjectList(fileOrFatal(reading));
  let lastCheck = Promise.resolve();
  const logChange = (what: string, gone: readonly ProjectEntry[], sinceMs: number) => {
    const self = ownAnnouncement({ role: 'collector', data, projects: path, chosen: {} });
    return logGone(gone, { what, sinceMs, projects, self, isSending, log });
  };
  const check = async (isAsked: boolean): Promise<void> => {
    const found = await readOwn(path, data, reading);
    const isSame = found === reading;
    if (isSame && !isAsked) return;
    reading = found;
    if ('file' in found) {
      const what = isSame ? 'unchanged' : projects.fault === undefined ? 'reloaded' : 'fixed';
      projects.fault = undefined;
      if (!isSame) onChange(projects);
      const [nowMs, { operator }] = [Date.now(), projects];
      const before = projects.all();
      const gone = isSame ? [] : projects.replace(found.file, nowMs);
      if (!isSame) store(String(found.content));
      const sinceMs = isSame ? Infinity : nowMs;
      const now = projects.all();
      const news = `${summaryOf(now)}${newsText(before, now)}`;
      await logChange(`Projects file ${what}: ${news}`, gone, sinceMs);
      if (operator !== undefined && projects.operator === undefined)
        log.warn(
          `The projects file no longer has the operator's address, ${operator}, so refusals no longer name it`,
        );
    } else {
      if (!isSame) projects.fault = faultOf(found, path, projects.fault);
      log.warn(projects.fault!.message);
    }
  };
  let store = (_text: string): void => {};
  // Checks never overlap.
  const checkNext = (isAsked: boolean): Promise<void> =>
    (lastCheck = lastCheck.then(() => check(isAsked)));
  const close = every(POLL_MS, () => void checkNext(false));
  const storeIn = async (dir: string, { storeProjects }: Storage): Promise<void> => {
    const saved = await savedProjects(dir, reading);
    const nowMs = Date.now();
    const gone = saved === undefined ? [] : projects.noteEarlier(saved, nowMs);
    const news = saved === undefined ? '' : newsText(saved.projects, projects.all());
    if (gone.length > 0 || news !== '')
      await logChange(`The projects file has changed since viewlog last ran${news}`, gone, nowMs);
    store = storeProjects;
    if ('file' in reading) store(String(reading.content));
  };
  return { projects, reload: () => checkNext(true), storeIn, close };
}

interface Change {
  readonly what: string;
  /** Projects that lost their origins earlier are left out. */
  readonly sinceMs: number;
  readonly projects: ProjectList;
  readonly self: Announced;
  readonly isSending: (id: string) => boolean;
  readonly log: Log;
}

/** Logs a change of the list, and how to undo what may be a mistake. */
async function logGone(
  gone: readonly ProjectEntry[],
  { what, sinceMs, projects, self, isSending, log }: Change,
): Promise<void> {
  log.info(`${what}${listText('no longer listed', gone)}`);
  // Views of an inactive project were refused before.
  const sending = gone.filter(({ id, active }) => active !== false && isSending(id));
  const opened = projects.allOpened(sinceMs);
  if (sending.length + opened.length === 0) return;
  const of = await withOwners(self);
  for (const text of goneTexts(sending, projects, of)) log.warn(text);
  const names = opened.map(
    ({ id }) => `Project ${withName({ id, name: projects.find(id)?.name })}`,
  );
  for (const text of openedTexts(opened, of, names)) log.warn(text);
}

/** `; added: project 2; changed: projects 1 and 3` */
function newsText(before: readonly ProjectEntry[], now: readonly Project[]): string {
  const known = new Map(before.map((one) => [one.id, factsOf(one)]));
  const news = now.filter((one) => known.get(one.id) !== factsOf(one));
  const [added, changed] = [false, true].map((isKnown) =>
    news.filter(({ id }) => known.has(id) === isKnown),
  ) as [Project[], Project[]];
  return listText('added', added) + listText('changed', changed);
}

const factsOf = (one: ProjectEntry): string =>
  JSON.stringify([rulesOf(one), one.name, one.contact]);

const GONE_MAX = 5;
const REFUSED_NOW = 'were accepted in the last day and are now refused';

/** Returns a warning for each removed project whose views arrived, with the command that lists it. */
function goneTexts(
  sending: readonly ProjectEntry[],
  projects: ProjectList,
  of: Installation,
): string[] {
  const texts = sending.slice(0, GONE_MAX).map((entry) => {
    const back = activateAsWas(of, projects.removed(entry.id) ?? entry, projects.operator);
    return `Views of project ${withName(entry)} ${REFUSED_NOW}; if that is a mistake, run: ${back}`;
  });
  const left = sending.length - GONE_MAX;
  return left > 0 ? [...texts, `Views of ${plural(left, 'more project')} ${REFUSED_NOW}`] : texts;
}

/**
 * Returns a warning for each project that has lost its origins: an edit by mistake opens it to every
 * site. The file has no copy of the origins, so the warning has the command that lists them again.
 * @param of `undefined` if no command can list them now.
 * @param names what to call the projects instead of by their ids.
 */
export function openedTexts(
  opened: readonly OpenedProject[],
  of: Installation | undefined,
  names: readonly string[] = [],
): string[] {
  const texts = opened.slice(0, GONE_MAX).map(({ id, origins }, i) => {
    const who = printable(names[i] ?? `Project ${id}`);
    const what = `${who} no longer lists origins, so it accepts views from every site`;
    const command = of && activate(of, id, { origin: origins });
    return `${what}; ${command ? `if that is a mistake, run: ${command}` : 'restore them in the projects file'}`;
  });
  const left = opened.length - GONE_MAX;
  return left > 0 ? [...texts, `${plural(left, 'more project')} no longer list origins`] : texts;
}

/** `; added: projects 1000001 (Shop), 1000002 and 3 more`; empty for none. */
function listText(what: string, projects: readonly Pick<ProjectEntry, 'id' | 'name'>[]): string {
  if (projects.length === 0) return '';
  const left = projects.length - GONE_MAX;
  const ids = projects.slice(0, GONE_MAX).map(withName);
  const all = left > 0 ? [...ids, `${formatCount(left)} more`] : ids;
  const listed = new Intl.ListFormat('en-GB').format(all);
  return `; ${what}: ${projects.length === 1 ? 'project' : 'projects'} ${listed}`;
}

/** Reads the projects file. If viewlog's account isn't allowed to, the reading has the fix. */
async function readOwn(path: string, data?: string, last?: Reading): Promise<Reading> {
  const reading = await readProjectsFile(path, last, data);
  if (reading === last || errnoOf(reading.content) !== 'EACCES') return reading;
  const [file, dir] = [absolute(path), data && absolute(data)];
  return { ...reading, access: accessFix(file, 'r', undefined, dir, last !== undefined) };
}

/** A reading without a list of projects. */
type Faulty = Extract<Reading, { readonly faults: unknown }>;

/**
 * Returns the fault of a projects file that was valid before, and its fix.
 * @param before the fault that the last reading had.
 */
function faultOf(
  { content, fact, faults, access, line, saved, check }: Faulty,
  path: string,
  before: ProjectsFault | undefined,
): ProjectsFault {
  const loss = content === undefined ? 'missing' : fact === undefined ? undefined : 'empty';
  // Without its data directory, viewlog ends.
  const isMoved = loss === 'missing' && !existsSync(dirname(path));
  const missing = isMoved ? "its directory doesn't exist" : 'it no longer exists';
  const first = loss === 'missing' ? cannotRead(path, missing) : (fact ?? summaryOfFaults(faults));
  const stays = isMoved && !saved ? undefined : continues(saved, access !== undefined);
  const restore = saved ? `to restore it, run: ${saved.restore}` : RESTORE;
  const cut =
    saved && isCut(faults)
      ? `correct the file or, if parts of it are missing, run: ${saved.restore}`
      : undefined;
  // A mount point without its disk is empty.
  const isBare = !isMoved && orElse(() => readdirSync(dirname(path)).length === 0, false);
  const other = isBare ? `if its disk isn't mounted, mount it; otherwise, ${restore}` : restore;
  const lost = isMoved ? BRING_BACK : other;
  const correct = line === undefined ? undefined : 'correct the file';
  const list = check && `to list every fault, run: ${check}`;
  const fix = loss === undefined ? (cut ?? (access && fixText(access)) ?? list ?? correct) : lost;
  const what = stays === undefined ? first : `${sentence(first)} ${stays}`;
  const isSame = before?.loss === loss && !before?.access === !access;
  return {
    message: fix === undefined ? (stays === undefined ? what : sentence(what)) : `${what}; ${fix}`,
    first,
    sinceMs: (isSame ? before?.sinceMs : undefined) ?? Date.now(),
    loss,
    access,
    line,
    saved,
  };
}
