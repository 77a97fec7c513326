// Stores two things in the data directory: how viewlog was last started, and a copy of its last
// valid projects file. Commands read them if no viewlog is running or the projects file is lost.
import { readFile, rm, stat } from 'node:fs/promises';
import {
  type Announced,
  ANNOUNCED_BYTES_MAX,
  readAnnounced,
} from '../installation/installation.ts';
import { replaceFile } from './durable.ts';
import { systemFiles } from './ops.ts';

export const lastStartIn = (dir: string): string => `${dir}/last-start.json`;
export const lastProjectsIn = (dir: string): string => `${dir}/last-projects.json`;

/** Stores the start. Never rejects, because viewlog works without it. */
export const rememberStart = (dir: string, self: object): Promise<void> =>
  remember(lastStartIn(dir), `${JSON.stringify(self)}\n`).catch(() => {});

/**
 * Stores the text of a valid projects file. Never rejects. If the text can't be stored, removes the
 * older one, because restoring that would undo edits.
 */
export const rememberProjects = (dir: string, text: string): Promise<void> =>
  remember(lastProjectsIn(dir), text).catch(() => rm(lastProjectsIn(dir)).catch(() => {}));

async function remember(path: string, text: string): Promise<void> {
  await replaceFile(systemFiles, path, text);
  // Under a service's umask of 077, nobody else could read the file.
  await systemFiles.chmod(path, 0o640);
}

/** Returns the start that `rememberStart` stored; `undefined` if it can't be read. */
export async function lastStart(dir: string): Promise<Announced | undefined> {
  try {
    const path = lastStartIn(dir);
    const found = await stat(path);
    if (!found.isFile() || found.size > ANNOUNCED_BYTES_MAX) return undefined;
    return readAnnounced(await readFile(path, 'utf8'));
  } catch {
    return undefined;
  }
}
