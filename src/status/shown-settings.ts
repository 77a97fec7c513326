import { portOf } from '../http/listener.ts';
import { installationOf } from './shell-commands.ts';

/** How a collector was started, by option, with absolute paths and without secrets. */
export interface ShownSettings {
  readonly host: string;
  readonly port: number;
  /** `undefined` if views go to a stream. */
  readonly data: string | undefined;
  readonly projects: string;
  readonly durability: 'disk' | 'os';
  readonly 'max-view': number;
  readonly 'min-free': number;
  readonly 'keep-days': number;
  readonly 'keep-refused-days': number;
}

/** The operator's settings. */
export type Chosen = ShownSettings & { readonly data: string; readonly store: object | undefined };

/**
 * Returns the settings as the doctor reads them, so that it examines the running collector.
 * @param url the address listened on, if there is one already: `--port 0` does not contain it.
 */
export function shownSettings(chosen: Chosen, url = ''): ShownSettings {
  const { dataDir, projectsPath } = installationOf(chosen);
  return {
    host: chosen.host,
    port: portOf(url) ?? chosen.port,
    data: dataDir,
    projects: projectsPath,
    durability: chosen.durability,
    'max-view': chosen['max-view'],
    'min-free': chosen['min-free'],
    'keep-days': chosen['keep-days'],
    'keep-refused-days': chosen['keep-refused-days'],
  };
}
