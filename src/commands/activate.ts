import { dirname } from 'node:path';
import { EXIT, Fatal } from '../base/exit.ts';
import { plural } from '../base/format.ts';
import { echo, printable, shellQuoted } from '../base/text.ts';
import { ownerOf } from '../installation/accounts.ts';
import * as commands from '../installation/commands.ts';
import { absolute, type Installation, withOwners } from '../installation/installation.ts';
import { changeProject } from '../projects/change-project.ts';
import { curlOf } from '../projects/curl.ts';
import { editProject } from '../projects/edit.ts';
import { typoOf } from '../projects/typo.ts';
import { isOrigin, ORIGIN_SHAPE, originKey, originMeant } from '../projects/origins.ts';
import type { ProjectEntry } from '../projects/projects-schema.ts';
import { lastEntryOf } from '../status/saved-counts.ts';
import { ACTIVATE_OPTIONS, OPTIONS } from '../settings.ts';
import { collectorAddress, defineCommand } from './command.ts';

/** Adds a project to the projects file, or changes a listed one, and makes the project active. */
export const activate = defineCommand({
  name: 'activate',
  operands: 'ID',
  summary: 'adds, activates or changes a project',
  examples: ['viewlog activate 1000001 --name "My site" --origin https://www.example.com'],
  options: [...ACTIVATE_OPTIONS, 'host', 'port', 'data', 'projects'],
  optionHelp: {
    host: 'host in the printed commands if no collector is running',
    port: 'port in the printed commands if no collector is running',
  },
  async run(settings, operands, { print, log, self, asOwner }) {
    const id = operands[0]!;
    const { operator, projects, origin: origins, 'remove-origin': removedOrigins } = settings;
    checkOrigins('origin', origins);
    checkOrigins('remove-origin', removedOrigins);
    const { name, contact, 'max-views-per-minute': maxViewsPerMinute } = settings;
    const change = { name, contact, maxViewsPerMinute, origins, removedOrigins };
    const reader = await ownerOf(settings.data);
    const edited = await editProject({
      path: projects,
      data: settings.data,
      id,
      change: (project) => changeProject(project, id, change),
      operator,
      canCreate: true,
      reader,
      asOwner,
    });
    const { outcome, before, after, newDirectory } = edited;
    const { address, isRunning } = await collectorAddress(settings, self);
    const installation = await withOwners({ ...self, address });
    const dir = self.data ?? dirname(absolute(projects));
    const doubts = before === undefined ? await doubtsAbout(edited, dir, installation) : [];
    for (const doubt of doubts) log.warn(doubt);
    const known = new Set(before?.origins?.map(originKey));
    for (const origin of removedOrigins.filter((one) => !known.has(originKey(one)))) {
      log.warn(`${origin} wasn't among the origins of project ${id}`);
    }
    if (before !== undefined && before.active !== false && !before.origins && after.origins) {
      log.warn(
        `Project ${id} accepted views from every site; it now accepts them only from the listed ones. Programs that send no Origin header are refused`,
      );
    }
    const path = printable(absolute(projects), Infinity);
    const grant = reader && (await commands.grantToRead(reader, absolute(projects)));
    if (grant !== undefined) log.warn(`User ${reader!.name} can't read ${path}; run: ${grant}`);
    if (newDirectory !== undefined) {
      const isDefault = newDirectory === OPTIONS.data.fallback;
      const hint = isDefault ? '. To use another one, give it with --data' : '';
      print(`Created the directory ${printable(absolute(newDirectory), Infinity)}${hint}`);
    }
    print(resultOf({ id, path, before, after, outcome, isRunning }));
    if (outcome === 'created' && operator === undefined) {
      print(
        'To show your e-mail address in refusals, run this command again with --operator you@example.com',
      );
    }
    const where = isRunning ? ' to the running viewlog' : ', once viewlog is running';
    const unknown = isRunning === undefined ? " (this user isn't allowed to check)" : '';
    print(
      'To print the script for its pages, run this. Replace the address after --url with the one that browsers use:',
    );
    const sender = { id, origins: origins.length > 0 ? [...origins] : after.origins };
    print(`  ${commands.snippet(installation, id, viewsUrl(sender, address))}`);
    print(`To send a test view${where}${unknown}:\n  ${curlOf(sender, address)}`);
    return EXIT.done;
  },
});

