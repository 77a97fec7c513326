import { dirname, resolve } from 'node:path';
import { formatSizeOption } from '../base/format.ts';
import { KiB } from '../base/size.ts';
import { shellQuoted } from '../base/text.ts';
import { accountOf } from '../disk/root.ts';
import { fileNameOf } from '../disk/names.ts';

// Commands that an operator pastes into a shell on the collector's machine. Every text that a
// person chose is quoted; origins of unknown senders must first pass `view/remedy.ts`.

/** An address at which browsers might reach a collector. */
export const VIEWS_SITE = 'https://views.example.com';

/** The default of `--max-view`. */
const VIEW_BYTES_MAX = 16 * KiB;

/** The installation that a command is for. */
export interface Installation {
  /** Absolute. */
  readonly projectsPath: string;
  /** Absolute; `undefined` if views go to a stream. */
  readonly dataDir: string | undefined;
  /** The system account that owns the files: `viewlog`, `#998`. */
  readonly account: string | undefined;
}

/** @param chosen the operator's settings; with a store, views go to the store. */
export function installationOf(chosen: {
  readonly data: string;
  readonly projects: string;
  readonly store: object | undefined;
}): Installation {
  const { data, projects, store } = chosen;
  const projectsPath = absolute(projects);
  return {
    projectsPath,
    dataDir: store === undefined ? absolute(data) : undefined,
    account: accountOf(dirname(projectsPath)),
  };
}

/** Deno does not reveal the working directory without permission to read it. */
function absolute(path: string): string {
  try {
    return resolve(path);
  } catch {
    return path;
  }
}

const as = (account: string | undefined, command: string): string =>
  account === undefined ? command : `sudo -u ${shellQuoted(account)} ${command}`;

/** Where the projects file is; other parts if they are known. */
export type Owned = Pick<Installation, 'projectsPath'> & Partial<Installation>;

/** Returns a command that reads or edits the projects file. */
export const withProjects = (command: string, { projectsPath, account }: Owned): string =>
  as(account, `viewlog ${command} --projects ${shellQuoted(projectsPath)}`);

/**
 * Returns a command that activates a project, and allows the origin if there is one.
 * @param id digits only.
 */
export function activationOf(id: string, origin: string | undefined, place: Owned): string {
  const from = origin === undefined ? '' : ` --origin ${shellQuoted(origin)}`;
  return withProjects(`activate ${id}${from}`, place);
}

export const raisedLimitOf = (id: string, viewsPerMinute: number, place: Owned): string =>
  withProjects(`activate ${id} --max-views-per-minute ${viewsPerMinute}`, place);

const refusedFile = (dataDir: string | undefined, day: string): string =>
  shellQuoted(`${dataDir}/${fileNameOf('refused', day)}`);

/** Returns a command that sends the stored refused views of these days again. */
export function replayOf(
  id: string,
  days: readonly string[],
  place: Installation & { readonly url: string; readonly viewBytesMax: number },
): string {
  const { dataDir, url, viewBytesMax } = place;
  const files = days.map((day) => refusedFile(dataDir, day)).join(' ');
  const size =
    viewBytesMax === VIEW_BYTES_MAX ? '' : ` --max-view ${formatSizeOption(viewBytesMax)}`;
  return withProjects(`replay ${files} --to ${shellQuoted(url)} --project ${id}${size}`, place);
}

/**
 * Returns a command that explains the latest stored refused view of a project; `undefined` if there
 * is none.
 */
export function explainOf(id: string, days: readonly string[], place: Owned): string | undefined {
  const day = days.at(-1);
  if (day === undefined) return undefined;
  const line = as(place.account, `grep ${id} ${refusedFile(place.dataDir, day)}`);
  return `${line} | tail -n 1 | ${withProjects('explain', place)}`;
}

/** Returns a command that lists every fault of the projects file. */
export const checkOf = (place: Installation): string => withProjects('check', place);

/** A longer command is hard to paste. */
const REMOVED_MAX = 20;

/** Returns a command that removes files of the data directory, as many as fit. */
export function removalOf(names: readonly string[], { dataDir = '.', account }: Installation) {
  const files = names.slice(0, REMOVED_MAX).map((name) => shellQuoted(`${dataDir}/${name}`));
  return { files: files.length, command: as(account, `rm ${files.join(' ')}`) };
}

/** Returns a command that examines the installation; `undefined` if there is no data directory. */
export const doctorOf = ({ dataDir, account }: Installation): string | undefined =>
  dataDir === undefined ? undefined : as(account, `viewlog doctor --data ${shellQuoted(dataDir)}`);

/** Returns a command that starts a collector. */
export function serveOf(
  { dataDir, projectsPath, account }: Installation,
  { host, port }: { readonly host: string; readonly port: number },
): string {
  const data = dataDir === undefined ? '' : ` --data ${shellQuoted(dataDir)}`;
  const isUsual = projectsPath === `${dataDir}/projects.json`;
  const projects = isUsual ? '' : ` --projects ${shellQuoted(projectsPath)}`;
  return as(account, `viewlog serve${data}${projects} --host ${host} --port ${port}`);
}

/** Returns a command that prints the script for a project's pages. */
export const snippetOf = (id: string, place: Installation): string =>
  withProjects(`snippet ${id} --url ${VIEWS_SITE}`, place);

/** Returns a command that prints the line of a site's home page that has the project's script. */
export const scriptCheckOf = (id: string, site: string): string =>
  `curl -sSL ${shellQuoted(`${site}/`)} | grep ${id}`;
