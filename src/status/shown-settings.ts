import { installationOf } from './shell-commands.ts';

interface Chosen {
  readonly host: string;
  readonly port: number;
  readonly data: string;
  readonly projects: string;
  readonly durability: 'disk' | 'os';
  readonly 'max-view': number;
  readonly 'min-free': number;
  readonly 'keep-days': number;
  readonly 'keep-refused-days': number;
  readonly store: object | undefined;
}

export type ShownSettings = ReturnType<typeof shownSettings>;

/**
 * Returns how a collector was started, by option, with absolute paths and without secrets. The doctor
 * asks for it, so that it examines what the collector really does.
 * @param url where it listens, if it does already: `--port 0` does not say.
 */
export function shownSettings(chosen: Chosen, url = '') {
  const { host, port, durability, store } = chosen;
  const { dataDir, projectsPath } = installationOf(chosen);
  return {
    host,
    port: Number(/:(\d+)$/.exec(url)?.[1] ?? port),
    /** `undefined` if views go to a stream. */
    data: dataDir,
    projects: projectsPath,
    durability,
    'max-view': chosen['max-view'],
    'min-free': chosen['min-free'],
    'keep-days': chosen['keep-days'],
    'keep-refused-days': chosen['keep-refused-days'],
    store: store === undefined ? ('files' as const) : ('stream' as const),
  };
}
