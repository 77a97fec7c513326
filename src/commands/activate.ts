import { EXIT, Fatal } from '../base/exit.ts';
import { plural } from '../base/format.ts';
import { echo, nearest, printable, shellQuoted } from '../base/text.ts';
import { ownAddress } from '../http/own-address.ts';
import { type Changed, changeProject, notListed } from '../projects/change-project.ts';
import { curlOf } from '../projects/curl.ts';
import { type Edited, editProjectsFile } from '../projects/edit.ts';
import { setValue } from '../projects/json-edit.ts';
import { originFault, originKey } from '../projects/origins.ts';
import { ID_EXPECTED, type ProjectEntry, type ProjectsFile } from '../projects/projects-schema.ts';
import { PROJECT_ID } from '../view/view-schema.ts';
import { defineCommand, withProjects } from './command.ts';

/** Lists a project, or sets a listed one active. */
export const activate = defineCommand({
  name: 'activate',
  operands: 'ID',
  summary: 'activates a project; creates the projects file if it is missing',
  examples: ['viewlog activate 1000001 --name "My site" --origin https://www.example.com'],
  options: [
    'name',
    'origin',
    'remove-origin',
    'max-views-per-minute',
    'contact',
    'operator',
    'host',
    'port',
    'data',
    'projects',
  ],
  optionHelp: {
    host: 'address of the collector, for the curl command that is printed',
    port: 'port of the collector, for the same',
  },
  async run(settings, operands, { print, log }) {
    const id = readId('activate', operands);
    for (const flag of ['origin', 'remove-origin'] as const) checkOrigins(flag, settings[flag]);
    const { name, contact, operator, projects, 'remove-origin': removedOrigins } = settings;
    const { origin: origins, 'max-views-per-minute': maxViewsPerMinute } = settings;
    const change = { name, contact, maxViewsPerMinute, origins, removedOrigins };
    let changed: Changed | undefined;
    let warnings: readonly string[] = [];
    const edited = await editProjectsFile({
      path: projects,
      canCreate: true,
      change: (text, file) => {
        changed = changeProject(text, file, id, change);
        warnings = warningsAbout(changed, file, removedOrigins, projects);
        if (operator === undefined || operator === file.operator) return changed.text;
        return setValue(changed.text, ['operator'], operator);
      },
    });
    const { before, after } = changed!;
    for (const warning of warnings) log.warn(warning);
    const path = printable(projects, Infinity);
    const what = edited === 'unchanged' ? 'unchanged' : whatWasDone(before);
    print(`Project ${id} ${what} in ${path}: ${rulesOf(after)}${effect(edited)}`);
    if (edited === 'created' && operator === undefined) {
      print(`Add your address to ${path}, as "operator": refusals tell sites to write to it`);
    }
    const address = ownAddress(settings);
    print(
      `The script for its pages:\n  ${snippetCommand(after, address, projects)}\n` +
        '  (--url is the address at which browsers reach viewlog)',
    );
    print(
      `A view, to try it (--port says where the collector listens):\n  ${curlOf(after, address)}`,
    );
    return EXIT.done;
  },
});

/** @throws {Fatal} exit 64 for an origin that no project can list. */
function checkOrigins(flag: string, origins: readonly string[]): void {
  for (const origin of origins) {
    const fault = originFault(origin);
    if (fault !== undefined) {
      throw new Fatal(EXIT.usage, `--${flag} ${fault}; found "${echo(origin)}"`);
    }
  }
}

/** @throws {Fatal} exit 64 if the operands are not one project id. */
export function readId(command: string, operands: readonly string[]): string {
  const [id = '', ...more] = operands;
  if (operands.length === 0 || more.length > 0) {
    const example = `viewlog ${command} 1000001`;
    throw new Fatal(EXIT.usage, `${command} takes one project id, as in "${example}"`);
  }
  if (!PROJECT_ID.test(id)) {
    throw new Fatal(EXIT.usage, `A project id ${ID_EXPECTED}; found "${echo(id)}"`);
  }
  return id;
}

/** Returns when an edit takes effect. */
export const effect = (edited: Edited): string =>
  edited === 'unchanged' ? '' : '; a running viewlog applies it within 2 seconds';

/** Returns what may be a mistake; the edit is made all the same. */
function warningsAbout(
  { before, after }: Changed,
  { projects: listed }: ProjectsFile,
  removed: readonly string[],
  path: string,
): string[] {
  const { id } = after;
  const others = listed.map((project) => project.id).filter((other) => !isConsecutive(id, other));
  const near = before === undefined ? nearest(id, others, 1) : undefined;
  const warnings: string[] = [];
  if (near !== undefined) {
    const undo = withProjects(`deactivate ${id}`, path);
    warnings.push(`Project ${id} is new, and one typo away from ${near}; to undo it: ${undo}`);
  }
  if (wasOpen(before) && after.origins !== undefined) {
    warnings.push(
      `Project ${id} accepted views from every site until now; views from other origins ` +
        'than those listed now are refused with 403',
    );
  }
  const from = before?.origins?.map((origin) => printable(origin)).join(' ') ?? 'none';
  for (const origin of notListed(removed, before ?? {})) {
    const flag = `--remove-origin ${printable(origin)}`;
    warnings.push(`${flag}: project ${id} does not list it; it lists ${from}`);
  }
  return warnings;
}

const wasOpen = (before: ProjectEntry | undefined): boolean =>
  before !== undefined && before.active !== false && before.origins === undefined;

/** Ids that are given one after the other are not typos of one another. */
const isConsecutive = (id: string, other: string): boolean =>
  id.length === other.length && id.slice(0, -1) === other.slice(0, -1);

function whatWasDone(before: ProjectEntry | undefined): string {
  if (before === undefined) return 'added';
  return before.active === false ? 'activated' : 'changed';
}

/** `active, https://www.example.com, at most 6,000 views a minute` */
function rulesOf({ origins, maxViewsPerMinute: limit }: ProjectEntry): string {
  const from = origins === undefined ? 'any origin' : origins.map((o) => printable(o)).join(' ');
  const rate = limit === undefined ? 'no limit' : `at most ${plural(limit, 'view')} a minute`;
  return `active, ${from}, ${rate}`;
}

/** Behind a proxy as in our examples, pages send to their own origin. */
function snippetCommand({ id, origins = [] }: ProjectEntry, address: string, projects: string) {
  const site = origins.find((origin) => /^https:\/\/[^*]+$/i.test(origin));
  const url = shellQuoted(site === undefined ? address : originKey(site));
  return withProjects(`snippet ${id} --url ${url}`, projects);
}
