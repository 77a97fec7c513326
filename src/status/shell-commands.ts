import { dirname, resolve } from 'node:path';
import { formatSizeOption, KiB } from '../base/format.ts';
import { shellQuoted } from '../base/text.ts';
import { statSync } from 'node:fs';
import { orElse } from '../base/exit.ts';
import { isService, ownerIn } from '../installation/accounts.ts';
import { fileNameOf } from '../disk/names.ts';

// Commands that an operator pastes into a shell on the collector's machine. Every text that a
// person chose is quoted; origins of unknown senders must first pass `view/remedy.ts`.

/** The installation that commands are for: its settings by option, with absolute paths. */
export interface Place {
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
  /** The system account that owns the files: `viewlog`, `#998`. */
  readonly account: string | undefined;
  /** The collector's own address, without a slash at its end. */
  readonly url: string;
}

/** The operator's settings of a collector. */
export type Chosen = Omit<Place, 'account' | 'url'> & {
  readonly data: string;
  readonly store: object | undefined;
};

/** Returns the installation without the address of its store, which may contain a password. */
export function placeOf({ store, ...chosen }: Chosen, url: string): Place {
  const data = store === undefined ? absolute(chosen.data) : undefined;
  const projects = absolute(chosen.projects);
  return { ...chosen, data, projects, account: accountOf(dirname(projects)), url };
}

/** Deno does not reveal the working directory without permission to read it. */
function absolute(path: string): string {
  try {
    return resolve(path);
  } catch {
    return path;
  }
}

function accountOf(dir: string): string | undefined {
  const owner = orElse(() => ownerIn(statSync(dir)), undefined);
  return owner && isService(owner) ? owner.name : undefined;
}

const as = (account: string | undefined, command: string): string =>
  account === undefined ? command : `sudo -u ${shellQuoted(account)} ${command}`;

export type Options = Readonly<Record<string, string | number | undefined>>;

/** Returns a command of viewlog, with those options that have a value. */
function viewlog(command: string, options: Options, account: string | undefined): string {
  const given = Object.entries(options).filter(([, value]) => value !== undefined);
  const words = given.map(([name, value]) => ` --${name} ${shellQuoted(String(value))}`);
  return as(account, `viewlog ${command}${words.join('')}`);
}

/** The place of the projects file; other parts if they are known. */
export type Owned = Pick<Place, 'projects'> & Partial<Place>;

/** Returns a command of viewlog that reads or edits the projects file, such as `activate 1`. */
export const withProjects = (
  command: string,
  { projects, account }: Owned,
  options: Options = {},
): string => viewlog(command, { ...options, projects }, account);

/** The default of `--max-view`. */
const VIEW_BYTES_MAX = 16 * KiB;

const refusedFile = (data: string | undefined, day: string): string =>
  shellQuoted(`${data}/${fileNameOf('refused', day)}`);

/** Returns the value of `--max-view`, if it is not the default. */
const maxViewOf = (bytes = VIEW_BYTES_MAX): string | undefined =>
  bytes === VIEW_BYTES_MAX ? undefined : formatSizeOption(bytes);

/** Returns a command that explains the latest stored invalid view of a project on this day. */
export function explainOf(project: string, day: string, place: Owned): string {
  const pattern = shellQuoted(`"code":"invalid-view".*"p": *"?${project}["},]`);
  const line = as(place.account, `grep -E ${pattern} ${refusedFile(place.data, day)}`);
  const options = { 'max-view': maxViewOf(place['max-view']) };
  return `${line} | tail -n 1 | ${withProjects('explain', place, options)}`;
}

/** Returns a command that sends the stored refused views of these days again. */
export function replayOf(project: string, days: readonly string[], place: Place): string {
  const { data, url: to, 'max-view': bytes } = place;
  const files = days.map((day) => refusedFile(data, day)).join(' ');
  const options = { to, project, data, 'max-view': maxViewOf(bytes) };
  return withProjects(`replay ${files}`, place, options);
}

/** A longer command is hard to paste. */
const REMOVED_MAX = 20;

/** Returns a command that removes files of the data directory, as many as fit. */
export function removalOf(names: readonly string[], { data = '.', account }: Place): string {
  const files = names.slice(0, REMOVED_MAX).map((name) => shellQuoted(`${data}/${name}`));
  return as(account, `rm ${files.join(' ')}`);
}

/** Returns a command that examines the installation. */
export const doctorOf = ({ data, account }: Partial<Place>, url?: string): string =>
  viewlog('doctor', { data, url }, account);
