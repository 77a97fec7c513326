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
import { openedTexts } from '../projects/follow.ts';
import { typoOf } from '../projects/typo.ts';
import { isOrigin, ORIGIN_SHAPE, originKey, originMeant } from '../projects/origins.ts';
import type { ProjectEntry, ProjectsFile } from '../projects/projects-schema.ts';
import { TO_PRINT } from '../status/problem-words.ts';
import { lastEntryOf, lostOrigins } from '../status/saved-counts.ts';
import { ACTIVATE_OPTIONS, OPTIONS } from '../settings.ts';
import { collectorAddress, defineCommand, otherCollector } from './command.ts';

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
    checkChanges(origins, removedOrigins);
    const { name, contact, 'max-views-per-minute': maxViewsPerMinute } = settings;
    const change = { name, contact, maxViewsPerMinute, origins, removedOrigins };
    const reader = await ownerOf(settings.data);
    const { address, isRunning } = await collectorAddress(settings, self);
    const installation = await withOwners({ ...self, address });
    const dir = self.data ?? dirname(absolute(projects));
    const last = await lastEntryOf(id, dir);
    const edited = await editProject({
      path: projects,
      data: settings.data,
      id,
      change(project, file) {
        const after = changeProject(project, id, change, last);
        const hasRules = origins.length > 0 || maxViewsPerMinute !== undefined;
        if (project !== undefined || hasRules) return after;
        const earlier = earlierEntry(last, after, operator ?? file.operator, installation);
        if (earlier === undefined) return after;
        const other = 'For other rules, give --origin or --max-views-per-minute';
        throw new Fatal(EXIT.usage, `${earlier.was}. ${other}. ${earlier.restore}`);
      },
      operator,
      canCreate: true,
      reader,
      asOwner,
    });
    const { before, after, newDirectory } = edited;
    const lost = after.origins === undefined ? await lostOrigins(id, dir) : undefined;
    for (const text of [
      ...(before ? doubtsAbout(before, after) : doubtsAboutNew(edited, last, installation)),
      ...shared(edited),
      ...(lost ? openedTexts([lost], installation) : []),
      ...unlisted(removedOrigins, before).map(
        (origin) => `${origin} wasn't among the origins of project ${id}`,
      ),
    ])
      log.warn(text);
    const path = printable(absolute(projects), Infinity);
    const grant = reader && (await commands.grantToRead(reader, absolute(projects)));
    if (grant !== undefined) log.warn(`User ${reader!.name} can't read ${path}; run: ${grant}`);
    if (newDirectory !== undefined) {
      const isDefault = newDirectory === OPTIONS.data.fallback;
      const hint = isDefault ? '. To use another one, give it with --data' : '';
      print(`Created the directory ${printable(absolute(newDirectory), Infinity)}${hint}`);
    }
    const doubt = isRunning === false ? await otherCollector(address) : undefined;
    if (doubt !== undefined) log.warn(doubt);
    print(resultOf({ ...edited, id, path, isRunning }));
    for (const text of operatorText(edited, operator)) print(text);
    const sender = { id, origins: origins.length > 0 ? [...origins] : after.origins };
    if (doubt === undefined) print(nextSteps(sender, { ...installation, address }, isRunning));
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
  async run({ projects: path, data }, operands, { print, self, asOwner }) {
    const id = operands[0]!;
    const name = printable(absolute(path), Infinity);
    const of = await withOwners(self);
    const change = (
      project: ProjectEntry | undefined,
      { projects }: ProjectsFile,
    ): ProjectEntry => {
      if (project !== undefined) return { ...project, active: false };
      const near = typoOf(id, projects)?.id;
      const other = near && `. If you meant ${near}, run: ${commands.deactivate(of, near)}`;
      throw new Fatal(
        EXIT.usage,
        `Project ${id} isn't listed in ${name}, so its views are already refused${other ?? ''}`,
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

/** @throws {Fatal} exit 64 for an origin that no project can list, or that is added and removed. */
function checkChanges(added: readonly string[], removed: readonly string[]): void {
  checkOrigins('origin', added);
  checkOrigins('remove-origin', removed);
  const keys = new Set(removed.map(originKey));
  const both = added.find((origin) => keys.has(originKey(origin)));
  if (both !== undefined)
    throw new Fatal(EXIT.usage, `--origin and --remove-origin both name ${both}`);
}

/** @throws {Fatal} exit 64 for an origin that no project can list. */
export function checkOrigins(flag: string, origins: readonly string[]): void {
  const wrong = origins.find((origin) => !isOrigin(origin));
  if (wrong === undefined) return;
  const typed = wrong.trim();
  const meant = isOrigin(typed) ? typed : originMeant(typed);
  const single =
    meant === undefined
      ? `For example: --${flag} https://${wrong.includes('*') ? '*.example.org' : 'www.example.com'}`
      : `Did you mean ${shellQuoted(meant)}?`;
  const others = /[,;\s]/.test(typed) ? `Give --${flag} once per origin` : undefined;
  const all = /^(https?:\/\/)?\*$/.test(wrong)
    ? 'To accept every origin, leave the project without origins'
    : undefined;
  const hint = others ?? all ?? single;
  throw new Fatal(EXIT.usage, `--${flag} ${ORIGIN_SHAPE}; found "${echo(wrong)}". ${hint}`);
}

/** Returns the commands that print the project's script and send a test view. */
function nextSteps(
  sender: Pick<ProjectEntry, 'id' | 'origins'>,
  of: Installation & { readonly address: string },
  isRunning: Activation['isRunning'],
): string {
  const unknown = isRunning === undefined ? ', if viewlog is running' : ', once viewlog is running';
  const where = isRunning ? ' to the running viewlog' : unknown;
  return [
    TO_PRINT,
    `  ${commands.snippet(of, sender.id, viewsUrl(sender, of.address))}`,
    `To send a test view${where} (it counts like any other view):`,
    `  ${curlOf(sender, of.address)}`,
  ].join('\n');
}

/** Returns why a new project may not be what was meant. */
function doubtsAboutNew(
  { after: added, listed, operator }: Awaited<ReturnType<typeof editProject>>,
  last: Awaited<ReturnType<typeof lastEntryOf>>,
  of: Installation,
): string[] {
  const { id } = added;
  const doubts: string[] = [];
  const near = last === undefined ? typoOf(id, listed)?.id : undefined;
  if (near !== undefined) {
    const undo = commands.deactivate(of, id);
    doubts.push(
      `Project ${id} is new and one typo away from ${near}. If ${near} is the typo, correct the projects file. If ${id} is the typo, deactivate it: ${undo}`,
    );
  }
  const earlier = earlierEntry(last, added, operator, of);
  return earlier === undefined ? doubts : [...doubts, `${earlier.was}. ${earlier.add}`];
}

/** Returns a warning for each new origin of the project that another active project lists, too. */
function shared({ before, after, listed }: Awaited<ReturnType<typeof editProject>>): string[] {
  const others = listed.filter(({ id, active }) => id !== after.id && active !== false);
  return unlisted(after.origins ?? [], before).flatMap((origin) => {
    const owner = others.find((one) => unlisted([origin], one).length === 0);
    if (owner === undefined) return [];
    const name = owner.name === undefined ? '' : ` (${printable(owner.name)})`;
    return `${origin} is an origin of project ${owner.id}${name}, too; a view counts for the project whose id its page sends`;
  });
}

/** Returns the origins that a project doesn't list. */
function unlisted(origins: readonly string[], project: ProjectEntry | undefined): string[] {
  const known = new Set(project?.origins?.map(originKey));
  return origins.filter((origin) => !known.has(originKey(origin)));
}

/** Returns an effect of a change that its author may not expect. */
function doubtsAbout(before: ProjectEntry, after: ProjectEntry): string[] {
  if (before.active === false || before.origins || !after.origins) return [];
  return [
    `Project ${after.id} accepted views from every site; it now accepts them only from the listed ones and refuses programs that send no Origin header`,
  ];
}

/**
 * Returns the rules that a project had before its removal, and the command that restores them;
 * `undefined` if the new entry has the same rules.
 * @param operator the operator's address in the projects file.
 */
function earlierEntry(
  last: Awaited<ReturnType<typeof lastEntryOf>>,
  added: ProjectEntry,
  operator: string | undefined,
  of: Installation,
): { was: string; restore: string; add: string } | undefined {
  if (last === undefined || rulesOf(last) === rulesOf(added)) return undefined;
  const again = commands.activateAsWas(of, last, operator);
  return {
    was: `Project ${last.id} was listed before, with these rules: ${rulesOf(last)}`,
    restore: `To restore that entry, run: ${again}`,
    add: `To add these rules to the new ones, run: ${again}`,
  };
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

/** Returns that the address in all projects' refusals has changed, or how to give one. */
function operatorText(
  { outcome, operator, lastOperator }: Awaited<ReturnType<typeof editProject>>,
  given: string | undefined,
): string[] {
  if (outcome === 'created' && given === undefined)
    return [
      'To show your e-mail address in refusals, run this command again with --operator you@example.com',
    ];
  const isChanged = outcome === 'changed' && operator !== lastOperator;
  return isChanged ? [`Changed the operator's address, for all projects, to ${operator}.`] : [];
}

/** Returns what was done, the project's rules, and when a running viewlog follows them. */
function resultOf({ id, path, before, after, outcome, isRunning }: Activation): string {
  const rules = rulesOf(after);
  const parts = before ? changedParts(before, after) : [];
  if (before && before.active !== false && parts.length === 0)
    return `Project ${id} is unchanged in ${path}: active, ${rules}`;
  const accepts = soon(isRunning, "accepts the project's views");
  if (before === undefined) {
    const file = outcome === 'created' ? `the new file ${path}` : path;
    return `Added project ${id} to ${file}: ${rules}. ${accepts}`;
  }
  if (before.active === false) return `Activated project ${id} in ${path}: ${rules}. ${accepts}`;
  const what = `the ${new Intl.ListFormat('en-GB').format(parts)} of `;
  return `Changed ${what}project ${id} in ${path}: active, ${rules}. ${soon(isRunning, 'applies the change')}`;
}

const PARTS = {
  name: 'name',
  contact: 'contact',
  origins: 'origins',
  maxViewsPerMinute: 'limit',
} as const;

/** Returns what differs between two entries of a project, in words. */
const changedParts = (before: ProjectEntry, after: ProjectEntry): string[] =>
  Object.entries(PARTS)
    .filter(([key]) => {
      const [old, now] = [before, after].map((entry) => entry[key as keyof typeof PARTS]);
      return String(old) !== String(now);
    })
    .map(([, part]) => part);

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
