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

/** What the operator chose. */
export type Chosen = ShownSettings & { readonly data: string; readonly store: object | undefined };

/**
 * The doctor asks for the settings, so that it examines what the collector really does.
 * @param url where it listens, if it does already: `--port 0` does not say.
 */
export function shownSettings(chosen: Chosen, url = ''): ShownSettings {
  const { dataDir, projectsPath } = installationOf(chosen);
  return {
    host: chosen.host,
    port: Number(/:(\d+)$/.exec(url)?.[1] ?? chosen.port),
    data: dataDir,
    projects: projectsPath,
    durability: chosen.durability,
    'max-view': chosen['max-view'],
    'min-free': chosen['min-free'],
    'keep-days': chosen['keep-days'],
    'keep-refused-days': chosen['keep-refused-days'],
  };
}
