import { plural } from '../base/format.ts';
import { EXIT, Fatal } from '../base/exit.ts';
import { curlOf } from '../projects/curl.ts';
import { type Edited, editProjectsFile } from '../projects/edit.ts';
import { type Changed, changeProject, notListed } from '../projects/change-project.ts';
import { setValue } from '../projects/json-edit.ts';
import { originFault, originKey } from '../projects/origins.ts';
import { PROJECT_ID } from '../view/project-id.ts';
import { ID_EXPECTED, type ProjectEntry, type ProjectsFile } from '../projects/projects-schema.ts';
import { echo, nearest, printable, shellQuoted } from '../base/text.ts';
import { OPTIONS } from '../settings.ts';
import { defineCommand } from './command.ts';
import { ownAddress } from '../http/own-address.ts';

/** Lists a project, or sets a listed one active. */
export const activate = defineCommand({
  name: 'activate',
  operands: 'ID',
  summary: 'activates a project; makes the projects file where there is none',
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
    host: 'address of the collector, for the curl that is printed',
    port: 'port of the collector, for the same',
  },
  async run(settings, operands, { print, log }) {
    const id = readId('activate', operands);
    for (const flag of ['origin', 'remove-origin'] as const) checkOrigins(flag, settings[flag]);
    const { name: named, contact, operator, 'remove-origin': removedOrigins } = settings;
    const change = {
      name: named,
      contact,
      maxViewsPerMinute: settings['max-views-per-minute'],
      origins: settings.origin,
      removedOrigins,
    };
    let changed: Changed | undefined;
    let doubts: readonly string[] = [];
    const edited = await editProjectsFile({
      path: settings.projects,
      warn: (message) => log.warn(message),
      canCreate: true,
      change: (text, file) => {
        changed = changeProject(text, file, id, change);
        doubts = doubtsAbout(changed, file, removedOrigins);
        if (operator === undefined || operator === file.operator) return changed.text;
        return setValue(changed.text, ['operator'], operator);
      },
    });
    const { before, after: entry } = changed!;
    for (const doubt of doubts) log.warn(doubt);
    const name = printable(settings.projects, Infinity);
    const what = edited === 'unchanged' ? 'as it was' : whatWasDone(before);
    print(`Project ${id} ${what} in ${name}: ${inForce(entry)}${effect(edited)}`);
    if (edited === 'created' && operator === undefined) {
      print(`Add your address to ${name}, as "operator": sites are told to write to it`);
    }
    const address = ownAddress(settings);
    print(
      `The script for its pages:\n  ${snippetCommand(entry, address, settings.projects)}\n` +
        '  (--url is the address that browsers reach viewlog by)',
    );
    print(`A view, to try it:\n  ${curlOf(entry, address)}`);
    return EXIT.done;
  },
});

/** @throws {Fatal} exit 64 for what no project can list. */
function checkOrigins(flag: string, origins: readonly string[]): void {
  for (const origin of origins) {
    const fault = originFault(origin);
    if (fault !== undefined) {
      throw new Fatal(EXIT.usage, `--${flag} ${fault}; found "${echo(origin)}"`);
    }
  }
}

/** @throws {Fatal} exit 64 where the operands are not one project id. */
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

/** When an edit counts. */
export function effect(edited: Edited): string {
  return edited === 'unchanged' ? '' : '; a running viewlog takes it up within 2 seconds';
}

/** What may be a slip: the edit is made all the same. */
function doubtsAbout(
  { before, after }: Changed,
  { projects }: ProjectsFile,
  removed: readonly string[],
): string[] {
  const { id } = after;
  const others = projects.map((listed) => listed.id).filter((other) => !isInARow(id, other));
  const near = before === undefined && nearest(id, others, 1);
  const from = before?.origins?.map((origin) => printable(origin)).join(' ') ?? 'none';
  return [
    ...(near ? [`Project ${id} is new, and a slip away from ${near}; ${undo(id)}`] : []),
    ...(closes(before, after)
      ? [
          `Project ${id} took views from every site until now; from all but the origins listed now they are refused with 403`,
        ]
      : []),
    ...notListed(removed, before ?? {}).map(
      (origin) =>
        `--remove-origin ${printable(origin)}: project ${id} does not list it; it lists ${from}`,
    ),
  ];
}

const closes = (before: ProjectEntry | undefined, after: ProjectEntry): boolean =>
  before !== undefined &&
  before.active !== false &&
  before.origins === undefined &&
  after.origins !== undefined;

/** Ids that are given one after the other are no slips of one another. */
const isInARow = (id: string, other: string): boolean =>
  id.length === other.length && id.slice(0, -1) === other.slice(0, -1);

const undo = (id: string): string => `if that one was meant, "viewlog deactivate ${id}"`;

function whatWasDone(before: ProjectEntry | undefined): string {
  if (before === undefined) return 'added';
  return before.active === false ? 'activated' : 'changed';
}

/** `active, from https://www.example.com, at most 6000 views a minute` */
function inForce({ origins, maxViewsPerMinute }: ProjectEntry): string {
  const from = origins === undefined ? 'any origin' : origins.map((o) => printable(o)).join(' ');
  const rate =
    maxViewsPerMinute === undefined
      ? 'no limit'
      : `at most ${plural(maxViewsPerMinute, 'view')} a minute`;
  return `active, ${from}, ${rate}`;
}

/** Behind a proxy as in our examples pages send to their own origin. */
function snippetCommand({ id, origins = [] }: ProjectEntry, address: string, projects: string) {
  const site = origins.find((origin) => /^https:\/\/[^*]+$/i.test(origin));
  const url = shellQuoted(site === undefined ? address : originKey(site));
  const isUsual = projects === OPTIONS.projects.fallback(OPTIONS.data.fallback);
  return `viewlog snippet ${id} --url ${url}${isUsual ? '' : ` --projects ${shellQuoted(printable(projects, Infinity))}`}`;
}