/** Makes a project inactive. The project stays listed. */
export const deactivate = defineCommand({
  name: 'deactivate',
  operands: 'ID',
  summary: 'deactivates a project',
  examples: ['viewlog deactivate 1000001'],
  options: ['data', 'projects'],
  async run({ projects: path, data }, operands, { print, asOwner }) {
    const id = operands[0]!;
    const name = printable(absolute(path), Infinity);
    const change = (project: ProjectEntry | undefined): ProjectEntry => {
      if (project !== undefined) return { ...project, active: false };
      throw new Fatal(
        EXIT.usage,
        `Project ${id} isn't listed in ${name}, so its views are already refused`,
      );
    };
    const { outcome } = await editProject({ path, data, id, change, asOwner });
    if (outcome === 'unchanged') {
      print(`Project ${id} is unchanged in ${name}: inactive, so its views are refused`);
    } else {
      print(
        `Deactivated project ${id} in ${name}. ${soon(undefined, "refuses the project's views")}`,
      );
    }
    return EXIT.done;
  },
});

/** @throws {Fatal} exit 64 for an origin that no project can list. */
export function checkOrigins(flag: string, origins: readonly string[]): void {
  const wrong = origins.find((origin) => !isOrigin(origin));
  if (wrong === undefined) return;
  const meant = originMeant(wrong);
  const hint =
    meant === undefined
      ? `For example: --${flag} https://www.example.com`
      : `Did you mean ${shellQuoted(meant)}?`;
  throw new Fatal(EXIT.usage, `--${flag} ${ORIGIN_SHAPE}; found "${echo(wrong)}". ${hint}`);
}

/** Returns why a new project may not be what was meant. */
async function doubtsAbout(
  { after: added, listed, operator }: Awaited<ReturnType<typeof editProject>>,
  data: string,
  of: Installation,
): Promise<string[]> {
  const { id } = added;
  const doubts: string[] = [];
  const near = typoOf(id, listed)?.id;
  if (near !== undefined) {
    const undo = commands.deactivate(of, id);
    doubts.push(
      `Project ${id} is new and one typo away from ${near}. If ${near} is the typo, correct the projects file. If ${id} is the typo, deactivate it: ${undo}`,
    );
  }
  const last = await lastEntryOf(id, data);
  if (last !== undefined && rulesOf(last) !== rulesOf(added)) {
    // The projects file may have another operator by now.
    const entry = { ...last, operator: operator ? undefined : last.operator };
    doubts.push(
      `Project ${id} was listed before, for ${rulesOf(last)}; to restore that entry, run: ${commands.activateAsWas(of, entry)}`,
    );
  }
  return doubts;
}

interface Activation {
  readonly id: string;
  /** The projects file. */
  readonly path: string;
  readonly before: ProjectEntry | undefined;
  readonly after: ProjectEntry;
  readonly outcome: string;
  /** `undefined` if it is unknown. */
  readonly isRunning: boolean | undefined;
}

/** Returns what was done, the project's rules, and when a running viewlog follows them. */
function resultOf({ id, path, before, after, outcome, isRunning }: Activation): string {
  const rules = rulesOf(after);
  if (outcome === 'unchanged') return `Project ${id} is unchanged in ${path}: active, ${rules}`;
  const accepts = soon(isRunning, "accepts the project's views");
  if (before === undefined) {
    const file = outcome === 'created' ? `the new file ${path}` : path;
    return `Added project ${id} to ${file}: ${rules}. ${accepts}`;
  }
  if (before.active === false) return `Activated project ${id} in ${path}: ${rules}. ${accepts}`;
  return `Changed project ${id} in ${path}: active, ${rules}. ${soon(isRunning, 'applies the change')}`;
}

function soon(isRunning: boolean | undefined, what: string): string {
  if (isRunning) return `viewlog ${what} within 2 seconds.`;
  return isRunning === undefined
    ? `If viewlog is running, it ${what} within 2 seconds.`
    : `viewlog ${what} once it is running.`;
}

/** `https://www.example.com, at most 6,000 views per minute` */
function rulesOf({ origins, maxViewsPerMinute: limit }: ProjectEntry): string {
  const from = origins === undefined ? 'any origin' : origins.map((o) => printable(o)).join(', ');
  const rate = limit === undefined ? 'no limit' : `at most ${plural(limit, 'view')} per minute`;
  return `${from}, ${rate}`;
}

/**
 * Returns the address that pages send views to. With the example proxies, that is the pages' own
 * origin.
 */
function viewsUrl({ origins = [] }: Pick<ProjectEntry, 'origins'>, address: string): string {
  const site = origins.find((origin) => /^https:\/\/[^*]+$/i.test(origin));
  return site === undefined ? address : originKey(site);
}
