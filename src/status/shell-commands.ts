import { dirname, resolve } from 'node:path';
import { shellQuoted } from '../base/text.ts';
import { accountOf } from '../disk/root.ts';
import { isPlainOrigin } from './plain-origin.ts';

// What an operator types, to be pasted into a shell on the collector's machine. Texts of strangers
// are part of a command only where they are wholly plain.

/** Of a project that there might be. */
export const SITE = 'https://www.example.com';

/** By which browsers might reach a collector. */
export const VIEWS_SITE = 'https://views.example.com';

/** Where a command has to work. */
export interface Installation {
  /** Absolute. */
  readonly projectsPath: string;
  /** Absolute; `undefined` where views go elsewhere. */
  readonly dataDir: string | undefined;
  /** The system's account that the files belong to: `viewlog`, `#998`. */
  readonly account: string | undefined;
}

/** @param chosen by the operator; where there is a store, views go there. */
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

/** Deno tells its working directory only where it may read it. */
function absolute(path: string): string {
  try {
    return resolve(path);
  } catch {
    return path;
  }
}

/**
 * The command that activates a project, and allows the origin where that is a plain one.
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

/** Prints the script for a project's pages. */
export const snippetOf = (id: string, { projectsPath, account }: Installation): string =>
  `${as(account)}viewlog snippet ${id} --url ${VIEWS_SITE} ` +
  `--projects ${shellQuoted(projectsPath)}`;

/** Prints the line of a site's page that has the project's script; nothing where it is gone. */
export const scriptCheckOf = (id: string, site: string): string =>
  `curl -sSL ${site}/ | grep ${id}`;

/** Looks whether views reach the collector through what stands in front of it. */
export function doctorOf({ dataDir, account }: Installation): string {
  const data = dataDir === undefined ? '' : ` --data ${shellQuoted(dataDir)}`;
  return `${as(account)}viewlog doctor${data} --url ${VIEWS_SITE}`;
}

/** The report of the last seven days; `undefined` where there are no files to read. */
export function reportOf({ dataDir, projectsPath, account }: Installation): string | undefined {
  if (dataDir === undefined) return undefined;
  const isUsual = projectsPath === `${dataDir}/projects.json`;
  const projects = isUsual ? '' : ` --projects ${shellQuoted(projectsPath)}`;
  return `${as(account)}viewlog report --data ${shellQuoted(dataDir)}${projects} --last 7 --html report.html`;
}

const as = (account: string | undefined): string =>
  account === undefined ? '' : `sudo -u ${shellQuoted(account)} `;
