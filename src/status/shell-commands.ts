import { dirname } from 'node:path';
import { formatSizeOption } from '../base/format.ts';
import { KiB } from '../base/size.ts';
import { shellQuoted } from '../base/text.ts';
import { accountOf } from '../disk/root.ts';
import { fileNameOf } from '../disk/names.ts';
import type { ShownSettings } from './shown-settings.ts';

// Commands that an operator pastes into a shell on the collector's machine. Every text that a
// person chose is quoted; origins of unknown senders must first pass `view/remedy.ts`.

/** The default of `--max-view`. */
const VIEW_BYTES_MAX = 16 * KiB;

/** The installation that commands are for. */
export interface Place extends Pick<ShownSettings, 'data' | 'projects' | 'max-view'> {
  /** The system account that owns the files: `viewlog`, `#998`. */
  readonly account: string | undefined;
  /** The collector's own address, without a slash at its end. */
  readonly url: string;
}

export const placeOf = (settings: ShownSettings, url: string): ShownSettings & Place => ({
  ...settings,
  account: accountOf(dirname(settings.projects)),
  url,
});

const as = (account: string | undefined, command: string): string =>
  account === undefined ? command : `sudo -u ${shellQuoted(account)} ${command}`;

/** The place of the projects file; other parts if they are known. */
export type Owned = Pick<Place, 'projects'> & Partial<Place>;

/** Returns a command of viewlog that reads or edits the projects file. */
export const withProjects = (command: string, { projects, account }: Owned): string =>
  as(account, `viewlog ${command} --projects ${shellQuoted(projects)}`);

/**
 * Returns a command that activates a project, and allows the origin or sets the limit if there is
 * one.
 * @param id digits only.
 */
export function activationOf(
  id: string,
  change: { readonly origin?: string | undefined; readonly viewsPerMinute?: number },
  place: Owned,
): string {
  const { origin, viewsPerMinute: limit } = change;
  const from = origin === undefined ? '' : ` --origin ${shellQuoted(origin)}`;
  const most = limit === undefined ? '' : ` --max-views-per-minute ${limit}`;
  return withProjects(`activate ${id}${from}${most}`, place);
}

const refusedFile = (data: string | undefined, day: string): string =>
  shellQuoted(`${data}/${fileNameOf('refused', day)}`);

/** Returns a command that sends the stored refused views of these days again. */
export function replayOf(id: string, days: readonly string[], place: Place): string {
  const { data, url, 'max-view': viewBytesMax } = place;
  const files = days.map((day) => refusedFile(data, day)).join(' ');
  const size =
    viewBytesMax === VIEW_BYTES_MAX ? '' : ` --max-view ${formatSizeOption(viewBytesMax)}`;
  return withProjects(`replay ${files} --to ${shellQuoted(url)} --project ${id}${size}`, place);
}

/** A longer command is hard to paste. */
const REMOVED_MAX = 20;

/** Returns a command that removes files of the data directory, as many as fit. */
export function removalOf(names: readonly string[], { data = '.', account }: Place): string {
  const files = names.slice(0, REMOVED_MAX).map((name) => shellQuoted(`${data}/${name}`));
  return as(account, `rm ${files.join(' ')}`);
}

/** Returns a command that examines the installation. */
export const doctorOf = ({ data = '', account }: Place): string =>
  as(account, `viewlog doctor --data ${shellQuoted(data)}`);

/** Returns a command that starts a collector. */
export function serveOf(settings: ShownSettings & Place): string {
  const { data, projects, account, host, port } = settings;
  const dir = data === undefined ? '' : ` --data ${shellQuoted(data)}`;
  const isUsual = projects === `${data}/projects.json`;
  const list = isUsual ? '' : ` --projects ${shellQuoted(projects)}`;
  return as(account, `viewlog serve${dir}${list} --host ${host} --port ${port}`);
}
