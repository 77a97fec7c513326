import { basename, dirname, relative } from 'node:path';
import type { Installation, ServeSettings } from './read-installation.ts';

/** Where a container has the data directory, the projects file's where that is elsewhere, secrets. */
export const DATA = '/data';
export const PROJECTS = '/projects';
export const SECRETS = '/run/secrets';

/** Whether the projects file is in the data directory, and there is one. */
export const isProjectsInData = ({ settings: { projects, data, store } }: Installation): boolean =>
  store === undefined && !relative(data, projects).startsWith('..');

/** The settings inside a container, which has an address of its own. */
export function settingsInside(installation: Installation): ServeSettings {
  const { settings } = installation;
  const { data, projects, status, 'nats-creds': creds } = settings;
  return {
    ...settings,
    data: DATA,
    projects: isProjectsInData(installation)
      ? `${DATA}/${relative(data, projects)}`
      : `${PROJECTS}/${basename(projects)}`,
    host: '0.0.0.0',
    status: status === 'off' ? status : { host: '0.0.0.0', port: status.port },
    'status-token-file': undefined,
    'nats-creds': creds === undefined ? undefined : `${SECRETS}/nats-creds`,
  };
}

export interface Mount {
  readonly source: string;
  readonly target: string;
}

/** The directories of this machine that it needs, by where they are inside. */
export function mountsOf(installation: Installation): Mount[] {
  const { settings } = installation;
  const { data, projects, store } = settings;
  return [
    ...(store === undefined ? [{ source: data, target: DATA }] : []),
    ...(isProjectsInData(installation) ? [] : [{ source: dirname(projects), target: PROJECTS }]),
  ];
}
