import * as fs from 'node:fs';
import * as path from 'node:path';
import { EXIT, Fatal, orElse } from '../../base/exit.ts';
import { printable } from '../../base/text.ts';
import { groupName, ownerIn, userName } from '../../installation/accounts.ts';
import * as commands from '../../installation/commands.ts';
import {
  type Announced,
  otherProjects,
  ownProgram,
  withOwners,
} from '../../installation/installation.ts';
import { originKey } from '../../projects/origins.ts';
import { readProjectsFile } from '../../projects/projects-file.ts';
import { OPTIONS, SERVE_OPTIONS, type ServeSettings } from '../../settings.ts';
import { isLoopback } from '../../status/guard.ts';

type ServeOption = keyof ServeSettings;

/** The facts that fill in an example: this viewlog, its settings, this machine. */
export type Installation = Awaited<ReturnType<typeof readInstallation>>;

/** @throws {Fatal} exit 64 if a path has characters that a configuration file could misread. */
export async function readInstallation(given: ServeSettings, self: Announced) {
  const entries = Object.entries(given).map(([name, value]) => {
    const isPath = ['DIR', 'FILE'].includes(OPTIONS[name as ServeOption].value);
    return [name, isPath && typeof value === 'string' ? plainPath(path.resolve(value)) : value];
  });
  const settings = Object.fromEntries(entries) as ServeSettings;
  const dir = settings.store === undefined ? settings.data : path.dirname(settings.projects);
  const stats = orElse(() => fs.statSync(dir), undefined);
  const { runtime, file } = ownProgram();
  const installed = await withOwners(self);
  const texts = textsOf(self);
  return {
    /** Every path is absolute, and every template can contain it. */
    settings,
    texts,
    /** The address of the status server; `undefined` if it is off. */
    status: settings.status === 'off' ? undefined : settings.status,
    /** `--data`; with a stream store, the projects file's directory. */
    dir,
    isDirMissing: stats === undefined,
    /**
     * The owner of `dir`; a guess if `dir` doesn't exist. An id stands for a user or group without
     * a name.
     */
    user: stats === undefined ? 'viewlog' : userName(stats.uid).replace('#', ''),
    group: stats === undefined ? 'viewlog' : groupName(stats.gid).replace('#', ''),
    // A machine or an image gives its first user this id.
    uid: stats?.uid ?? 1000,
    gid: stats?.gid ?? 1000,
    /** The account that owns `dir`. */
    owner: stats && ownerIn(stats),
    hasSudo: installed.hasSudo,
    /**
     * Returns the command that prints another example with the same options. An example doesn't
     * contain the cluster's address, so any address will do.
     */
    commandFor: (example: string): string =>
      commands.example(installed, example) +
      (settings.store === undefined || installed.chosen['store']
        ? ''
        : ' --store nats://HOST:4222'),
    /** The path of the runtime; `undefined` for the single executable. */
    runtime,
    /** The bundle or the executable. */
    program: file,
    site: await siteOf(settings.projects),
  };
}

/**
 * Returns the host name of the listed site, without a port, because proxies compare names only.
 * Returns an example if the projects file doesn't list exactly one site. Sites on a developer's
 * machine don't count.
 */
async function siteOf(projects: string): Promise<string> {
  const reading = await readProjectsFile(projects);
  const listed = 'file' in reading ? reading.file.projects : [];
  const origins = listed
    .filter(({ active }) => active !== false)
    .flatMap((one) => one.origins ?? []);
  const names = origins.map((origin) => new URL(originKey(origin)).hostname);
  const sites = new Set(names.filter((name) => !isLoopback(name) && !name.endsWith('.localhost')));
  const [site = '*'] = sites;
  return sites.size > 1 || site.includes('*') ? 'www.example.com' : site;
}

/**
 * Returns the path if every template can contain it unquoted. The programs that read the files
 * disagree about quotes, so the templates use none.
 * @throws {Fatal} exit 64 if those programs would interpret a character of the path.
 */
export function plainPath(file: string): string {
  const [odd] = /[^\p{L}\p{N}/._@+=:-]/u.exec(file) ?? [];
  if (odd === undefined) return file;
  const name = printable(file, Infinity);
  throw new Fatal(
    EXIT.usage,
    `Can't put "${name}" into a configuration file, where the character "${printable(odd)}" has a ` +
      'special meaning; use a path of only letters, digits and / . _ @ + = : -',
  );
}

/** The chosen options as texts. `store` is left out: it may contain a password. */
export type Texts = { readonly [N in ServeOption]?: string | undefined };

function textsOf(self: Announced): Texts {
  const texts = SERVE_OPTIONS.map((name) => [name, self.chosen[name]?.text] as const);
  const { data } = self;
  const projects = otherProjects(self);
  return { ...Object.fromEntries(texts), data, projects, store: undefined };
}

/** Returns these options as flags on a command line. */
export const flagsOf = (texts: Texts, names: readonly ServeOption[] = SERVE_OPTIONS): string =>
  names.flatMap((name) => (texts[name] === undefined ? [] : ` --${name} ${texts[name]}`)).join('');
