import { dirname, resolve } from 'node:path';
import { formatSize } from '../base/format.ts';
import { KiB } from '../base/size.ts';
import { shellQuoted } from '../base/text.ts';
import { accountOf } from '../disk/root.ts';
import { fileNameOf } from '../disk/names.ts';

// Commands that an operator pastes into a shell on the collector's machine. Strangers' text becomes
// part of a command only if a shell does not interpret any of it.

/** A site that a project might have. */
export const SITE = 'https://www.example.com';
/** An address at which browsers might reach a collector. */
export const VIEWS_SITE = 'https://views.example.com';

/** The default of `--max-view`. */
const VIEW_BYTES_MAX = 16 * KiB;

/** Where a command has to work. */
export interface Installation {
  /** Absolute. */
  readonly projectsPath: string;
  /** Absolute; `undefined` if views go to a stream. */
  readonly dataDir: string | undefined;
  /** The system account that owns the files: `viewlog`, `#998`. */
  readonly account: string | undefined;
}

/** @param chosen by the operator; if there is a store, views go there. */
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

/** Deno does not give the working directory without permission to read it. */
function absolute(path: string): string {
  try {
    return resolve(path);
  } catch {
    return path;
  }
}

/** What an origin may consist of to become part of a command: nothing that a shell interprets. */
const PLAIN_ORIGIN = /^https?:\/\/[a-z0-9.-]+(:\d+)?$/;

export const isPlainOrigin = (origin: string | undefined): origin is string =>
  origin !== undefined && PLAIN_ORIGIN.test(origin);

/**
 * Activates a project, and allows the origin if it is a plain one.
 * @param id digits only.
 */
export function activationOf(
  id: string,
  origin: string | undefined,
  projectsPath: string,
  account?: string,
): string {
  const from = isPlainOrigin(origin) ? ` --origin ${origin}` : '';
  return `${as(account)}viewlog activate ${id}${from} --projects ${shellQuoted(projectsPath)}`;
}

export const raisedLimitOf = (
  id: string,
  viewsPerMinute: number,
  { projectsPath, account }: Installation,
): string =>
  `${as(account)}viewlog activate ${id} --max-views-per-minute ${viewsPerMinute} ` +
  `--projects ${shellQuoted(projectsPath)}`;

/** Sends the kept views of these days again. */
export function replayOf(
  id: string,
  days: readonly string[],
  place: Installation & { readonly url: string; readonly viewBytesMax: number },
): string {
  const { dataDir = '.', projectsPath, account, url, viewBytesMax } = place;
  const files = days.map((day) => shellQuoted(`${dataDir}/${fileNameOf('refused', day)}`));
  const bytes = formatSize(viewBytesMax).replace(' bytes', 'B').replace(' ', '');
  const size = viewBytesMax === VIEW_BYTES_MAX ? '' : ` --max-view ${bytes}`;
  return (
    `${as(account)}viewlog replay ${files.join(' ')} --to ${shellQuoted(url)} --project ${id} ` +
    `--projects ${shellQuoted(projectsPath)}${size}`
  );
}

/** Explains the latest kept view that names a project; `undefined` if none is kept. */
export function explainOf(
  id: string,
  days: readonly string[],
  { dataDir = '.', projectsPath, account }: Installation,
): string | undefined {
  const day = days.at(-1);
  if (day === undefined) return undefined;
  const file = shellQuoted(`${dataDir}/${fileNameOf('refused', day)}`);
  const explain = `${as(account)}viewlog explain --projects ${shellQuoted(projectsPath)}`;
  return `${as(account)}grep ${id} ${file} | tail -n 1 | ${explain}`;
}

/** Lists every fault of the projects file. */
export const checkOf = ({ projectsPath, account }: Installation): string =>
  `${as(account)}viewlog check --projects ${shellQuoted(projectsPath)}`;

/** A longer command is hard to paste. */
const REMOVED_MAX = 20;

/** Removes files of the data directory, as many as fit into a command. */
export function removalOf(names: readonly string[], { dataDir = '.', account }: Installation) {
  const files = names.slice(0, REMOVED_MAX).map((name) => shellQuoted(`${dataDir}/${name}`));
  return { files: files.length, command: `${as(account)}rm ${files.join(' ')}` };
}

/** Examines the installation; `undefined` if there is no data directory. */
export const doctorOf = ({ dataDir, account }: Installation): string | undefined =>
  dataDir === undefined ? undefined : `${as(account)}viewlog doctor --data ${shellQuoted(dataDir)}`;

/** Starts a collector. */
export function serveOf(
  { dataDir, projectsPath, account }: Installation,
  { host, port }: { readonly host: string; readonly port: number },
): string {
  const data = dataDir === undefined ? '' : ` --data ${shellQuoted(dataDir)}`;
  const isUsual = projectsPath === `${dataDir}/projects.json`;
  const projects = isUsual ? '' : ` --projects ${shellQuoted(projectsPath)}`;
  return `${as(account)}viewlog serve${data}${projects} --host ${host} --port ${port}`;
}

/** Prints the script for a project's pages. */
export const snippetOf = (id: string, { projectsPath, account }: Installation): string =>
  `${as(account)}viewlog snippet ${id} --url ${VIEWS_SITE} ` +
  `--projects ${shellQuoted(projectsPath)}`;

/** Prints the line of a site's page that has the project's script. */
export const scriptCheckOf = (id: string, site: string): string =>
  `curl -sSL ${site}/ | grep ${id}`;

/** The report of the last seven days; `undefined` if there are no files to read. */
export function reportOf({ dataDir, projectsPath, account }: Installation): string | undefined {
  if (dataDir === undefined) return undefined;
  const isUsual = projectsPath === `${dataDir}/projects.json`;
  const projects = isUsual ? '' : ` --projects ${shellQuoted(projectsPath)}`;
  return `${as(account)}viewlog report --data ${shellQuoted(dataDir)}${projects} --last 7 --html report.html`;
}

const as = (account: string | undefined): string =>
  account === undefined ? '' : `sudo -u ${shellQuoted(account)} `;
