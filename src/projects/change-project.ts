import { EXIT, Fatal } from '../base/exit.ts';
import { addItem, addObject, removeItem, setValue } from './json-edit.ts';
import { originKey } from './origins.ts';
import type { ProjectEntry, ProjectsFile } from './projects-schema.ts';

// What an operator wants of a project, put into the text of the projects file.

/** What a new project may send until the operator says otherwise. */
const VIEWS_PER_MINUTE = 6000;

/** What is to be of a project; `undefined`: as it is. Origins have no fault. */
export interface Change {
  readonly name: string | undefined;
  readonly contact: string | undefined;
  readonly maxViewsPerMinute: number | undefined;
  readonly origins: readonly string[];
  readonly removedOrigins: readonly string[];
}

/** The text with the project in it, active and as wanted, and the project before and after. */
export interface Changed {
  readonly text: string;
  readonly before: ProjectEntry | undefined;
  readonly after: ProjectEntry;
}

/**
 * Only what differs is touched; a project that is not listed goes last.
 * @throws {Fatal} exit 64 where the project would be left with no origin: then every site could send.
 */
export function changeProject(
  text: string,
  { projects }: ProjectsFile,
  id: string,
  change: Change,
): Changed {
  const index = projects.findIndex((project) => project.id === id);
  const before = projects[index];
  const after = merged(before ?? { id, maxViewsPerMinute: VIEWS_PER_MINUTE }, change);
  if (before === undefined) {
    return { text: addObject(text, ['projects'], { ...after }), before, after };
  }
  return { text: updated(text, index, before, after), before, after };
}

/** The project as it will stand, its keys in the order of the schema. */
function merged(entry: ProjectEntry, change: Change): ProjectEntry {
  const { name = entry.name, contact = entry.contact } = change;
  const { maxViewsPerMinute = entry.maxViewsPerMinute } = change;
  const origins = originsAfter(entry, change);
  return {
    id: entry.id,
    ...(name === undefined ? {} : { name }),
    ...(origins.length === 0 ? {} : { origins }),
    active: true,
    ...(maxViewsPerMinute === undefined ? {} : { maxViewsPerMinute }),
    ...(contact === undefined ? {} : { contact }),
  };
}

function originsAfter(entry: ProjectEntry, { origins: added, removedOrigins }: Change): string[] {
  const removed = new Set(removedOrigins.map(originKey));
  const origins = [...(entry.origins ?? [])];
  for (const origin of added) {
    const key = originKey(origin);
    if (!origins.some((listed) => originKey(listed) === key)) origins.push(origin);
  }
  const left = origins.filter((origin) => !removed.has(originKey(origin)));
  if (left.length > 0 || origins.length === 0) return left;
  throw new Fatal(
    EXIT.usage,
    `Project ${entry.id} would have no origin left; give the new one with --origin in the same ` +
      'command, or delete "origins" from the file to let every site send, ' +
      `or "viewlog deactivate ${entry.id}" to let none`,
  );
}

function updated(text: string, index: number, before: ProjectEntry, after: ProjectEntry): string {
  const path = ['projects', index];
  let result = text;
  if (before.active === false) result = setValue(result, [...path, 'active'], true);
  for (const key of ['name', 'maxViewsPerMinute', 'contact'] as const) {
    if (after[key] !== before[key]) result = setValue(result, [...path, key], after[key]);
  }
  if (before.origins === undefined) {
    if (after.origins) result = setValue(result, [...path, 'origins'], after.origins);
    return result;
  }
  const { origins = [] } = after;
  // Added first: a list is never empty meanwhile, and so keeps its layout.
  for (const origin of origins.filter((origin) => !before.origins!.includes(origin))) {
    result = addItem(result, [...path, 'origins'], origin);
  }
  for (const [i, origin] of [...before.origins.entries()].toReversed()) {
    if (!origins.includes(origin)) result = removeItem(result, [...path, 'origins', i]);
  }
  return result;
}

/** Those that the project does not list, so that there is nothing to remove. */
export const notListed = (
  removed: readonly string[],
  { origins = [] }: Pick<ProjectEntry, 'origins'>,
): string[] => {
  const keys = new Set(origins.map(originKey));
  return removed.filter((origin) => !keys.has(originKey(origin)));
};
