import { accessSync, constants } from 'node:fs';
import { builtTexts } from '../base/built.ts';
import { errnoOf, EXIT, Fatal } from '../base/exit.ts';
import { echo, nearest, printable } from '../base/text.ts';
import { lastStartIn } from '../disk/last-start.ts';
import { lastKnownStart } from '../disk/lock.ts';
import type { AsOwner } from '../disk/root.ts';
import { ownAddress } from '../http/listener.ts';
import * as commands from '../installation/commands.ts';
import {
  type Announced,
  type Chosen,
  otherProjects,
  withOwners,
} from '../installation/installation.ts';
import { OPTIONS, readSettings, SERVE_OPTIONS } from '../settings.ts';
import { defineCommand, tableOf } from './command.ts';
import { type Installation, readInstallation } from './example/installation.ts';
import { type Value, VALUES } from './example/values.ts';

/** The examples by name, each with a summary. */
const EXAMPLES: Readonly<Record<string, string>> = {
  systemd: 'a systemd service that runs, reloads and restarts viewlog',
  archive: "a systemd service that archives a cluster's views",
  'systemd-socket': 'a systemd socket, so that restarts refuse no view',
  caddy: 'a Caddy site with viewlog behind it',
  nginx: 'an nginx site with viewlog behind it',
  dockerfile: 'a Dockerfile for a container image',
  compose: 'a Docker Compose service of that image',
  prometheus: 'a Prometheus scrape configuration',
  alerts: 'Prometheus alerting rules',
  'fluent-bit': 'a shipper configuration for Fluent Bit 3.2 or later',
  vector: 'a shipper configuration for Vector 0.34 or later',
  filebeat: 'a shipper configuration for Filebeat 8.15 or later',
  rsyslog: 'a shipper configuration for rsyslog 8.2006 or later',
  clickhouse: 'a ClickHouse table for the views and how to load it',
};

/** The names of the values, options included, that a printed file uses. */
type Used = ReadonlySet<string>;

/** Prints a file for another program, filled in with this installation's settings. */
export const example = defineCommand({
  name: 'example',
  operands: '[NAME]',
  summary: 'lists or prints files for systemd, Caddy and others',
  examples: [
    'viewlog example',
    'viewlog example systemd --data /var/lib/viewlog > viewlog.service',
  ],
  options: SERVE_OPTIONS,
  optionHelp: {
    host: 'address to listen on (default: that of the last start in --data)',
    port: 'port to listen on (default: that of the last start in --data)',
    status: 'address of the status page, or off (default: that of the last start in --data)',
  },
  optionNote:
    'Each option that you pass is written into the file if the file needs it.\n' +
    "Only --store isn't, because it may contain a password.",
  async run(settings, operands, { print, log, self: asked, asOwner }) {
    if (operands.length === 0) {
      print(tableOf(Object.entries(EXAMPLES)).join('\n'));
      return EXIT.done;
    }
    const name = operands[0]!;
    if (!Object.hasOwn(EXAMPLES, name)) {
      const names = Object.keys(EXAMPLES);
      const near = nearest(name, names);
      const hint =
        near === undefined ? `Choose one of ${names.join(', ')}` : `Did you mean ${near}?`;
      throw new Fatal(EXIT.usage, `Unknown example "${echo(name)}". ${hint}`);
    }
    const last = await knownStart(asked, name === 'archive' ? 'archive' : 'collector');
    const taken = addressesTaken(asked, last);
    const self = { ...asked, chosen: { ...asked.chosen, ...taken.chosen } };
    const installation = await readInstallation({ ...settings, ...taken.settings }, self);
    const used = new Set<string>();
    const text = fill(name, noting(installation, used));
    const warnings = [
      warningAboutOwner(installation, used),
      warningAboutAccess(installation, used, last === undefined, asOwner),
      last && (await warningAboutOptions(name, self, used, last)),
    ];
    for (const warning of warnings) if (warning !== undefined) log.warn(warning);
    print(text);
    return EXIT.done;
  },
});

/**
 * Returns a template with each `<<name>>` replaced with its value or the template of that name. A
 * line with a list is repeated for each item. A line that begins with `<<?name>>` is left out if
 * the value of `name` is empty.
 * @throws {Fatal} exit 64 if there is no such file for these settings.
 */
function fill(example: string, installation: Installation, template = example): string {
  const textOf = (name: string): string | undefined => builtTexts()[`${name}.template`];
  const valueFor = (name: string): Value =>
    textOf(name) === undefined
      ? VALUES[name]!(installation, example)
      : fill(example, installation, name);
  const filled = (line: string): string[] => {
    const [mark, condition, name = ''] = /<<(\??)(\w+)>>/.exec(line) ?? [];
    if (mark === undefined) return [line];
    const value = valueFor(name);
    if (condition === '?') return value === '' ? [] : filled(line.replace(mark, ''));
    return [value].flat().flatMap((item) => filled(line.replace(mark, () => `${item}`)));
  };
  return textOf(template)!.trimEnd().split('\n').flatMap(filled).join('\n');
}

/** Returns the installation, which adds to `used` the name of each value that is read from it. */
function noting(installation: Installation, used: Set<string>): Installation {
  const noted = <T extends object>(values: T): T =>
    new Proxy(values, {
      get(from, name) {
        used.add(String(name));
        return from[name as keyof T];
      },
    });
  const { settings, texts } = installation;
  return noted({ ...installation, settings: noted(settings), texts: noted(texts) });
}

