// Stores how viewlog was last started in a data directory. The doctor and printed files use it if
// no viewlog is running.
import { readFile, stat } from 'node:fs/promises';
import {
  type Announced,
  ANNOUNCED_BYTES_MAX,
  readAnnounced,
} from '../installation/installation.ts';
import { replaceFile } from './durable.ts';
import { systemFiles } from './ops.ts';

export const lastStartIn = (dir: string): string => `${dir}/last-start.json`;

/** Stores the start for later commands. Never rejects, because viewlog works without it. */
export const rememberStart = (dir: string, self: object): Promise<void> =>
  replaceFile(systemFiles, lastStartIn(dir), `${JSON.stringify(self)}\n`)
    // Under a service's umask of 077, nobody else could read the options.
    .then(() => systemFiles.chmod(lastStartIn(dir), 0o640))
    .catch(() => {});

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
