import { EXIT, Fatal } from '../base/exit.ts';
import { type Edited, editProjectsFile } from '../projects/edit.ts';
import { addItem, addObject, setValue } from '../projects/json-edit.ts';
import { originFault, originKey } from '../projects/origins.ts';
import { PROJECT_ID } from '../view/project-id.ts';
import { ID_EXPECTED, type ProjectEntry } from '../projects/projects-schema.ts';
import { echo, plural, printable, shellQuoted } from '../base/text.ts';
import { OPTIONS } from '../settings.ts';
import { defineCommand } from './command.ts';
import { ownAddress } from './own-address.ts';

/** What a new project may send until the operator says otherwise. */
const VIEWS_PER_MINUTE = 6000;

/** Lists a project, or sets a listed one active. */
export const activate = defineCommand({
  name: 'activate',
  operands: 'ID',
  summary: 'activates a project; makes the projects file where there is none',
  examples: ['viewlog activate 1000001 --name "My site" --origin https://www.example.com'],
  options: ['name', 'origin', 'host', 'port', 'data', 'projects'],
  optionHelp: {
    host: 'address of the collector, for the curl that is printed',
    port: 'port of the collector, for the same',
  },
  async run(settings, operands, { print, log }) {
    const id = readId('activate', operands);
    checkOrigins(settings.origin);
    let before: ProjectEntry | undefined;
    let entry = newEntry(id);
    const edited = await editProjectsFile({
      path: settings.projects,
      warn: (message) => log.warn(message),
      canCreate: true,
      change: (text, file) => {
        const index = file.projects.findIndex((project) => project.id === id);
        before = file.projects[index];
        entry = merged(before ?? newEntry(id), settings);
        return before === undefined
          ? addObject(text, ['projects'], { ...entry })
          : updated(text, index, before, entry);
      },
    });
    const name = printable(settings.projects, Infinity);
    const what = edited === 'unchanged' ? 'as it was' : whatWasDone(before);
    print(`Project ${id} ${what} in ${name}: ${inForce(entry)}${effect(edited)}`);
    if (edited === 'created') {
      print(`Add your address to ${name}, as "operator": sites are told to write to it`);
    }
    print(`The script for its pages:\n  ${snippetCommand(id, settings.projects)}`);
    print(`A view, to try it:\n  ${curlOf(entry, ownAddress(settings))}`);
    return EXIT.done;
  },
});

/** @throws {Fatal} exit 64 for what no project can list. */
function checkOrigins(origins: readonly string[]): void {
  for (const origin of origins) {
    const fault = originFault(origin);
    if (fault !== undefined) {
      throw new Fatal(EXIT.usage, `--origin ${fault}; found "${echo(origin)}"`);
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

const newEntry = (id: string): ProjectEntry => ({ id, maxViewsPerMinute: VIEWS_PER_MINUTE });

/** What an operator adds to a project. */
interface Additions {
  readonly name: string | undefined;
  readonly origin: readonly string[];
}

/** The project as it will stand, its keys in the order of the schema. */
function merged(entry: ProjectEntry, { name, origin: added }: Additions): ProjectEntry {
  const origins = [...(entry.origins ?? [])];
  for (const origin of added) {
    const key = originKey(origin);
    if (!origins.some((listed) => originKey(listed) === key)) origins.push(origin);
  }
  const { id, maxViewsPerMinute, contact } = entry;
  const newName = name ?? entry.name;
  return {
    id,
    ...(newName === undefined ? {} : { name: newName }),
    ...(origins.length === 0 ? {} : { origins }),
    active: true,
    ...(maxViewsPerMinute === undefined ? {} : { maxViewsPerMinute }),
    ...(contact === undefined ? {} : { contact }),
  };
}

/** Only what differs is touched. */
function updated(text: string, index: number, before: ProjectEntry, after: ProjectEntry): string {
  const path = ['projects', index];
  let result = text;
  if (before.active === false) result = setValue(result, [...path, 'active'], true);
  if (after.name !== before.name) result = setValue(result, [...path, 'name'], after.name);
  if (before.origins === undefined) {
    if (after.origins) result = setValue(result, [...path, 'origins'], after.origins);
    return result;
  }
  for (const origin of after.origins!.slice(before.origins.length)) {
    result = addItem(result, [...path, 'origins'], origin);
  }
  return result;
}

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

function snippetCommand(id: string, projects: string): string {
  const isUsual = projects === OPTIONS.projects.fallback(OPTIONS.data.fallback);
  return `viewlog snippet ${id}${isUsual ? '' : ` --projects ${shellQuoted(printable(projects, Infinity))}`}`;
}

/** What sends a view of this project that is taken, from the first site that it may come from. */
function curlOf({ id, origins }: ProjectEntry, address: string): string {
  const ld = new Date().toISOString();
  const view = JSON.stringify({ pid: 'page-42', p: id, ld, url: '/home' });
  const headers = ['Content-Type: application/json'];
  const [first] = origins ?? [];
  // Below a wildcard any host will do.
  if (first !== undefined) headers.push(`Origin: ${originKey(first).replace('*', 'www')}`);
  const sent = headers.map((header) => `-H ${shellQuoted(header)} `).join('');
  return `curl ${shellQuoted(`${address}/view`)} ${sent}-d ${shellQuoted(view)}`;
}