/**
 * Returns how the viewlog of this data directory runs, or last ran; `undefined` if that is unknown.
 */
async function knownStart({ data }: Announced, role: string): Promise<Announced | undefined> {
  if (data === undefined) return undefined;
  const found = await lastKnownStart(data);
  return found?.role === role ? { ...found, chosen: chosenOrPassed(found) } : undefined;
}

/** Returns the options of a start. The address of a passed socket replaces `--host` and `--port`. */
function chosenOrPassed({ chosen, address = '' }: Announced): Chosen {
  const textOf = (name: 'host' | 'port'): string =>
    chosen[name]?.text ?? `${OPTIONS[name].fallback}`;
  const port = Number(textOf('port'));
  const [, host, passedPort] = /^http:\/\/\[?(.+?)\]?:(\d+)$/.exec(address) ?? [];
  const isOwn = port === 0 || address === ownAddress({ host: textOf('host'), port });
  if (isOwn || host === undefined || passedPort === undefined) return chosen;
  const passed = (text: string) => ({ text, from: 'flag' as const });
  return { ...chosen, host: passed(host), port: passed(passedPort) };
}

const ADDRESSES = ['host', 'port', 'status'] as const;

/**
 * Returns the addresses that the command line leaves out, taken from the viewlog that is running or
 * last ran in the data directory: a proxy must find viewlog there. Returns none if that viewlog
 * knows the directory by another name: it ran in a container, and its addresses are valid only
 * inside.
 */
function addressesTaken({ data, chosen }: Announced, last: Announced | undefined) {
  const chosenThen: Chosen = last?.data === data ? (last?.chosen ?? {}) : {};
  // Another process chose the texts, and root may install the printed file. So only plain
  // addresses pass.
  const names = ADDRESSES.filter(
    (name) => !(name in chosen) && /^[\w.:[\]-]+$/.test(chosenThen[name]?.text ?? ''),
  );
  const flags = names.map((name) => ({ name, value: chosenThen[name]!.text }));
  return {
    chosen: Object.fromEntries(names.map((name) => [name, chosenThen[name]!])),
    settings: readSettings(flags, names, () => undefined),
  };
}

/**
 * Warns about options of the last start that would change the printed file, but that the file
 * lacks.
 */
async function warningAboutOptions(
  name: string,
  self: Announced,
  used: Used,
  last: Announced,
): Promise<string | undefined> {
  const { chosen } = self;
  const lacking = SERVE_OPTIONS.flatMap((option) => {
    const choice = last.chosen[option];
    const isMissing = choice !== undefined && choice.text !== OPTIONS[option].fallback;
    return isMissing && used.has(option) && !(option in chosen) ? [[option, choice] as const] : [];
  });
  const usesProjects = used.has('projects') || used.has('site');
  const others = otherProjects(self) ?? (usesProjects ? otherProjects(last) : undefined);
  const projects = others ?? self.projects;
  const all = { ...self, projects, chosen: { ...chosen, ...Object.fromEntries(lacking) } };
  const installation = await withOwners(all);
  const again = commands.example(installation, name);
  if (again === commands.example({ ...installation, ...self }, name)) return undefined;
  const where = `The last start in "${printable(self.data!, Infinity)}"`;
  return `${where} had options that this file lacks. To include them: ${again}`;
}

/**
 * Warns about files that this user can't read, although the printed file depends on their content.
 */
function warningAboutAccess(
  { dir, settings, owner }: Installation,
  used: Used,
  isUnknown: boolean,
  asOwner: AsOwner,
): string | undefined {
  const { data: _, projects, store, ...options } = settings;
  const usesOptions = Object.keys(options).some((name) => used.has(name));
  // With a stream, nothing stores the last start.
  const isMissed = isUnknown && usesOptions && store === undefined;
  const files = [
    ...(isMissed ? [lastStartIn(dir)] : []),
    ...(used.has('site') ? [projects] : []),
  ].filter(isForbidden);
  if (files.length === 0) return undefined;
  const what = `This user can't read "${files.join('" or "')}", so the printed file contains defaults`;
  return [what, owner && asOwner(owner)].filter(Boolean).join('; ');
}

function isForbidden(path: string): boolean {
  try {
    accessSync(path, constants.R_OK);
    return false;
  } catch (error) {
    return errnoOf(error) === 'EACCES';
  }
}

/**
 * Warns if the printed file would run viewlog as root, or as a user whose data directory doesn't
 * exist yet.
 */
function warningAboutOwner(of: Installation, used: Used): string | undefined {
  const { dir, isDirMissing, user, uid } = of;
  const isImage = used.has('uid');
  if (!isImage && !used.has('user')) return undefined;
  if (isDirMissing) {
    const who = isImage ? `the user with uid ${uid}` : `the user ${user}`;
    return `"${dir}" doesn't exist; before you use this file, create the directory for ${who}`;
  }
  if (uid !== 0) return undefined;
  const command = commands.giveBack({ data: dir, hasSudo: undefined }, undefined);
  const fix =
    "To give the directory and everything in it to a service's account, replace USER with the account's name, run this, and print the file again";
  return `"${dir}" belongs to root, so the service would run as root. ${fix}: ${command}`;
}
