import { resolve } from 'node:path';

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

/**
 * Returns the settings as the doctor reads them, so that it examines the running collector.
 * @param chosen the operator's settings; with a store, views go to the store.
 */
export function shownSettings(
  chosen: ShownSettings & { readonly data: string; readonly store: object | undefined },
): ShownSettings {
  return {
    host: chosen.host,
    port: chosen.port,
    data: chosen.store === undefined ? absolute(chosen.data) : undefined,
    projects: absolute(chosen.projects),
    durability: chosen.durability,
    'max-view': chosen['max-view'],
    'min-free': chosen['min-free'],
    'keep-days': chosen['keep-days'],
    'keep-refused-days': chosen['keep-refused-days'],
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
