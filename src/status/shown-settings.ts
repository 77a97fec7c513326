import { absolute } from '../installation/installation.ts';

/** A collector's settings by option, with absolute paths, and its address. */
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
  /** The collector's own address, without a slash at its end. */
  readonly url: string;
}

/** The operator's settings of a collector. */
export type ChosenSettings = Omit<ShownSettings, 'url'> & {
  readonly data: string;
  readonly store: object | undefined;
};

/** Returns the settings without the address of the store, which may contain a password. */
export function shownSettingsOf({ store, ...chosen }: ChosenSettings, url: string): ShownSettings {
  const data = store === undefined ? absolute(chosen.data) : undefined;
  const projects = absolute(chosen.projects);
  return { ...chosen, data, projects, url };
}
